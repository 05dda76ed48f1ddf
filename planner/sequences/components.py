"""Groups that have nothing to do with each other can be planned one after the other.

Two groups belong together if the pods of one matter to where the other may go, if some rule counts
the violations of both, or if they may run short of room on a node that both can use.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from planner.cluster.topology import IntArray
from planner.sequences.relevance import Relevance
from planner.solver.problem import Problem


def components(problem: Problem, relevance: Relevance) -> tuple[tuple[int, ...], ...]:
    """The groups that have anything to decide, in parts, each sorted, by their first group."""
    joined = _Joined(problem.groups)
    for group in problem.groups:
        joined.join((group, *relevance.of(group)))
    for spread in problem.spreads:
        joined.join(spread.matching.tolist())
    for carrier, terms in relevance.rivals.items():
        joined.join((carrier, *chain.from_iterable(terms)))
    for together in _short_of_room(problem):
        joined.join(together)
    return joined.parts()


def _short_of_room(problem: Problem) -> Iterable[list[int]]:
    """For each node that all pods which may come together would overfill: their groups."""
    demand = problem.fixed_used.copy()
    users: list[list[int]] = [[] for _ in problem.cluster.nodes]
    for group in problem.groups:
        allowed = problem.allowed(group).copy()
        here = [node for g, node in problem.movable if g == group]
        allowed[here] = True
        nodes = np.flatnonzero(allowed)
        demand[nodes] += supply(problem, group) * problem.requests[group]
        for node in nodes.tolist():
            users[node].append(group)
    tight: IntArray = np.flatnonzero((demand > problem.allocatable).any(axis=1))
    return [users[node] for node in tight.tolist()]


def supply(problem: Problem, group: int) -> int:
    """How many pods of the group there are to decide about."""
    moving = sum(len(pods) for (g, _), pods in problem.movable.items() if g == group)
    return moving + len(problem.waiting.get(group, ()))


class _Joined:
    """Disjoint sets of groups; others than those to decide about are passed over."""

    def __init__(self, groups: Iterable[int]) -> None:
        self._parent = {group: group for group in groups}

    def join(self, groups: Iterable[int]) -> None:
        known = [self._root(group) for group in groups if group in self._parent]
        for root in known:
            self._parent[root] = min(known)

    def _root(self, group: int) -> int:
        while self._parent[group] != group:
            group = self._parent[group]
        return group

    def parts(self) -> tuple[tuple[int, ...], ...]:
        found: dict[int, list[int]] = {}
        for group in sorted(self._parent):
            found.setdefault(self._root(group), []).append(group)
        return tuple(tuple(part) for part in found.values())
