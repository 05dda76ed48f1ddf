"""Places one pod after the other, each at the cost of one move at the most.

Where a pod fits nowhere, a pod that has room elsewhere leaves it its place. That is what anybody
would try first, and it takes next to no time; what is left is for larger changes.
"""

from __future__ import annotations

import math

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.program import FloatArray
from planner.solver.packing.question import Stock


def one_move_each(stock: Stock, counts: IntArray, most: float = math.inf) -> IntArray:
    """As many more pods as so many moves place: higher priorities first, of each the smallest."""
    return _OneMoveEach(stock, counts, most).run()


class _OneMoveEach:
    """A packing that grows."""

    def __init__(self, stock: Stock, counts: IntArray, most: float) -> None:
        self._stock = stock
        self._moves_left = most
        self._counts = counts.copy()
        self._free = stock.room - counts.T @ stock.size
        self._worth = _scarcity(stock) / np.maximum(stock.room.max(axis=0, initial=0), 1)
        self._weight = stock.size @ self._worth

    def run(self) -> IntArray:
        stock = self._stock
        missing = stock.total - self._counts.sum(axis=1)
        order = np.lexsort((self._weight, stock.rank))
        for group in order[missing[order] > 0].tolist():
            for _ in range(int(missing[group])):
                if not (self._place(group) or self._exchange(group)):
                    break
        return self._counts

    def _open(self, group: int) -> BoolArray:
        size = self._stock.size[group]
        fits: BoolArray = ((self._free >= size) | (size == 0)).all(axis=1)
        fits &= self._stock.landing[group]
        return fits

    def _place(self, group: int, but: int | None = None) -> bool:
        """On the node with the least room that has enough."""
        open_ = self._open(group)
        if but is not None:
            open_[but] = False
        nodes = np.flatnonzero(open_)
        if not len(nodes):
            return False
        self._put(group, int(nodes[(self._free[nodes] @ self._worth).argmin()]), 1)
        return True

    def _exchange(self, group: int) -> bool:
        """In the place of the smallest pod that finds another node."""
        stock, size = self._stock, self._stock.size[group]
        lacking = np.where(size > 0, size - self._free, 0)
        here = np.flatnonzero(stock.landing[group])
        others, at = np.nonzero(self._counts[:, here])
        nodes = here[at]
        enough = (stock.size[others] >= lacking[nodes]).all(axis=1)
        others, nodes = others[enough], nodes[enough]
        if self._moves_left < 1:
            return False
        homeless: set[int] = set()
        for i in np.argsort(self._weight[others], kind="stable").tolist():
            other, node = int(others[i]), int(nodes[i])
            if other not in homeless and self._place(other, but=node):
                self._put(other, node, -1)
                self._put(group, node, 1)
                self._moves_left -= 1
                return True
            homeless.add(other)
        return False

    def _put(self, group: int, node: int, pods: int) -> None:
        self._counts[group, node] += pods
        self._free[node] -= pods * self._stock.size[group]


def _scarcity(stock: Stock) -> FloatArray:
    """What waiting pods ask for, as a part of what is free; the scarcest resource decides."""
    running = stock.now.sum(axis=1)
    wanted = (stock.total - running) @ stock.size
    free = np.maximum(stock.room.sum(axis=0) - running @ stock.size, 1)
    scarcity: FloatArray = np.clip(wanted / free, *tuning.SCARCITY) ** tuning.SCARCITY_POWER
    return scarcity
