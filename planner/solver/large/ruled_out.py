"""What prices rule out: departures that no state with few enough moves can have.

The bound of prices (see `prices`) is a sum of least values, one for each node and group. Whatever a
state does on a node beyond its least value raises all its moves by as much. So a departure is ruled
out where the node is worth, with it, more than its least value and all that the moves leave to
spare: a node on which no hole is worth making is left by nobody but those who have to.

With a pod gone, a node is worth what the departure costs (its fee, or 1) and what the node is worth
with so much more room. All of that is computed in integers, optimistically.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.large.bundles import UNIT
from planner.solver.large.price_rows import departure_costs
from planner.solver.large.prices import Priced, market_of, several, singles
from planner.solver.large.state import State
from planner.solver.problem.problem import Cell


def ruled_out(state: State, found: Priced, most: int) -> frozenset[Cell]:
    """Groups and nodes without a departure in any state with `most` moves and nothing open."""
    spare = UNIT * most - found.total
    cells = list(state.cells.index)
    if spare < 0 or not cells:
        return frozenset()
    group, node = np.array(cells, np.int64).T
    more = state.problem.requests[group][:, found.market.room.columns]
    costs = departure_costs(state, found, cells)
    cost = np.array([costs[cell] for cell in cells], np.int64)
    shut = cost + _at_best(found, node, more) - found.nodes[node] > spare
    rest = np.flatnonzero(~shut)
    if len(rest):
        worth = _worth(found, node[rest], more[rest])
        shut[rest] = cost[rest] + worth - found.nodes[node[rest]] > spare
    return frozenset(cells[i] for i in np.flatnonzero(shut).tolist())


def _at_best(found: Priced, node: IntArray, more: IntArray) -> IntArray:
    """What the nodes are worth with the most of each resource that any of their pods sets free."""
    largest = np.zeros((len(found.nodes), 2), np.int64)
    np.maximum.at(largest, node, more)
    return _worth(found, np.arange(len(largest)), largest)[node]


def _worth(found: Priced, nodes: IntArray, more: IntArray) -> IntArray:
    """The least value of some nodes with so much more room each."""
    room, origin = found.market.room.roomier(nodes, more)
    market, paid = market_of(room, found.market.big), found.paid[origin]
    alone = singles(market, found.prices, paid)
    return np.minimum(alone, several(market, found.prices, paid).value)
