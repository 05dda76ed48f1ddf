"""Two or more big pods on one node: the most that could be paid for them, optimistically.

Capacity and requests are rounded down to a grid, which lets every real bundle through: the floors
of several requests add up to at most the floor of their sum. For each kind of node (same tasks
admitted, same domains) the best pay of at least two pods for every capacity is found pod by pod, as
for a knapsack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.node_states import Room

UNIT = 720_720
"""Prices are multiples of one part in so many: the least common multiple of 1 to 16."""
NONE = -(1 << 50)
"""The pay of a bundle that does not exist."""


@dataclass(frozen=True, eq=False)
class Offer:
    """What the tasks pay on one kind of node; `task[i]` is the big task of entry i."""

    nodes: IntArray
    task: IntArray
    pay: IntArray
    most: IntArray
    request: IntArray


@dataclass(frozen=True, eq=False)
class Bundles:
    """Per node the least value of a bundle, the state it needs, and the pods (tasks) in it."""

    value: IntArray
    state: IntArray
    pods: dict[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class _Table:
    """`best[a, b]`: the most that at least two pods within a x b cells pay.

    `second[i]` and `third[i]` say in which cells pod i of `items` was taken, on top of exactly one
    pod and of two or more; `first` is the best single pod.
    """

    best: IntArray
    items: list[int]
    cells: IntArray
    third: list[BoolArray]
    second: list[BoolArray]
    first: list[IntArray]

    def pods(self, a: int, b: int) -> tuple[int, ...]:
        """The entries of the best bundle."""
        found: list[int] = []
        for i in reversed(range(len(self.items))):
            entry = self.items[i]
            if self.third[i][a, b] or self.second[i][a, b]:
                found.append(entry)
                last = bool(self.second[i][a, b])
                a, b = a - int(self.cells[entry, 0]), b - int(self.cells[entry, 1])
                if last:
                    return (*found, int(self.first[i][a, b]))
        return tuple(found)


def bundles(room: Room, offers: list[Offer], paid: IntArray, most: int = 0) -> Bundles:
    """Over all kinds of nodes; a node without any bundle of a value below `most` has that value."""
    value = np.full(len(room.first), most, np.int64)
    state = np.full(len(room.first), -1, np.int64)
    pods: dict[int, tuple[int, ...]] = {}
    for offer in offers:
        if len(offer.task):
            _offered(room, offer, paid, value, state, pods)
    return Bundles(value, state, pods)


def _offered(
    room: Room,
    offer: Offer,
    paid: IntArray,
    value: IntArray,
    state: IntArray,
    pods: dict[int, tuple[int, ...]],
) -> None:
    """Fills in the nodes of one kind."""
    states = np.flatnonzero(np.isin(room.node, offer.nodes))
    nodes = room.node[states]
    most = np.maximum((room.free[states] + room.fronts.prefix[nodes][:, :, -1]).max(axis=0), 1)
    grid = -(-most // tuning.GRID)
    table = _table(offer.pay, offer.request // grid, offer.most)
    best = value[nodes]
    cell = np.zeros((len(states), 2), np.int64)
    evictions = 0
    ceiling = int(table.best.max()) + int(value.max())
    while UNIT * evictions < ceiling and evictions <= room.fronts.prefix.shape[2]:
        capacity = (room.free[states][:, None, :] + _gains(room, nodes, evictions)) // grid
        inside = np.clip(capacity, 0, tuning.GRID)
        pay = table.best[inside[..., 0], inside[..., 1]]
        pay = np.where((capacity >= 0).all(axis=2), pay, NONE)
        at = pay.argmax(axis=1)
        rows = np.arange(len(states))
        cost = UNIT * evictions + paid[states] - pay[rows, at]
        better = cost < best
        best = np.where(better, cost, best)
        cell = np.where(better[:, None], inside[rows, at], cell)
        evictions += 1
    for i in np.lexsort((best, nodes)).tolist():
        node = int(nodes[i])
        if best[i] < value[node]:
            value[node], state[node] = best[i], states[i]
            found = table.pods(int(cell[i, 0]), int(cell[i, 1]))
            pods[node] = tuple(sorted(int(offer.task[k]) for k in found))


def _gains(room: Room, nodes: IntArray, evictions: int) -> IntArray:
    """The room that so many evictions make, one row per way."""
    if evictions == 0:
        return np.zeros((len(nodes), 1, 2), np.int64)
    if evictions <= len(room.fronts.sums):
        return room.fronts.sums[evictions - 1][nodes]
    return room.fronts.prefix[nodes][:, None, :, min(evictions, room.fronts.prefix.shape[2]) - 1]


def _table(pay: IntArray, cells: IntArray, most: IntArray) -> _Table:
    """One pod after the other, each taken or not: on top of nothing, of one pod, of several."""
    shape = (tuning.GRID + 1, tuning.GRID + 1)
    one, several = np.full(shape, -1, np.int64), np.full(shape, -1, np.int64)
    single = np.full(shape, -1, np.int64)
    table = _Table(several, _items(cells, most), cells, [], [], [])
    for entry in table.items:
        a, b = cells[entry].tolist()
        third, second = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        table.first.append(single.copy())
        corner = (slice(a, None), slice(b, None))
        below = (slice(0, tuning.GRID + 1 - a), slice(0, tuning.GRID + 1 - b))
        on_several = np.where(several[below] >= 0, several[below] + pay[entry], -1)
        on_one = np.where(one[below] >= 0, one[below] + pay[entry], -1)
        third[corner] = (on_several > several[corner]) & (on_several >= on_one)
        second[corner] = (on_one > several[corner]) & (on_one > on_several)
        several[corner] = np.maximum(several[corner], np.maximum(on_several, on_one))
        better = one[corner] < pay[entry]
        one[corner][better] = pay[entry]
        single[corner][better] = entry
        table.third.append(third)
        table.second.append(second)
    several[several < 0] = NONE
    return table


def _items(cells: IntArray, most: IntArray) -> list[int]:
    """Every entry as often as it can be on one node, but not more often than it can land."""
    found: list[int] = []
    for entry, (a, b) in enumerate(cells.tolist()):
        if a <= tuning.GRID and b <= tuning.GRID:
            fit = min(
                tuning.GRID // a if a else tuning.GRID, tuning.GRID // b if b else tuning.GRID
            )
            found.extend([entry] * min(fit, int(most[entry])))
    return found
