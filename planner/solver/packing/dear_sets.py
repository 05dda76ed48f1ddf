"""All sets of pods on a node that cost more than a given sum.

Pods are taken in the order of what they cost for the room that they take, the dearest first. After
some of them, the room that is left costs no more than the next pod would for all of it. So most
sets are given up after one or two pods, however many there are, and none is missed.

Room is weighed in several ways, by a mixture of all resources and by each of them alone; what the
cheapest of these says holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.packing.room_bounds import mixtures

_PARTS = 2**16
"""A node of a resource, in the integers that room is weighed in."""
_FINE = 16
"""Bits after the point of what a part of a node costs."""
_EXACT = 2**62
"""Sums stay below what 64 bits hold."""


@dataclass(frozen=True, eq=False)
class DearSets:
    """The groups of each set, `members[s, i]`, the number of groups for nobody.

    None if that is too much work, which is counted in sets that were looked at.
    """

    members: IntArray | None
    work: int


class _Layer(NamedTuple):
    """Sets of so many pods by their last group, in order; `parent` is the same without that pod."""

    last: IntArray
    parent: IntArray
    again: IntArray
    """How many pods of the last group a set has."""
    sums: IntArray
    cost: IntArray
    left: IntArray
    """The weight of the room that is left, by way of weighing."""


def dear_sets(
    size: IntArray, pods: IntArray, room: IntArray, price: IntArray, above: int, work: int
) -> DearSets:
    """The sets of up to `pods[g]` of each group that cost more than `above`, which is positive."""
    fits = (pods > 0) & (price > 0) & (size <= room).all(axis=1)
    groups = np.flatnonzero(fits)
    if not len(groups):
        return DearSets(np.zeros((0, 1), np.int64), 0)
    weights = _weights(size[groups], room, price[groups])
    if weights is None:
        return DearSets(None, 0)
    order = np.argsort(-(price[groups] / weights[0][1]), kind="stable")
    groups = groups[order]
    search = _Search(
        size[groups],
        pods[groups],
        room,
        price[groups],
        np.array([cap for cap, _ in weights]),
        np.array([each[order] for _, each in weights]),
    )
    found = search.run(above, work)
    if found is None:
        return DearSets(None, search.work)
    return DearSets(np.append(groups, len(size))[found], search.work)


def _weights(size: IntArray, room: IntArray, price: IntArray) -> list[tuple[int, IntArray]] | None:
    """Ways to weigh room: a node's weight and that of each group, rounded down.

    First that mixture by which a node costs least, then each resource alone. None if by every
    mixture somebody weighs nothing.
    """
    parts = [
        [s * _PARTS // max(1, offered) for s, offered in zip(row, room.tolist(), strict=True)]
        for row in size.tolist()
    ]
    shares = np.array(parts, np.int64)
    found = []
    for mixture in mixtures(len(room)):
        cap, weight = int(mixture.sum()) * _PARTS, shares @ mixture
        if weight.all() and _rate(price, weight).max() < _EXACT // cap:
            found.append((cap, weight))
    if not found:
        return None
    best = min(found, key=lambda way: float((price / way[1]).max()) * way[0])
    return [best, *(way for way in found if way[0] == _PARTS and way is not best)]


def _rate(price: IntArray, weight: IntArray) -> IntArray:
    """What a part of the room costs by each group, rounded up."""
    return -(-(price << _FINE) // weight)


class _Search:
    """One search; groups are in the order of what they cost for their first weight."""

    def __init__(
        self,
        size: IntArray,
        pods: IntArray,
        room: IntArray,
        price: IntArray,
        caps: IntArray,
        weights: IntArray,
    ) -> None:
        self._size, self._pods, self._room, self._price = size, pods, room, price
        self._caps, self._weights = caps, weights
        rates = np.array([_rate(price, weight) for weight in weights])
        self._rates = np.maximum.accumulate(rates[:, ::-1], axis=1)[:, ::-1]
        self.work = 0

    def run(self, above: int, work: int) -> IntArray | None:
        """The members of all sets by their place in the order, padded by the number of groups."""
        none = np.zeros(1, np.int64)
        sums = np.zeros((len(self._room), 1), np.int64)
        layers = [_Layer(none - 1, none, none, sums, none, self._caps[:, None])]
        while len(layers[-1].last):
            larger = self._with_one_more(layers[-1], above, work)
            if larger is None:
                return None
            layers.append(larger)
        return self._read(layers, above)

    def _with_one_more(self, layer: _Layer, above: int, work: int) -> _Layer | None:
        """The sets with one pod more, not before the last in order, that may come to cost enough.

        None if that takes more work than given.
        """
        begins = np.searchsorted(layer.last, np.arange(len(self._pods) + 1)).tolist()
        self.work += sum(begins[1:])
        if self.work > work:
            return None
        empty = np.zeros(0, np.int64)
        found = [_Layer(empty, empty, empty, layer.sums[:, :0], empty, layer.left[:, :0])]
        for g, (same, end) in enumerate(pairwise(begins)):
            at = self._hopeful(layer, g, end, above)
            again = np.where(at >= same, layer.again[at] + 1, 1)
            sums = layer.sums[:, at] + self._size[g][:, None]
            fits = (again <= self._pods[g]) & (sums <= self._room[:, None]).all(axis=0)
            at = at[fits]
            cost = layer.cost[at] + self._price[g]
            left = layer.left[:, at] - self._weights[:, g][:, None]
            last = np.full(len(at), g)
            found.append(_Layer(last, at, again[fits], sums[:, fits], cost, left))
        joined = zip(*found, strict=True)
        return _Layer(*(np.concatenate(each, axis=-1) for each in joined))

    def _hopeful(self, layer: _Layer, g: int, end: int, above: int) -> IntArray:
        """Of the first sets those that may cost enough with a pod of the group and later ones."""
        at = np.arange(end)
        ways = zip(
            layer.left, self._weights[:, g].tolist(), self._rates[:, g].tolist(), strict=True
        )
        missing = above - int(self._price[g])
        for left, weight, rate in ways:
            rest = ((left[at] - weight) * rate >> _FINE) + layer.cost[at]
            at = at[rest >= missing]
        return at

    def _read(self, layers: list[_Layer], above: int) -> IntArray:
        """The pods of all sets that cost enough."""
        depth = max(1, len(layers) - 1)
        found = [np.zeros((0, depth), np.int64)]
        for pods in range(1, len(layers)):
            at = np.flatnonzero(layers[pods].cost > above)
            members = np.full((len(at), depth), len(self._pods))
            for i in range(pods, 0, -1):
                members[:, i - 1] = layers[i].last[at]
                at = layers[i].parent[at]
            found.append(members)
        return np.concatenate(found)
