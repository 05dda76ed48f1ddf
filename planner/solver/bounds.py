"""Closed-form lower bounds on moves, before any search.

For one constraint with counts c_z over k domains, p pods to be placed, skew s and forced departures
e_z, in a final state without excess, T = sum(c) + p pods are on the domains, and the smallest count
is some L between ceil(T / k) - s and floor(T / k). Then

    F_z   = max(e_z, c_z - L - s, 0)               pods that have to leave z
    D     = sum of max(0, L - c_z + F_z)           pods that have to arrive
    moves = sum(F) + max(0, D - p - sum(F))        arrivals that neither covers leave somewhere

and the least over L bounds what any plan needs. Checked against brute force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.spread import SpreadConstraint
from planner.cluster.topology import IntArray
from planner.solver.cells import Fixed, fixed_by_group
from planner.solver.problem import Problem


@dataclass(frozen=True, eq=False)
class MoveBound:
    """At least this many pods of these groups have to move, if no excess is to remain."""

    groups: tuple[int, ...]
    moves: int


def fewest_moves(counts: IntArray, pending: IntArray, skew: IntArray, forced: IntArray) -> IntArray:
    """The bound for many constraints at once: counts[i, z], pending[i], skew[i], forced[i, z]."""
    domains = counts.shape[1]
    total = counts.sum(axis=1) + pending
    highest = total // domains
    lowest = np.maximum(0, -(-total // domains) - skew)
    best = np.full(len(counts), np.iinfo(np.int64).max)
    for step in range(int((highest - lowest).max(initial=0)) + 1):
        level = highest - step
        above = counts - (level + skew)[:, None]
        leave = np.maximum(np.maximum(forced, above), 0)
        leaving = leave.sum(axis=1)
        arrive = np.maximum(0, level[:, None] - counts + leave).sum(axis=1)
        moves = leaving + np.maximum(0, arrive - pending - leaving)
        best = np.where(level >= lowest, np.minimum(best, moves), best)
    return best


def placeable(problem: Problem) -> dict[int, int]:
    """How many waiting pods of each group there is room for, if it had all nodes for itself."""
    found: dict[int, int] = {}
    for group, pods in problem.waiting.items():
        requests = problem.requests[group]
        asked = np.flatnonzero(requests > 0)
        landing = problem.landing(group)
        free = problem.allocatable[landing][:, asked] - problem.fixed_used[landing][:, asked]
        room = np.maximum((free // requests[asked]).min(axis=1), 0)
        found[group] = min(len(pods), int(np.minimum(room, len(pods)).sum()))
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
    if len(counts) < (spread.constraint.min_domains or 1):
        return int(np.maximum(counts - skew, 0).sum())
    rows = np.tile(counts, (len(pending), 1))
    skews = np.full(len(pending), skew)
    return int(fewest_moves(rows, np.array(pending), skews, np.zeros_like(rows)).min())


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
