"""Plans that a decision chooses from: legal steps and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.replay import check_steps, total, violations
from planner.replay.landings import broken_landings
from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.scheduler.simulate import simulate
from planner.sequences.value import Value, levels, value_of
from planner.solver.problem.moves import move_weights
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Solution


@dataclass(frozen=True, eq=False)
class Candidate:
    """Legal steps and their worth; `solution` is what they lead to, if the solver found it.

    `broken` is the weight of the rules that a relaxed plan breaks, which counts next to what it
    places.
    """

    value: Value
    steps: tuple[Step, ...]
    solution: Solution | None = None
    broken: int = 0

    @property
    def key(self) -> tuple[tuple[int, ...], int, int, int]:
        """Larger is better."""
        placed, violations, cost = self.value.key
        return placed, -self.broken, violations, cost


def of_solution(solution: Solution, steps: Sequence[Step]) -> Candidate:
    """What the solver found, with an order of steps that leads there."""
    broken = solution.level("broken")
    weight = 0 if broken is None else broken.value
    return Candidate(value_of(solution), tuple(steps), solution, weight)


def greedy(
    problem: Problem, profile: Profile, counted: Profile, steps: Sequence[Step] = ()
) -> Candidate:
    """kube-scheduler's own placements, after these legal steps: there is always such a plan.

    Steps pass the filters of the profile; violations are those of the rules that are `counted`.
    """
    cluster = check_steps(problem.cluster, steps, profile).after if steps else problem.cluster
    waiting = [pod for pods in problem.waiting.values() for pod in pods]
    left = sorted(pod for pod in waiting if cluster.node_of[pod] < 0)
    quiet = replace(profile, resolved=replace(profile.resolved, post_filter=()))
    added: list[Step] = []
    run = simulate(
        cluster,
        (quiet,),
        pods=left,
        observe=lambda attempt: (
            added.append(Step.place(attempt.result.pod, attempt.result.node))
            if attempt.result.node is not None
            else None
        ),
    )
    placed = dict.fromkeys(levels(problem), 0)
    for pod in waiting:
        placed[cluster.pods[pod].priority] += int(run.final.node_of[pod] >= 0)
    if problem.options.preempt:
        for (group, _), pods in problem.movable.items():
            running = np.count_nonzero(run.final.node_of[list(pods)] >= 0)
            placed[cluster.groups[group].priority] += int(running)
    left_over = total(violations(run.final, counted)) if problem.options.rebalance else 0
    broken = 0
    if problem.options.relax:
        broken = sum(each.excess for each in broken_landings(problem.cluster, run.final))
    weights = move_weights(problem)
    leaving = [step.pod for step in steps if step.evicts]
    cost = sum(weights[int(cluster.group_of[pod])] for pod in leaving)
    value = Value(tuple(placed.values()), left_over, cost)
    return Candidate(value, (*steps, *added), broken=broken)


def cut_short(steps: Sequence[Step], most: int) -> tuple[Step, ...]:
    """The longest beginning with no more moves than these, after which no evicted pod waits."""
    down: set[int] = set()
    moves, end = 0, 0
    for i, step in enumerate(steps):
        moves += step.evicts
        if moves > most:
            break
        if step.action == "evict":
            down.add(step.pod)
        elif step.action == "place":
            down.discard(step.pod)
        if not down:
            end = i + 1
    return tuple(steps[:end])
