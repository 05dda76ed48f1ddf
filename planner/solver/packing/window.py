"""A few nodes filled anew: as many pods as possible by priority, then as few moves as possible.

Pods on these nodes and some that wait share them; all other nodes stay as they are. So whatever is
found there is a better packing of all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.model.engine import improve
from planner.solver.model.linear import Linear
from planner.solver.model.program import FREE, Program, cp_model_of
from planner.solver.packing.question import Stock


@dataclass(frozen=True, eq=False)
class Refilled:
    """The packing afterwards, the same one if nothing better was found, and the work it took."""

    counts: IntArray
    work: float


def refill_window(
    stock: Stock,
    counts: IntArray,
    nodes: IntArray,
    joining: BoolArray,
    work: float,
    seed: int,
    most_moves: float = FREE,
) -> Refilled:
    """What CP-SAT makes of the nodes with some work; `joining` are groups whose pods may come.

    No more pods than `most_moves` are away from these nodes, where they run now.
    """
    window = _Window(stock, counts, nodes, joining)
    if most_moves < FREE:
        window.limit_moves(most_moves)
    found = improve(
        cp_model_of(window.program.matrix()), window.cost, window.hint, work=work, seed=seed
    )
    if found.interrupted:
        raise KeyboardInterrupt
    if found.values is None:
        return Refilled(counts, found.time)
    after = counts.copy()
    after[:, nodes] = 0
    after[window.group, nodes[window.at]] = np.array(found.values)[window.cells]
    return Refilled(after, found.time)


class _Window:
    """The program of some nodes: cells are pairs of a group and one of the nodes."""

    def __init__(self, stock: Stock, counts: IntArray, nodes: IntArray, joining: BoolArray) -> None:
        here, everywhere = counts[:, nodes], counts.sum(axis=1)
        come = np.where(joining, stock.total - everywhere, 0)
        leave = np.clip(everywhere - stock.least, 0, here.sum(axis=1))
        most = stock.fitting(nodes, here.sum(axis=1) + come)
        self.program = Program()
        self.group, self.at = np.nonzero(most)
        self.cells = self.program.add_columns(np.zeros_like(self.group), most[self.group, self.at])
        self._room(stock, nodes)
        values = [here[self.group, self.at]]
        cost = [np.zeros(len(self.cells), np.int64)]
        decided = np.unique(self.group)
        placed = self.program.add_columns(
            (here.sum(axis=1) - leave)[decided], (here.sum(axis=1) + come)[decided]
        )
        values.append(here.sum(axis=1)[decided])
        cost.append(-_worth(stock, come + leave, int(here.sum()))[stock.rank[decided]])
        rows = self.program.add_rows(np.zeros(len(decided)), np.zeros(len(decided)))
        self.program.enter(rows, placed, -1)
        self.program.enter(rows[np.searchsorted(decided, self.group)], self.cells, 1)
        now = stock.now[self.group, nodes[self.at]]
        home = np.flatnonzero(now)
        left = self._left = self.program.add_columns(np.zeros_like(home), now[home])
        values.append(np.maximum(now[home] - values[0][home], 0))
        cost.append(np.ones(len(home), np.int64))
        rows = self.program.add_rows(now[home].astype(float), np.full(len(home), FREE))
        self.program.enter(rows, left, 1)
        self.program.enter(rows, self.cells[home], 1)
        flat, paid = np.concatenate(values), np.concatenate(cost)
        self.hint = list(enumerate(flat.tolist()))
        some = np.flatnonzero(paid)
        self.cost = Linear(some.tolist(), paid[some].tolist(), 0)

    def limit_moves(self, most: float) -> None:
        """No more pods than these leave."""
        row = self.program.add_rows(np.array([-FREE]), np.array([most]))
        self.program.enter(row[np.zeros_like(self._left)], self._left, 1)

    def _room(self, stock: Stock, nodes: IntArray) -> None:
        """No node holds more than it has; amounts are counted in what all requests divide by."""
        for r in range(stock.size.shape[1]):
            unit = max(1, int(np.gcd.reduce(stock.size[:, r])))
            room = np.full(len(nodes), -FREE), (stock.room[nodes, r] // unit).astype(float)
            rows = self.program.add_rows(*room)
            asked = stock.size[self.group, r] // unit
            self.program.enter(rows[self.at], self.cells, asked)


def _worth(stock: Stock, changes: IntArray, pods: int) -> IntArray:
    """What a pod is worth by rank: more than all moves, and than all pods below that change."""
    found = np.zeros(len(stock.priorities), np.int64)
    worth = pods + 1
    for rank in reversed(range(len(found))):
        found[rank] = worth
        worth *= int(changes[stock.rank == rank].sum()) + 1
    return found
