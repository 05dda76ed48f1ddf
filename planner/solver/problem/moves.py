"""What a move costs, how many pods have room at all, and how many moves the rules ask for.

The bounds come from the closed form of single spread constraints (see `closed_form`), and from the
holes that waiting pods need (see `holes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.spread import SpreadConstraint, too_few_domains
from planner.cluster.topology import IntArray
from planner.solver.problem.cells import Fixed, fixed_by_group
from planner.solver.problem.closed_form import targets
from planner.solver.problem.holes import fewest_for_holes
from planner.solver.problem.problem import Cell, Problem


@dataclass(frozen=True, eq=False)
class MoveBound:
    """At least this many pods of these groups have to move, if no excess is to remain."""

    groups: tuple[int, ...]
    moves: int


def move_weights(problem: Problem) -> dict[int, int]:
    """1 for every pod, or 1 + the rank of its priority among those of running pods."""
    groups = problem.cluster.groups
    if problem.options.move_cost == "count":
        return dict.fromkeys(problem.groups, 1)
    priorities = sorted({groups[g].priority for g, _ in problem.movable})
    rank = {priority: 1 + i for i, priority in enumerate(priorities)}
    return {g: rank.get(groups[g].priority, 1) for g in problem.groups}


def departed(
    problem: Problem, counts: Mapping[Cell, int], weights: Mapping[int, int] | None = None
) -> int:
    """How many pods leave their node for a state, or what that costs."""
    return sum(
        (1 if weights is None else weights[cell[0]]) * max(0, len(pods) - counts.get(cell, 0))
        for cell, pods in problem.movable.items()
    )


def placeable(problem: Problem) -> dict[int, int]:
    """How many waiting pods of each group there is room for, if it had all nodes for itself."""
    found: dict[int, int] = {}
    free = np.ascontiguousarray((problem.allocatable - problem.fixed_used).T)
    known: dict[tuple[int, bytes, int], int] = {}
    for group, pods in problem.waiting.items():
        requests, landing = problem.requests[group], problem.landing(group)
        same = (id(landing), requests.tobytes(), len(pods))
        if same not in known:
            room = np.full(np.count_nonzero(landing), len(pods))
            for resource in np.flatnonzero(requests > 0).tolist():
                room = np.minimum(room, free[resource][landing] // requests[resource])
            known[same] = min(len(pods), int(np.maximum(room, 0).sum()))
        found[group] = known[same]
    return found


def move_bounds(problem: Problem, *, all_placed: bool) -> list[MoveBound]:
    """A bound for each hard constraint whose matching pods can't leave its eligible domains.

    `all_placed`: every pod that is `placeable` gets a node. If not, any number of them may; the
    least over these counts.
    """
    found: list[MoveBound] = []
    room = placeable(problem)
    movable, counted = fixed_by_group(problem.current), fixed_by_group(problem.fixed_counts)
    for spread in problem.spreads:
        groups = tuple(g for g in spread.matching.tolist() if g in movable or g in problem.waiting)
        if not groups or not _closed(problem, spread, groups, movable):
            continue
        counts = _now(spread, movable, counted)
        pending = sum(room.get(group, 0) for group in groups)
        moves = _bound(spread, counts, range(pending if all_placed else 0, pending + 1))
        if moves > 0:
            found.append(MoveBound(groups, moves))
    return found


def total_bound(bounds: Sequence[MoveBound]) -> int:
    """The sum over bounds that share no group, the largest first."""
    taken: set[int] = set()
    total = 0
    for bound in sorted(bounds, key=lambda each: (-each.moves, each.groups)):
        if taken.isdisjoint(bound.groups):
            taken.update(bound.groups)
            total += bound.moves
    return total


def fewest_moves(problem: Problem, bounds: Sequence[MoveBound], *, all_placed: bool) -> int:
    """What single constraints ask for, or the room of all that waits, whichever is more."""
    holes = fewest_for_holes(problem, placeable(problem)) if all_placed else 0
    return max(total_bound(bounds), holes)


def _closed(
    problem: Problem,
    spread: SpreadConstraint,
    groups: Sequence[int],
    movable: Mapping[int, Fixed],
) -> bool:
    """Whether the number of counted pods is known: none can come from or go to other nodes."""
    outside = ~spread.scope.eligible
    for group in groups:
        if group in problem.displaceable or (problem.landing(group) & outside).any():
            return False
        if group in movable and outside[movable[group].nodes].any():
            return False
    return True


def _bound(spread: SpreadConstraint, counts: IntArray, pending: range) -> int:
    skew = spread.constraint.max_skew
    if too_few_domains(spread.constraint, len(counts)):
        return int(np.maximum(counts - skew, 0).sum())
    rows = np.tile(counts, (len(pending), 1))
    none, skews = np.zeros_like(rows), np.full(len(pending), skew)
    return int(targets(rows, none, none, np.array(pending), skews).moves.min())


def _now(spread: SpreadConstraint, *pods: Mapping[int, Fixed]) -> IntArray:
    """Counted pods per eligible domain as things are."""
    topology, eligible = spread.scope.topology, spread.scope.eligible
    counts = np.zeros(len(topology.domains), np.int64)
    for group in spread.matching.tolist():
        for places in pods:
            if group in places:
                pods_there = places[group]
                here = eligible[pods_there.nodes]
                domains = topology.domain_of[pods_there.nodes[here]]
                np.add.at(counts, domains, pods_there.counts[here])
    return counts[spread.scope.domains]
