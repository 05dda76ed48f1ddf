"""From acts on groups to steps of pods.

Searches count pods of a group; only here it is said which of them leaves and which one lands.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from planner.replay.steps import Step
from planner.solver.problem import Cell, Problem


class Act(NamedTuple):
    """A pod of the group leaves the node, or lands on it."""

    leaves: bool
    group: int
    node: int


def assign(problem: Problem, acts: Iterable[Act]) -> tuple[Step, ...]:
    """Pods leave in the order of their names; evicted ones land before those that waited already.

    That order makes sure that no evicted pod is left over while one that came later is placed.
    Pods that nobody brings back don't land again: there it is those that waited.
    """
    left: Counter[Cell] = Counter()
    waiting = {group: deque(pods) for group, pods in problem.waiting.items()}
    evicted: dict[int, deque[int]] = defaultdict(deque)
    steps: list[Step] = []
    for act in acts:
        if act.leaves:
            cell = (act.group, act.node)
            pod = problem.movable[cell][left[cell]]
            left[cell] += 1
            evicted[act.group].append(pod)
            steps.append(Step.evict(pod, act.node))
        else:
            back = evicted[act.group] if act.group not in problem.no_return else None
            pod = (back or waiting[act.group]).popleft()
            steps.append(Step.place(pod, act.node))
    return tuple(steps)
