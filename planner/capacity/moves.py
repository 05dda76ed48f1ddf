"""More pods than find a node now: another choice of nodes, and moves of other pods."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.capacity.demand import Demand, Enlarged, with_more
from planner.capacity.slots import most_slots
from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray, node_rules_of
from planner.evictions.room_bound import fewest_evictions
from planner.scheduler.profile import Profile
from planner.sequences.outcome import PlanOutcome
from planner.sequences.within_budgets import plan_within_budgets
from planner.solver.problem.options import SolveOptions
from planner.words import amount, is_free, plain_amount, resource_word
from planner_models.pod import PodSpec

SHARE = 4
"""A plan gets at most this part of the time, and half of it where it is a long shot."""
LEAST_SHARE = 40
"""And is charged this part of all of it at the least, so that there is an end."""
FIRST_POINTS = 4
"""Numbers of pods that are planned one by one before the steps grow."""


@dataclass(frozen=True)
class Best:
    """The most that fit while running pods stay, and no more than `bound`."""

    count: int
    bound: int


@dataclass(frozen=True)
class Within(Best):
    """The same after at most so many `moves` of other pods."""

    moves: int


@dataclass(frozen=True)
class Point:
    """So many more pods by so many moves, and how many moves it takes at least."""

    count: int
    moves: int
    at_least: int
    nodes: tuple[int, ...] = ()
    """Where the new pods are."""

    @property
    def proven(self) -> bool:
        """Whether fewer moves can't do."""
        return self.at_least == self.moves


@dataclass(frozen=True)
class Bound:
    """No arrangement holds more, for this reason."""

    count: int
    why: str


def room_bound(one: Enlarged) -> Bound | None:
    """What is free in all, on nodes that `one` more set may use, against what it asks for."""
    usable = np.zeros(len(one.cluster.nodes), np.bool_)
    asked = np.zeros(len(one.cluster.resources.names), np.int64)
    for pods in one.pods:
        group = one.cluster.groups[int(one.cluster.group_of[pods[0]])]
        usable |= usable_nodes(one.cluster, group.spec)
        asked += len(pods) * one.cluster.resources.requests[group.index]
    free = (one.cluster.resources.allocatable - one.cluster.used)[usable].clip(0).sum(axis=0)
    limits = [(int(free[r]) // int(asked[r]), r) for r in np.flatnonzero(asked).tolist()]
    if not limits:
        return None
    count, resource = min(limits)
    name = one.cluster.resources.names[resource]
    total, each = plain_amount(name, int(free[resource])), amount(name, int(asked[resource]))
    why = f"{total} {resource_word(name)} {is_free(name, int(free[resource]))}, {each} each"
    return Bound(count, why)


@dataclass(frozen=True, eq=False)
class Rearranging:
    """More pods by other choices and by moves: whose, where, and how much time there is for it."""

    cluster: Cluster
    demands: Sequence[Demand]
    profile: Profile
    time_limit: float

    def best(self, most: int, moves: int = 0) -> Within:
        """The most pods that fit, whoever chooses the nodes, with at most so many moves."""
        pods, outcome = self._plan(most, self.time_limit / SHARE, moves)
        bound = _bound(outcome, most, sum(each.ratio for each in self.demands))
        return Within(_complete_sets(outcome, pods, self.demands), min(most, bound), moves)

    def curve(self, start: int, most: int) -> tuple[Point, ...]:
        """Fewest moves for ever more pods: one by one at first, then in steps that grow.

        Each number is a plan of its own, checked like those of `planner solve --rebalance`. What is
        left of the time goes into proofs that fewer moves would not do. Time is what the searches
        take by their own count, so that the same input gets the same answer; only where checking
        plans takes longer than searching them does the clock end it.
        """
        points: list[Point] = []
        left, deadline = self.time_limit, time.monotonic() + self.time_limit
        step, count = 1, start + 1
        while count <= most and left > 0 and time.monotonic() < deadline:
            part = 2 * SHARE if count == most and step > 1 else SHARE
            limit = min(left, self.time_limit / part, deadline - time.monotonic())
            found, spent = self._point(count, limit)
            left -= max(spent, self.time_limit / LEAST_SHARE)
            if found is None:
                if step == 1:
                    break
                step, count = 1, points[-1].count + 1
                continue
            points.append(found)
            step = step if len(points) < FIRST_POINTS else 2 * step
            count = count + step if count + step <= most else (most if count < most else most + 1)
        points = list(_consistent(points))
        for i, point in enumerate(points):
            if not point.proven and left > 0 and time.monotonic() < deadline:
                limit = min(left, self.time_limit / SHARE, deadline - time.monotonic())
                better, spent = self._point(point.count, limit, point.moves - 1)
                left -= max(spent, self.time_limit / LEAST_SHARE)
                points[i] = better if better is not None else point
        return tuple(_consistent(points))

    def _point(
        self, count: int, limit: float, moves: int | None = None
    ) -> tuple[Point | None, float]:
        """A plan for so many; with `moves` one that takes no more, or the proof that none does."""
        pods, outcome = self._plan(count, limit, moves)
        spent = outcome.decision.spent
        size = sum(each.ratio for each in self.demands)
        if _complete_sets(outcome, pods, self.demands) < count:
            if moves is not None and _bound(outcome, count, size) < count:
                return Point(count, moves + 1, moves + 1), spent
            return None, spent
        fewest = outcome.steps.evictions
        least = next((o.bound for o in outcome.decision.objectives if o.name == "moves"), 0)
        homes = outcome.after.node_of[[pod for each in pods for pod in each]]
        least = max(int(least), _by_room(outcome.before, pods))
        return Point(count, fewest, min(fewest, least), tuple(homes.tolist())), spent

    def _plan(
        self, sets: int, limit: float, moves: int | None
    ) -> tuple[tuple[tuple[int, ...], ...], PlanOutcome]:
        more = with_more(self.cluster, self.demands, sets)
        options = SolveOptions(rebalance=moves != 0, max_moves=moves or None, time_limit=limit)
        return more.pods, plan_within_budgets(more.cluster, options.waited_for(), self.profile)


def slots_of(one: Enlarged, demands: Sequence[Demand], moves: int) -> int | None:
    """Of one kind of pod: no more fit while all but so many others stay where they are."""
    if len(demands) != 1 or demands[0].ratio != 1:
        return None
    group = one.cluster.groups[int(one.cluster.group_of[one.every[0]])]
    return most_slots(one.cluster, usable_nodes(one.cluster, group.spec), group.index, moves)


def _by_room(cluster: Cluster, pods: Sequence[Sequence[int]]) -> int:
    """Evictions that room alone asks for, where all new pods are alike."""
    if len(pods) != 1 or not pods[0]:
        return 0
    group = cluster.groups[int(cluster.group_of[pods[0][0]])]
    request = cluster.resources.requests[group.index]
    return fewest_evictions(cluster, usable_nodes(cluster, group.spec), request, len(pods[0]))


def usable_nodes(cluster: Cluster, spec: PodSpec) -> BoolArray:
    """Nodes that the rules about nodes alone leave."""
    rules = node_rules_of(cluster)
    found: BoolArray = rules.affinity(spec) & rules.taints(spec.tolerations)
    return found


def _consistent(points: Sequence[Point]) -> Iterator[Point]:
    """More pods never need fewer moves: whoever leaves one out has a plan for the number below."""
    least, fewest = 0, [point.moves for point in points]
    for i, point in enumerate(points):
        least = max(least, point.at_least)
        moves = min(fewest[i:])
        yield replace(point, moves=moves, at_least=min(least, moves))


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
