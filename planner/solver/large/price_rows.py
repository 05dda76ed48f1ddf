"""What prices say about a node, as rows of a program over pods.

In a program over pods a part of a big pod asks for a part of a hole, which costs next to nothing.
Prices (see `prices`) know better, node by node: whatever leaves a node and lands there, what leaves
costs at least as much as is paid for what lands, but for the least value of the node. That is a row
over the departures and arrivals there,

    sum of cost x departures - sum of pay x arrivals >= the node's least value

and with one for every node the linear program knows all that these prices prove, beside the room
that everybody else needs.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.large.bundles import UNIT
from planner.solver.large.node_states import Pair, domain_on, gratis
from planner.solver.large.prices import Priced
from planner.solver.large.rounding import Row
from planner.solver.large.state import State
from planner.solver.large.window import Window
from planner.solver.problem.problem import Cell

STEP = UNIT // 5040
"""Amounts of rows are whole numbers of this: duals of larger ones lose too much by rounding."""


def price_rows(state: State, found: Priced, window: Window, inside: BoolArray) -> list[Row]:
    """One for each node inside on which somebody pays for landing."""
    pay = {t.group: h for h, size in enumerate(found.market.big) for t in size.members}
    costs = departure_costs(state, found, list(state.cells.index))
    entries: dict[int, list[tuple[int, int]]] = {}
    paid: set[int] = set()
    for part in window.parts:
        group = part.task.group
        for node, column in zip(part.left.tolist(), part.leave.tolist(), strict=True):
            entries.setdefault(node, []).append((column, -(-costs[group, node] // STEP)))
        if group in pay:
            at = found.market.big[pay[group]].domain_at(part.entered)
            amounts = found.prices.pay[pay[group]][at] // STEP
            for i in np.flatnonzero(amounts).tolist():
                node = int(part.entered[i])
                entries.setdefault(node, []).append((int(part.enter[i]), -int(amounts[i])))
                paid.add(node)
    least = found.nodes // STEP
    return [_row(entries[n], int(least[n])) for n in sorted(paid) if inside[n]]


def _row(entries: list[tuple[int, int]], least: int) -> Row:
    """Sum of amounts >= least, as a row with an upper end."""
    kept = [(column, -amount) for column, amount in entries if amount]
    columns, amounts = np.array(kept, np.int64).T
    common = int(np.gcd.reduce(amounts))
    return Row(columns, amounts // common, -least // common)


def departure_costs(state: State, found: Priced, cells: list[Cell]) -> dict[Cell, int]:
    """What a departure costs at the least: its fee where it has one, and otherwise a move.

    A pair with more pods on the node than are told apart has no fee for those beyond.
    """
    pairs, fee = found.market.room.pairs, found.prices.fee
    apart = _told_apart(found)
    costs: dict[Cell, int] = {}
    for group, node in cells:
        task = state.tasks.get(group)
        pair = None if task is None else pairs.index.get((group, domain_on(task, node)))
        if task is not None and gratis(task):
            costs[group, node] = 0
        elif pair is None:
            costs[group, node] = UNIT
        elif apart.get((node, pair), 0) == len(state.problem.movable[group, node]):
            costs[group, node] = int(fee[pair])
        else:
            costs[group, node] = 0 if pairs.due[pair] else UNIT
    return costs


def _told_apart(found: Priced) -> dict[Pair, int]:
    """By node and pair, how many pods are units; the last state of a node has all of them gone."""
    room = found.market.room
    last: IntArray = np.append(room.first[1:], len(room.node)) - 1
    counts: dict[Pair, int] = {}
    for node, gone in enumerate(room.unit_pair[last].tolist()):
        for pair in gone:
            counts[node, pair] = counts.get((node, pair), 0) + 1
    return counts
