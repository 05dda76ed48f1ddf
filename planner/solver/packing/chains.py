"""Chains: a pod takes the place of another, that one the place of a third, until one fits.

A chain places one more pod, and each of its exchanges is one move, so the shortest one is looked
for: step by step, which groups could be without a place next. Where no single pod leaves enough
room, several leave a node, each by a chain of its own. Of several nodes the one whose room is the
cheapest is taken, by the prices that bound the packing: dear room is what others lack. Where there
are many groups that takes long, so a budget ends it: half of it is for chains by which several
leave a node, and from then on only one does.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.program import FloatArray
from planner.solver.packing.question import Stock

_Before = dict[int, tuple[int, int] | None]
"""By group without a place: which one takes its place, and on which node; None for the first."""


THOROUGH_SHARE = 0.5
"""The part of the time after which no node is looked for that several could leave."""


class Chains:
    """A packing, `counts`, that grows."""

    def __init__(
        self, stock: Stock, counts: IntArray, price: FloatArray, most_moves: float = math.inf
    ) -> None:
        self._stock = stock
        self.counts = counts.copy()
        self._free = stock.room - counts.T @ stock.size
        self._largest = np.maximum(stock.room.max(axis=0, initial=0), 1)
        self._share: FloatArray = stock.size / self._largest
        cost = stock.size @ price.T
        least = np.where(stock.landing, cost, np.inf).min(axis=1, initial=np.inf)
        self._worth = np.where(np.isfinite(least), least, 0.0)
        self._regret: FloatArray = cost - self._worth[:, None]
        self._everywhere = np.arange(len(self._free))
        self._known = np.nonzero(counts)
        self._listed: BoolArray = counts > 0
        self._moves_left = most_moves - stock.moves(counts)
        self._log: list[tuple[int, int, int]] = []
        self._hopeless: set[int] = set()
        self.work = 0
        self._over: Callable[[], float] = lambda: 0.0

    def run(self, *, thorough: bool, share: Callable[[int], float] = lambda _: 0.0) -> IntArray:
        """Higher priorities first, of each the cheapest; `thorough`: several may leave a node.

        `share` says how much of the time is over after so much work.
        """
        self._over = lambda: share(self.work)
        stock = self._stock
        missing = stock.total - self.counts.sum(axis=1)
        order = np.lexsort((self._share.sum(axis=1), self._worth, stock.rank))
        self._hopeless.clear()
        for group in order[missing[order] > 0].tolist():
            for _ in range(int(missing[group])):
                self._log.clear()
                if self._over() >= 1 or not (
                    self._chain(group) or (thorough and self._make_room(group))
                ):
                    break
        return self.counts

    # One pod leaves each node

    def _chain(self, first: int, but: int = -1) -> bool:
        """Give a pod of the group a place by the shortest chain that leaves a node alone."""
        if first in self._hopeless:
            return False
        before: _Before = {first: None}
        now = np.array([first])
        end = self._end(now, but)
        if end is not None:
            return self._carry_out(*end, before)
        others, nodes = self._cells(but)
        room = self._free[nodes] + self._stock.size[others]
        seen = np.zeros(len(self._stock.groups), np.bool_)
        seen[first] = True
        for _ in range(tuning.LONGEST_CHAIN):
            new, takers, where = self._taken(now, others, nodes, room, seen)
            before |= zip(
                new.tolist(), zip(takers.tolist(), where.tolist(), strict=True), strict=True
            )
            seen[new] = True
            now = new
            if not len(now):
                break
            end = self._end(now, but)
            if end is not None:
                return self._carry_out(*end, before)
        if but < 0:
            self._hopeless |= {first} if len(now) else before.keys()
        return False

    def _cells(self, but: int) -> tuple[IntArray, IntArray]:
        """Groups and the nodes on which they have pods."""
        others, nodes = self._known
        there = (self.counts[others, nodes] > 0) & (nodes != but)
        return others[there], nodes[there]

    def _taken(
        self, groups: IntArray, others: IntArray, nodes: IntArray, room: IntArray, seen: BoolArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Who loses a place to these groups for the first time, to which one, and on which node."""
        open_ = np.flatnonzero(~seen[others])
        others, nodes = others[open_], nodes[open_]
        taker, at = np.nonzero(self._holds(groups, room[open_], nodes))
        order = np.argsort(self._regret[groups[taker], nodes[at]], kind="stable")
        new, first = np.unique(others[at[order]], return_index=True)
        chosen = order[first]
        return new, groups[taker[chosen]], nodes[at[chosen]]

    def _holds(self, groups: IntArray, room: IntArray, nodes: IntArray) -> BoolArray:
        """Which of the nodes take a pod of each group, if they have so much room."""
        self.work += len(groups) * len(nodes)
        fits: BoolArray = self._stock.landing[np.ix_(groups, nodes)]
        for r, size in enumerate(self._stock.size[groups].T):
            fits &= room[:, r] >= size[:, None]
        return fits

    def _end(self, groups: IntArray, but: int) -> tuple[int, int] | None:
        """Who fits where as it is, on the cheapest node with the least room."""
        at, nodes = np.nonzero(self._holds(groups, self._free, self._everywhere))
        at, nodes = at[nodes != but], nodes[nodes != but]
        if not len(nodes):
            return None
        spare = (self._free[nodes] / self._largest).sum(axis=1)
        best = (self._regret[groups[at], nodes] + tuning.SPARE_PRICE * spare).argmin()
        return int(groups[at[best]]), int(nodes[best])

    def _carry_out(self, group: int, node: int, before: _Before) -> bool:
        """From the end of a chain to its begin; False if it passes a node too often, or is long."""
        mark = len(self._log)
        self._put(group, node, 1)
        while (step := before[group]) is not None:
            self._put(group, step[1], -1)
            group, node = step
            self._put(group, node, 1)
        touched = [node for _, node, _ in self._log[mark:]]
        if (self._free[touched] >= 0).all() and self._moves_left >= 0:
            return True
        self._undo(mark)
        return False

    # Several pods leave one node

    def _make_room(self, group: int) -> bool:
        """Let a few pods leave a node, each by a chain; the nodes where least is lacking first."""
        size, mark = self._stock.size[group], len(self._log)
        room = self._free + self._leaving()
        nodes = np.flatnonzero(self._holds(np.array([group]), room, self._everywhere)[0])
        lacking = (np.maximum(size - self._free[nodes], 0) / self._largest).sum(axis=1)
        order = np.argsort(lacking + self._regret[group, nodes], kind="stable")
        for node in nodes[order[: tuning.ROOM_NODES]].tolist():
            if self._over() >= THOROUGH_SHARE:
                break
            if self._empty(node, size):
                self._put(group, node, 1)
                return True
            self._undo(mark)
        return False

    def _leaving(self) -> IntArray:
        """By node, all that could leave it, as far as is known."""
        may_leave = np.ones(len(self._stock.groups), np.bool_)
        may_leave[list(self._hopeless)] = False
        return self.counts[may_leave].T @ self._stock.size[may_leave]

    def _empty(self, node: int, size: IntArray) -> bool:
        """Whether a few pods have left the node, so that there is room for this size."""
        tried = np.zeros(len(self._stock.groups), np.bool_)
        tried[list(self._hopeless)] = True
        gone = 0
        while (lacking := np.where(size > 0, np.maximum(size - self._free[node], 0), 0)).any():
            others = np.flatnonzero((self.counts[:, node] > 0) & ~tried)
            if not len(others) or gone == tuning.MOST_LEAVE:
                return False
            helps = (np.minimum(self._stock.size[others], lacking) / self._largest).sum(axis=1)
            share = self._share[others].sum(axis=1) + tuning.LEAVING_SHARE
            other = int(others[(helps / share).argmax()])
            self._put(other, node, -1)
            if self._chain(other, but=node):
                gone += 1
            else:
                self._put(other, node, 1)
                tried[other] = True
        return self._moves_left >= 0

    # Changes

    def _put(self, group: int, node: int, pods: int) -> None:
        stock, there = self._stock, int(self.counts[group, node])
        was = max(0, int(stock.now[group, node]) - there)
        self.counts[group, node] = there + pods
        self._moves_left += was - max(0, int(stock.now[group, node]) - there - pods)
        self._free[node] -= pods * stock.size[group]
        if not self._listed[group, node]:
            self._listed[group, node] = True
            others, nodes = self._known
            self._known = np.append(others, group), np.append(nodes, node)
        self._log.append((group, node, pods))

    def _undo(self, mark: int) -> None:
        """As it was when so much had been logged."""
        for group, node, pods in reversed(self._log[mark:]):
            self._put(group, node, -pods)
        del self._log[mark:]
