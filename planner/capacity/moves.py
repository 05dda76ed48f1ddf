"""More pods than find a node now: another choice of nodes, and moves of other pods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.capacity.demand import Demand, with_more
from planner.cluster import Cluster
from planner.cluster.node_rules import NodeRules
from planner.scheduler.profile import Profile
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import plan_outcome
from planner.solver.problem.options import SolveOptions
from planner.words import amount, free_of

CALLS = 12
"""Plans among which the time is shared."""
FIRST_POINTS = 4
"""Numbers of pods that are planned one by one before the steps grow."""


@dataclass(frozen=True)
class Best:
    """The most that fit while running pods stay, and no more than `bound`."""

    count: int
    bound: int


@dataclass(frozen=True)
class Point:
    """So many more pods by so many moves, and how many moves it takes at least."""

    count: int
    moves: int
    at_least: int
    proven: bool


@dataclass(frozen=True)
class Bound:
    """No arrangement holds more, for this reason."""

    count: int
    why: str


def room_bound(cluster: Cluster, demands: Sequence[Demand]) -> Bound | None:
    """What is free in all, on nodes that the pods may use, against what a set asks for."""
    one = with_more(cluster, demands, 1)
    rules = NodeRules(one.cluster)
    usable = np.zeros(len(cluster.nodes), np.bool_)
    asked = np.zeros(len(one.cluster.resources.names), np.int64)
    for pods in one.pods:
        group = one.cluster.groups[int(one.cluster.group_of[pods[0]])]
        usable |= rules.affinity(group.spec) & rules.taints(group.spec.tolerations)
        asked += len(pods) * one.cluster.resources.requests[group.index]
    free = (one.cluster.resources.allocatable - one.cluster.used)[usable].clip(0).sum(axis=0)
    limits = [(int(free[r]) // int(asked[r]), r) for r in np.flatnonzero(asked).tolist()]
    if not limits:
        return None
    count, resource = min(limits)
    name = one.cluster.resources.names[resource]
    why = f"{free_of(name, int(free[resource]))}, {amount(name, int(asked[resource]))} each"
    return Bound(count, why)


def best_choice(
    cluster: Cluster, demands: Sequence[Demand], profile: Profile, most: int, time_limit: float
) -> Best:
    """The most pods that fit beside the running ones, whoever chooses the nodes."""
    more = with_more(cluster, demands, most)
    options = SolveOptions(time_limit=time_limit)
    outcome = plan_outcome(more.cluster, options, profile)
    count = _complete_sets(outcome, more.pods, demands)
    return Best(count, min(most, _bound(outcome, most, sum(each.ratio for each in demands))))


def curve(
    cluster: Cluster,
    demands: Sequence[Demand],
    profile: Profile,
    *,
    start: int,
    most: int,
    time_limit: float,
) -> tuple[Point, ...]:
    """Fewest moves for ever more pods: one by one at first, then in steps that grow.

    Each number is a plan of its own, checked like those of `planner solve --rebalance`.
    """
    points: list[Point] = []
    limit = time_limit / CALLS
    step, count = 1, start + 1
    while count <= most:
        found = _point(cluster, demands, profile, count, limit)
        if found is None:
            if step == 1:
                break
            step, count = 1, points[-1].count + 1
            continue
        points.append(_at_least_as_many(found, points))
        step = step if len(points) < FIRST_POINTS else 2 * step
        count = count + step if count + step <= most else (most if count < most else most + 1)
        if len(points) >= CALLS:
            break
    return tuple(points)


def _at_least_as_many(found: Point, before: Sequence[Point]) -> Point:
    """More pods never need fewer moves: whoever leaves one out has a plan for the number below."""
    least = max(found.at_least, before[-1].at_least if before else 0)
    return Point(found.count, found.moves, least, proven=least == found.moves)


def _point(
    cluster: Cluster, demands: Sequence[Demand], profile: Profile, count: int, limit: float
) -> Point | None:
    more = with_more(cluster, demands, count)
    options = SolveOptions(rebalance=True, time_limit=limit)
    outcome = plan_outcome(more.cluster, options, profile)
    if _complete_sets(outcome, more.pods, demands) < count:
        return None
    moves = outcome.steps.evictions
    least = next((o.bound for o in outcome.decision.objectives if o.name == "moves"), 0)
    at_least = min(moves, int(least))
    return Point(count, moves, at_least, proven=at_least == moves)


def _complete_sets(
    outcome: PlanOutcome, pods: Sequence[Sequence[int]], demands: Sequence[Demand]
) -> int:
    """Whole sets that the plan places."""
    after = outcome.after.node_of
    placed = [int(np.count_nonzero(after[list(each)] >= 0)) for each in pods]
    return min(number // demand.ratio for number, demand in zip(placed, demands, strict=True))


def _bound(outcome: PlanOutcome, most: int, size: int) -> int:
    """What the search proved about placed pods, in sets."""
    proven = [o for o in outcome.decision.objectives if o.name.startswith("placed")]
    if len(proven) != 1:
        return most
    return int(proven[0].bound) // size
