"""All sets of pods that fill a node, where nodes are alike.

A set to which a later pod of the order can be added says nothing that the larger one does not say,
so only those are kept to which none can: every set that fits is part of one of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

SmallArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
"""Groups of the pods of many sets, in as few bytes as they take (see `small`)."""


def small(numbers: int) -> type[np.signedinteger[Any]]:
    """What holds so many numbers, from 0 on: tables of millions of groups are kept in it."""
    return np.int16 if numbers <= np.iinfo(np.int16).max else np.int32


@dataclass(frozen=True, eq=False)
class NodeSets:
    """`members[i, s]` is the group of the i-th pod of a set; the number of groups for nobody.

    `waste[s]` is the room that a set leaves, by resource. `work` is the number of sets that were
    looked at.
    """

    members: SmallArray
    waste: IntArray
    groups: int
    work: int

    def within(self, slack: IntArray) -> IntArray:
        """The numbers of those that leave no more than this."""
        return np.flatnonzero((self.waste <= slack).all(axis=1))

    def least_waste(self, numbers: IntArray, room: IntArray) -> list[int]:
        """Of these a few for each group, so that prices on pods make sense from the first on."""
        shares = (self.waste[numbers] / np.maximum(room, 1)).sum(axis=1)
        order = numbers[np.argsort(shares, kind="stable")]
        found: set[int] = set()
        for row in self.members:
            groups, at = np.unique(row[order], return_index=True)
            found.update(order[at[groups < self.groups]].tolist())
        return sorted(found)

    def joined(self, more: NodeSets) -> NodeSets:
        """These sets, and then more of them."""
        depth = max(len(self.members), len(more.members))
        members = [
            np.pad(each, ((0, depth - len(each)), (0, 0)), constant_values=self.groups)
            for each in (self.members, more.members)
        ]
        waste = np.concatenate([self.waste, more.waste])
        joined = np.concatenate(members, axis=1)
        return NodeSets(joined, waste, self.groups, self.work + more.work)

    def counts(self, number: int) -> dict[int, int]:
        """The pods of a set by group."""
        row = self.members[:, number]
        return Counter(row[row < self.groups].tolist())


def sets_of(members: IntArray, size: IntArray, room: IntArray, work: int) -> NodeSets:
    """Sets by the groups of their pods, a row for each; those that don't fit are left out."""
    asked = np.append(size, np.zeros((1, len(room)), np.int64), axis=0)
    left = room - asked[members].sum(axis=1)
    fits = np.flatnonzero((left >= 0).all(axis=1))
    columns = np.ascontiguousarray(members[fits].T.astype(small(len(size))))
    return NodeSets(columns, left[fits], len(size), work)


def enough(members: IntArray, pods: IntArray) -> BoolArray:
    """Whether there are as many pods of each group as a set has; equal groups are side by side."""
    found = np.ones(len(members), np.bool_)
    for more in range(1, members.shape[1]):
        same = members[:, more:] == members[:, :-more]
        found &= ~(same & (pods[members[:, more:]] <= more)).any(axis=1)
    return found


class _Layer(NamedTuple):
    """Sets of so many pods, those with the same last group side by side."""

    members: SmallArray
    sums: IntArray
    last: SmallArray
    again: SmallArray
    """How many pods of the last group a set has."""


def node_sets(size: IntArray, pods: IntArray, room: IntArray, most: int) -> NodeSets | None:
    """The sets of `pods[g]` of each group that fit in the room; None if more than so many do."""
    order = np.argsort(-(size / np.maximum(room, 1)).sum(axis=1), kind="stable")
    order = order[pods[order] > 0]
    number = small(max(len(size), int(pods.max(initial=0))))
    none, nobody = np.zeros((0, 1), number), np.zeros(1, number)
    layer = _Layer(none, np.zeros((1, len(room)), np.int64), nobody, nobody)
    members: list[SmallArray] = []
    sums: list[IntArray] = []
    groups = np.append(order, len(size)).astype(number)
    work = 0
    while len(layer.last):
        larger, grown = _with_one_more(layer, size[order], pods[order], room, most - work)
        if larger is None:
            return None
        members.append(groups[layer.members[:, ~grown]])
        sums.append(layer.sums[~grown])
        work += len(layer.last)
        layer = larger
    waste = np.concatenate(sums)
    np.subtract(room, waste, out=waste)
    return NodeSets(_side_by_side(members, len(size)), waste, len(size), work)


def _side_by_side(members: list[SmallArray], nobody: int) -> SmallArray:
    """Sets of different numbers of pods in one table."""
    many = [each.shape[1] for each in members]
    joined = np.full((len(members), sum(many)), nobody, members[0].dtype)
    begin = 0
    for each, count in zip(members, many, strict=True):
        joined[: len(each), begin : begin + count] = each
        begin += count
    return joined


def _with_one_more(
    layer: _Layer, size: IntArray, pods: IntArray, room: IntArray, most: int
) -> tuple[_Layer | None, BoolArray]:
    """The sets with one pod more, not before the last in order; and which sets these come from."""
    grown = np.zeros(len(layer.last), np.bool_)
    begins = np.searchsorted(layer.last, np.arange(len(pods) + 1)).tolist()
    places: list[SmallArray] = []
    for g, (same, end) in enumerate(pairwise(begins)):
        fits = np.ones(end, np.bool_)
        for sums, one, offered in zip(layer.sums.T, size[g], room, strict=True):
            fits &= sums[:end] <= offered - one
        fits[same:] &= layer.again[same:end] < pods[g]
        at = np.flatnonzero(fits)
        most -= len(at)
        if most < 0:
            return None, grown
        grown[at] = True
        places.append(at.astype(np.int32))
    return _larger(layer, places, begins, size), grown


def _larger(layer: _Layer, places: list[SmallArray], begins: list[int], size: IntArray) -> _Layer:
    """The sets with one pod more of each group, of those at these places."""
    depth, many = len(layer.members), sum(map(len, places))
    number = layer.last.dtype
    found = _Layer(
        np.empty((depth + 1, many), number),
        np.empty((many, size.shape[1]), np.int64),
        np.empty(many, number),
        np.empty(many, number),
    )
    begin = 0
    for g, at in enumerate(places):
        mine = slice(begin, begin + len(at))
        found.members[:depth, mine] = layer.members[:, at]
        found.members[depth, mine] = found.last[mine] = g
        found.sums[mine] = layer.sums[at] + size[g]
        found.again[mine] = np.where(at >= begins[g], layer.again[at] + 1, 1)
        begin += len(at)
    return found
