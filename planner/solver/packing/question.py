"""What is to be packed: pods by group, with their sizes and their rank, and the nodes' room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.problem.problem import Cell, Problem

_EXACT = 2**62
"""Sums stay below what 64 bits hold."""


@dataclass(frozen=True, eq=False)
class Stock:
    """Groups and nodes by position: `size[g, r]`, `room[n, r]` without any pod decided about.

    `rank[g]` is 0 for the highest priority of `priorities`. Of the `total[g]` pods of a group at
    least `least[g]` keep a node. `now[g, n]` run there; `landing[g, n]` says where more may land.
    """

    groups: tuple[int, ...]
    size: IntArray
    room: IntArray
    landing: BoolArray
    priorities: tuple[int, ...]
    rank: IntArray
    now: IntArray
    total: IntArray
    least: IntArray

    @cached_property
    def alone(self) -> IntArray:
        """How many pods of each group fit if it has all nodes for itself: none takes half a pod."""
        found = np.zeros(len(self.groups), np.int64)
        for group, (size, total) in enumerate(zip(self.size, self.total.tolist(), strict=True)):
            asked = np.flatnonzero(size)
            fits = np.full(len(self.room), total, np.int64)
            if len(asked):
                fits = np.clip((self.room[:, asked] // size[asked]).min(axis=1), 0, total)
            found[group] = np.where(self.landing[group], fits, self.now[group]).sum()
        return found

    def placed(self, counts: IntArray) -> tuple[int, ...]:
        """Pods that have a node, by priority from the top."""
        by_group = counts.sum(axis=1)
        ranks = np.bincount(self.rank, weights=by_group, minlength=len(self.priorities))
        return tuple(ranks.astype(np.int64).tolist())

    def moves(self, counts: IntArray) -> int:
        """Running pods that leave their node."""
        return int(np.maximum(self.now - counts, 0).sum())

    def fitting(self, nodes: IntArray, pods: IntArray) -> IntArray:
        """How many of so many pods of each group a node can hold by itself.

        Where none may land, those that run there.
        """
        fits = np.broadcast_to(pods[:, None], (len(pods), len(nodes))).copy()
        for r in range(self.size.shape[1]):
            asked = self.size[:, r] > 0
            room = self.room[nodes, r][None, :] // self.size[asked, r][:, None]
            fits[asked] = np.minimum(fits[asked], room)
        running = np.minimum(self.now[:, nodes], pods[:, None])
        return np.maximum(np.where(self.landing[:, nodes], fits, running), 0)

    def state(self, counts: IntArray) -> dict[Cell, int]:
        """The counts as the rest of the solver writes them."""
        cells = zip(*(axis.tolist() for axis in np.nonzero(counts)), strict=True)
        return {(self.groups[g], n): int(counts[g, n]) for g, n in cells}

    def counts(self, state: Mapping[Cell, int]) -> IntArray:
        """The other way round."""
        position = {group: i for i, group in enumerate(self.groups)}
        found = np.zeros_like(self.now)
        for (group, node), count in state.items():
            found[position[group], node] = count
        return found


def only_room_decides(problem: Problem) -> bool:
    """Whether no rule looks at other pods, and nothing but room can be wrong with a final state.

    Then whatever fits can be reached in some order, and the final state says all about a plan.
    """
    cluster, options = problem.cluster, problem.options
    specs = [group.spec for group in cluster.groups]
    affinities = [spec.affinity for spec in specs]
    return not (
        options.relax
        or options.max_moves is not None
        or problem.spreads
        or not problem.no_return.isdisjoint(problem.waiting)
        or any(a.pod_affinity.required or a.pod_anti_affinity.required for a in affinities)
        or any(specs[g].exclusive_on_node or cluster.groups[g].volumes for g in problem.groups)
        or any(c.hard for c in options.scheduler.pod_topology_spread.effective_constraints)
        or problem.static.misplaced([*problem.movable, *problem.fixed_counts])
    )


def stock_of(problem: Problem) -> Stock | None:
    """The problem as a packing; None if nodes hold more than they offer, or numbers are huge."""
    groups = problem.groups
    now = np.zeros((len(groups), len(problem.cluster.nodes)), np.int64)
    position = {group: i for i, group in enumerate(groups)}
    for (group, node), pods in problem.movable.items():
        now[position[group], node] = len(pods)
    room = problem.allocatable - problem.fixed_used
    if not _holds(problem, room):
        return None
    landing = np.array([problem.landing(g) for g in groups])
    return _stock(problem, room, now, landing)


def pool_of(problem: Problem) -> Stock | None:
    """Nodes that can hold the same pods as one, with all their room (see `pooled`)."""
    room = problem.allocatable - problem.fixed_used
    if not _holds(problem, room):
        return None
    groups = problem.groups
    landing = np.array([problem.landing(g) for g in groups])
    holding = _holding(landing, problem.requests[list(groups)], room)
    kinds = _kinds(landing, holding)
    now = np.zeros((len(groups), int(kinds.max(initial=-1)) + 1), np.int64)
    position = {group: i for i, group in enumerate(groups)}
    for (group, node), pods in problem.movable.items():
        now[position[group], kinds[node]] += len(pods)
    return _stock(problem, _added_up(room, kinds), now, _together(holding, kinds))


def pooled(stock: Stock) -> tuple[Stock, IntArray]:
    """Nodes that can hold the same pods as one, with all their room; and the kind of each node.

    What does not fit there fits nowhere. Where there are many kinds, those that the rules about
    nodes admit for the same pods are one, however large they are.
    """
    holding = _holding(stock.landing, stock.size, stock.room)
    kinds = _kinds(stock.landing, holding)
    pool = replace(
        stock,
        room=_added_up(stock.room, kinds),
        now=_added_up(stock.now.T, kinds).T,
        landing=_together(holding, kinds),
    )
    return pool, kinds


def _holding(landing: BoolArray, size: IntArray, room: IntArray) -> BoolArray:
    """The nodes that can hold a pod of each group, if nothing else that may move is there."""
    found = landing.copy()
    for r in range(size.shape[1]):
        found &= (size[:, r] == 0)[:, None] | (room[:, r] >= size[:, r][:, None])
    return found


def _kinds(landing: BoolArray, holding: BoolArray) -> IntArray:
    """A number for each node: those with the same one can hold the same pods."""
    kinds = _by_column(holding)
    few = len(holding) * (kinds.max(initial=0) + 1) <= tuning.PRICED_CELLS
    return kinds if few else _by_column(landing)


def _by_column(rows: BoolArray) -> IntArray:
    """A number for each column: equal ones have the same."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=0).T)
    return np.unique(packed, axis=0, return_inverse=True)[1].ravel()


def _added_up(rows: IntArray, kinds: IntArray) -> IntArray:
    found = np.zeros((int(kinds.max(initial=-1)) + 1, rows.shape[1]), np.int64)
    np.add.at(found, kinds, rows)
    return found


def _together(holding: BoolArray, kinds: IntArray) -> BoolArray:
    found = np.zeros((int(kinds.max(initial=-1)) + 1, len(holding)), np.bool_)
    np.logical_or.at(found, kinds, holding.T)
    return found.T


def _holds(problem: Problem, room: IntArray) -> bool:
    """Whether what may move has room where it is, and sums are exact."""
    used = np.zeros_like(room)
    if problem.movable:
        cells = np.array(list(problem.movable), np.int64)
        pods = np.fromiter(map(len, problem.movable.values()), np.int64)
        np.add.at(used, cells[:, 1], problem.requests[cells[:, 0]] * pods[:, None])
    huge = float(room.max(initial=0)) * max(1, len(room)) > _EXACT
    asked = problem.requests[list(problem.groups)] > 0
    return bool(problem.groups) and not huge and not (used > room)[:, asked.any(axis=0)].any()


def _stock(problem: Problem, room: IntArray, now: IntArray, landing: BoolArray) -> Stock:
    groups = problem.groups
    asked = problem.requests[list(groups)]
    columns = np.flatnonzero((asked > 0).any(axis=0))
    waiting = np.array([len(problem.waiting.get(g, ())) for g in groups], np.int64)
    priority = [problem.cluster.groups[g].priority for g in groups]
    priorities = tuple(sorted(set(priority), reverse=True))
    lost = np.array([problem.displaceable.get(g, 0) for g in groups], np.int64)
    running = now.sum(axis=1)
    return Stock(
        groups=groups,
        size=asked[:, columns],
        room=room[:, columns],
        landing=landing,
        priorities=priorities,
        rank=np.array([priorities.index(p) for p in priority], np.int64),
        now=now,
        total=running + waiting,
        least=running - lost,
    )
