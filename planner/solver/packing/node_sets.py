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
from planner.solver import tuning
from planner.solver.model.program import FloatArray

SmallArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
"""Groups of the pods of many sets, in as few bytes as they take (see `small`)."""


def small(most: int) -> type[np.signedinteger[Any]]:
    """What holds numbers from 0 up to this one: tables of millions of them are kept in it."""
    kinds = (np.int8, np.int16, np.int32)
    return next((kind for kind in kinds if most <= np.iinfo(kind).max), np.int64)


@dataclass(frozen=True, eq=False)
class NodeSets:
    """`members[i, s]` is the group of the i-th pod of a set; the number of groups for nobody.

    `waste[r][s]` is the room that a set leaves of a resource. `work` is the number of sets that
    were looked at.
    """

    members: SmallArray
    waste: tuple[SmallArray, ...]
    groups: int
    work: int

    def within(self, slack: IntArray) -> SmallArray:
        """The numbers of those that leave no more than this."""
        found = np.ones(self.members.shape[1], np.bool_)
        for waste, most in zip(self.waste, slack, strict=True):
            found &= waste <= most
        return np.flatnonzero(found).astype(np.int32)

    def least_waste(self, numbers: SmallArray, room: IntArray) -> list[int]:
        """Of these a few for each group, so that prices on pods make sense from the first on.

        Some are looked at at a time: in order, all of them would take a few times as much memory.
        """
        shape = (len(self.members), self.groups + 1)
        found, least = np.full(shape, -1), np.full(shape, np.inf)
        for begin in range(0, len(numbers), tuning.MEMBERS_AT_ONCE):
            some = numbers[begin : begin + tuning.MEMBERS_AT_ONCE]
            shares = self._shares(some, room)
            order = np.argsort(shares, kind="stable")
            some, shares = some[order], shares[order]
            for best, share, row in zip(found, least, self.members, strict=True):
                groups, at = np.unique(row[some], return_index=True)
                better = shares[at] < share[groups]
                groups, at = groups[better], at[better]
                best[groups], share[groups] = some[at], shares[at]
        best = found[:, : self.groups]
        return sorted(set(best[best >= 0].tolist()))

    def _shares(self, numbers: SmallArray, room: IntArray) -> FloatArray:
        """What each of these leaves, in nodes of each resource."""
        left = np.column_stack([waste[numbers] for waste in self.waste])
        found: FloatArray = (left / np.maximum(room, 1)).sum(axis=1)
        return found

    def joined(self, more: NodeSets) -> NodeSets:
        """These sets, and then more of them."""
        depth = max(len(self.members), len(more.members))
        members = [
            np.pad(each, ((0, depth - len(each)), (0, 0)), constant_values=self.groups)
            for each in (self.members, more.members)
        ]
        waste = tuple(map(np.concatenate, zip(self.waste, more.waste, strict=True)))
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
    waste = (row[fits].astype(small(most)) for row, most in zip(left.T, room.tolist(), strict=True))
    return NodeSets(columns, tuple(waste), len(size), work)


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
    sums: tuple[SmallArray, ...]
    """What they request, by resource."""
    last: SmallArray
    again: SmallArray
    """How many pods of the last group a set has."""


def node_sets(size: IntArray, pods: IntArray, room: IntArray, most: int) -> NodeSets | None:
    """The sets of `pods[g]` of each group that fit in the room; None if more than so many do."""
    order = np.argsort(-(size / np.maximum(room, 1)).sum(axis=1), kind="stable")
    order = order[pods[order] > 0]
    number = small(max(len(size), int(pods.max(initial=0))))
    none, nobody = np.zeros((0, 1), number), np.zeros(1, number)
    nothing = tuple(np.zeros(1, small(offered)) for offered in room.tolist())
    layer = _Layer(none, nothing, nobody, nobody)
    members: list[list[SmallArray]] = []
    sums: list[list[SmallArray]] = [[] for _ in nothing]
    groups = np.append(order, len(size)).astype(number)
    work = sets = 0
    while len(layer.last):
        larger, grown = _with_one_more(layer, size[order], pods[order], room, most - work)
        if larger is None:
            return None
        members.append([groups[row[~grown]] for row in layer.members])
        for column, found in zip(layer.sums, sums, strict=True):
            found.append(column[~grown])
        work += len(layer.last)
        sets += int((~grown).sum())
        layer = larger
    waste = tuple(_left_by(each, offered) for each, offered in zip(sums, room, strict=True))
    return NodeSets(_side_by_side(members, sets, groups[-1]), waste, len(size), work)


def _left_by(sums: list[SmallArray], offered: np.int64) -> SmallArray:
    """What sets leave of a resource; each part of the sums is freed once it is in the table."""
    found = np.concatenate(sums)
    sums.clear()
    np.subtract(found.dtype.type(offered), found, out=found)
    return found


def _side_by_side(
    members: list[list[SmallArray]], sets: int, nobody: np.signedinteger[Any]
) -> SmallArray:
    """Sets of more and more pods in one table, pod by pod; what is in the table is freed."""
    joined = np.empty((len(members), sets), nobody.dtype)
    for row in joined:
        parts = [layer.pop(0) for layer in members if layer]
        begin = sets - sum(map(len, parts))
        row[:begin] = nobody
        np.concatenate([row[:0], *parts], out=row[begin:])
    return joined


def _with_one_more(
    layer: _Layer, size: IntArray, pods: IntArray, room: IntArray, most: int
) -> tuple[_Layer | None, BoolArray]:
    """The sets with one pod more, not before the last in order; and which sets these come from."""
    grown = np.zeros(len(layer.last), np.bool_)
    numbers = np.arange(len(pods) + 1, dtype=layer.last.dtype)
    begins = np.searchsorted(layer.last, numbers).tolist()
    places: list[SmallArray] = []
    for g, (same, end) in enumerate(pairwise(begins)):
        fits = np.ones(end, np.bool_)
        for sums, one, offered in zip(layer.sums, size[g], room, strict=True):
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
        tuple(np.empty(many, sums.dtype) for sums in layer.sums),
        np.empty(many, number),
        np.empty(many, number),
    )
    begin = 0
    for g, at in enumerate(places):
        mine = slice(begin, begin + len(at))
        found.members[:depth, mine] = layer.members[:, at]
        found.members[depth, mine] = found.last[mine] = g
        for sums, before, one in zip(found.sums, layer.sums, size[g], strict=True):
            np.add(before[at], one, out=sums[mine], casting="unsafe")
        found.again[mine] = np.where(at >= begins[g], layer.again[at] + 1, 1)
        begin += len(at)
    return found
