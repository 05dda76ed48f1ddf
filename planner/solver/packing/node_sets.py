"""All sets of pods that fill a node, where nodes are alike.

A set to which a later pod of the order can be added says nothing that the larger one does not say,
so only those are kept to which none can: every set that fits is part of one of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

SmallArray = npt.NDArray[np.int32]
"""Groups of the pods of many sets."""


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
    columns = np.ascontiguousarray(members[fits].T.astype(np.int32))
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
    last: IntArray
    again: IntArray
    """How many pods of the last group a set has."""


def node_sets(size: IntArray, pods: IntArray, room: IntArray, most: int) -> NodeSets | None:
    """The sets of `pods[g]` of each group that fit in the room; None if more than so many do."""
    order = np.argsort(-(size / np.maximum(room, 1)).sum(axis=1), kind="stable")
    order = order[pods[order] > 0]
    nobody = np.zeros(1, np.int64)
    layer = _Layer(np.zeros((0, 1), np.int32), np.zeros((1, len(room)), np.int64), nobody, nobody)
    kept: list[_Layer] = []
    work = 0
    while len(layer.last):
        larger, grown = _with_one_more(layer, size[order], pods[order], room, most - work)
        if larger is None:
            return None
        kept.append(_Layer(layer.members[:, ~grown], *(each[~grown] for each in layer[1:])))
        work += len(layer.last)
        layer = larger
    depth = len(kept)
    groups = np.append(order, len(size)).astype(np.int32)
    members = [
        np.pad(each.members, ((0, depth - len(each.members)), (0, 0)), constant_values=len(order))
        for each in kept
    ]
    sums = np.concatenate([each.sums for each in kept])
    return NodeSets(groups[np.concatenate(members, axis=1)], room - sums, len(size), work)


def _with_one_more(
    layer: _Layer, size: IntArray, pods: IntArray, room: IntArray, most: int
) -> tuple[_Layer | None, BoolArray]:
    """The sets with one pod more, not before the last in order; and which sets these come from."""
    grown = np.zeros(len(layer.last), np.bool_)
    found: list[_Layer] = []
    for g in range(len(pods)):
        same, end = np.searchsorted(layer.last, (g, g + 1))
        more = layer.sums[:end] + size[g]
        fits = (more <= room).all(axis=1)
        fits[same:] &= layer.again[same:end] < pods[g]
        at = np.flatnonzero(fits)
        most -= len(at)
        if most < 0:
            return None, grown
        grown[at] = True
        members = np.pad(layer.members[:, at], ((0, 1), (0, 0)), constant_values=g)
        again = np.where(at >= same, layer.again[at] + 1, 1)
        found.append(_Layer(members, more[at], np.full(len(at), g), again))
    members = np.concatenate([each.members for each in found], axis=1)
    rest = zip(*(each[1:] for each in found), strict=True)
    return _Layer(members, *(np.concatenate(each) for each in rest)), grown
