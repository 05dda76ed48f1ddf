"""What a plan does with each group, and which of its pods that means.

Pods of a group are interchangeable, so searches only count them. Names are given here, at the end.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planner.replay.steps import Step
from planner.solver.problem.problem import Cell, Problem


class GroupStep(NamedTuple):
    """A pod of the group leaves the node, or lands on it."""

    leaves: bool
    group: int
    node: int


@dataclass(frozen=True)
class GroupMoves:
    """The nodes that pods of a group leave and land on, one entry per pod.

    `newly_placed` landings are of pods that waited from the start; `lost` pods leave for good. If
    no controller brings evicted pods back (not `returning`), every pod that leaves is lost.
    """

    group: int
    departures: tuple[int, ...]
    arrivals: tuple[int, ...]
    returning: bool = True

    @property
    def newly_placed(self) -> int:
        back = len(self.departures) if self.returning else 0
        return max(0, len(self.arrivals) - back)

    @property
    def lost(self) -> int:
        back = len(self.arrivals) if self.returning else 0
        return max(0, len(self.departures) - back)


def group_moves(problem: Problem, counts: Mapping[Cell, int]) -> tuple[GroupMoves, ...]:
    """What leads from now to the counts, by group; important and newly placed pods first."""
    leaving: dict[int, list[int]] = defaultdict(list)
    landing: dict[int, list[int]] = defaultdict(list)
    for cell in problem.movable.keys() | counts.keys():
        change = counts.get(cell, 0) - len(problem.movable.get(cell, ()))
        if change:
            (landing if change > 0 else leaving)[cell[0]].extend([cell[1]] * abs(change))
    groups = problem.cluster.groups
    found = (
        GroupMoves(
            group,
            tuple(sorted(leaving[group])),
            tuple(sorted(landing[group])),
            returning=group not in problem.no_return,
        )
        for group in leaving.keys() | landing.keys()
    )
    return tuple(
        sorted(found, key=lambda m: (-groups[m.group].priority, not m.newly_placed, m.group))
    )


def pod_steps(problem: Problem, steps: Iterable[GroupStep]) -> tuple[Step, ...]:
    """Pods leave in the order of their names; evicted ones land before those that waited already.

    That way no evicted pod is left without a node while one that came later is placed. Pods that
    no controller brings back don't land again: there it is those that waited.
    """
    left: Counter[Cell] = Counter()
    waiting = {group: deque(pods) for group, pods in problem.waiting.items()}
    evicted: dict[int, deque[int]] = defaultdict(deque)
    found: list[Step] = []
    for leaves, group, node in steps:
        if leaves:
            pod = problem.movable[group, node][left[group, node]]
            left[group, node] += 1
            evicted[group].append(pod)
            found.append(Step.evict(pod, node))
        else:
            back = evicted[group] if group not in problem.no_return else None
            pod = (back or waiting[group]).popleft()
            found.append(Step.place(pod, node))
    return tuple(found)
