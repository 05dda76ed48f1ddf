"""All sets of few pods that fill a node up to a little.

Half the pods of a set are looked at in all ways, not all of them: for each larger half, the smaller
halves that leave little beside it. That is done range by range of what they request, so that what
is looked at is small enough to be fast, and a table says of most that they have no partner.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, pi, sqrt

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.node_sets import enough
from planner.solver.packing.partners import Cells
from planner.solver.packing.set_halves import Rests, Side, all_rests, count_of_rests

_BITS = 62
"""Sums of two resources share a number of 64 bits."""


@dataclass(frozen=True, eq=False)
class FullSets:
    """The groups of each set, `members[s, i]`, the number of groups for nobody; and its waste."""

    members: IntArray
    waste: IntArray


class NearlyFull:
    """Sets of up to `most` of `pods[g]` of each group on a node; of one or two resources.

    `done` halves have been looked at; nothing is begun that takes more than `work` in all.
    """

    def __init__(
        self, size: IntArray, pods: IntArray, room: IntArray, most: int, work: int
    ) -> None:
        self._groups, self._pods, self._most, self._work = len(size), pods, most, work
        self._order = np.append(np.argsort(-size[:, 0], kind="stable"), len(size))
        self._asked = np.concatenate([size, np.zeros((1, size.shape[1]), np.int64)])
        self._room = room
        ordered = self._asked[self._order]
        self._tight, other = ordered[:, 0], ordered[:, 1:].sum(axis=1)
        offered = int(room[0]), int(room[1:].sum())
        self._low_bits = (max(most * int(other.max()), offered[1]) + offered[1]).bit_length()
        high = max(most * int(self._tight.max()), offered[0]) + offered[0]
        self._small = high.bit_length() + self._low_bits < _BITS
        self._size = (self._tight << self._low_bits) + other
        self._rests: dict[int, Rests] = {}
        self.done = 0

    def sets(self, waste: IntArray, most: int, count: int) -> FullSets | None:
        """Those of up to so many pods that leave no more than `waste`, which is less than a node.

        None if there are more than `count` of them, as far as one can guess, or if they take too
        much work, or if numbers are huge.
        """
        if not most:
            return FullSets(np.zeros((0, 1), np.int64), np.zeros((0, len(waste)), np.int64))
        if not self._small or self.guess(waste, most) > count:
            return None
        sides = self._sides(int(waste[0]), most)
        found = None if sides is None else self._found(*sides, waste, count)
        if found is None:
            return None
        members = np.sort(self._order[found], axis=1)
        members = members[enough(members, np.append(self._pods, members.shape[1]))]
        members = members[(members < self._groups).sum(axis=1) <= most]
        return FullSets(members, self._room - self._asked[members].sum(axis=1))

    def guess(self, waste: IntArray, most: int) -> float:
        """About how many sets there are, if what pods request were drawn by chance."""
        mean, spread = self._asked[:-1].mean(axis=0), np.maximum(self._asked[:-1].std(axis=0), 1.0)
        found = 0.0
        for pods in range(1, most + 1):
            deviation = spread * sqrt(pods)
            dense = np.exp(-(((self._room - pods * mean) / deviation) ** 2) / 2)
            close = dense * (waste + 1) / (deviation * sqrt(2 * pi))
            found += comb(self._groups + pods - 1, pods) * float(np.minimum(1.0, close).prod())
        return found

    def _rests_of(self, pods: int) -> Rests | None:
        if pods not in self._rests:
            many = tuning.REST_HALVES * count_of_rests(len(self._size), pods)
            if self.done + many > self._work:
                return None
            self.done += many
            self._rests[pods] = all_rests(self._size, pods, self._low_bits)
        return self._rests[pods]

    def _sides(self, waste: int, most: int) -> tuple[Side, Side] | None:
        """The larger and the smaller halves of sets of so many pods."""
        many, few = -(-most // 2), max(1, most // 2)
        one, other = self._rests_of(many - 1), self._rests_of(few - 1)
        if one is None or other is None:
            return None
        room = int(self._room[0])
        least, largest = room - waste - (most - many) * self._tight, room - many * self._tight
        return (
            Side(one, self._size, self._tight, least, larger=True),
            Side(other, self._size, self._tight, largest, larger=False),
        )

    def _found(self, larger: Side, smaller: Side, waste: IntArray, count: int) -> IntArray | None:
        """The groups of both halves of all sets, each set once.

        It comes apart in one way: no pod of the larger half is after its last one in order, none of
        the smaller half before its first one, and all of it is after the larger one.
        """
        low, high = self._ranges(larger, smaller, int(waste[0]))
        room, spare = ((int(each[0]), int(each[1:].sum())) for each in (self._room, waste))
        cuts = larger.cut(low, high), smaller.cut(room[0] - spare[0] - high, room[0] - low)
        many = int(sum(each.sum() for each in cuts))
        if self.done + many > self._work:
            return None
        self.done += many
        search = _Search(room, spare, self._low_bits)
        found = [np.zeros((0, larger.pods + smaller.pods), np.int64)]
        for at in range(len(low)):
            one, other = search.partners(larger.sums(at), smaller.sums(at))
            for begin in range(0, len(one), tuning.PAIRS_OF_HALVES):
                some = slice(begin, begin + tuning.PAIRS_OF_HALVES)
                both = larger.members(at, one[some]), smaller.members(at, other[some])
                found.append(np.column_stack(both)[self._once(*both, low[at], high[at])])
            if sum(map(len, found)) > tuning.SETS_HOPE * count:
                return None
        return np.concatenate(found)

    def _once(self, larger: IntArray, smaller: IntArray, low: int, high: int) -> BoolArray:
        """Whether a set comes apart like this, with a larger half in the range."""
        sums = self._tight[larger].sum(axis=1)
        found: BoolArray = (low <= sums) & (sums <= high)
        found &= (larger[:, 0] == larger.max(axis=1)) & (smaller[:, 0] == smaller.min(axis=1))
        found &= larger[:, 0] <= smaller[:, 0]
        return found

    def _ranges(self, larger: Side, smaller: Side, waste: int) -> tuple[IntArray, IntArray]:
        """Ranges of larger halves, each with about as many of both kinds."""
        room, fine = int(self._room[0]), tuning.FINE_RANGES
        least = (room - waste) // 2
        edges = np.unique(least + np.arange(fine + 1) * (room + 1 - least) // fine)
        low, high = edges[:-1], edges[1:] - 1
        one, other = larger.cut(low, high), smaller.cut(room - waste - high, room - low)
        number = np.cumsum(one + other) // tuning.HALVES_AT_ONCE
        begins = low[np.diff(number, prepend=-1) > 0]
        return begins, np.append(begins[1:] - 1, room)


class _Search:
    """Pairs of halves that fill a node up to a little of both resources."""

    def __init__(self, room: tuple[int, int], spare: tuple[int, int], low_bits: int) -> None:
        self._room, self._spare, self._low_bits = room, spare, low_bits
        self._cells = Cells(spare, low_bits)

    def partners(self, larger: IntArray, smaller: IntArray) -> tuple[IntArray, IntArray]:
        """Positions of such pairs."""
        bits, cells = self._low_bits, self._cells
        wanted = (self._room[0] << bits) + self._room[1] - larger
        cells.mark(smaller)
        one = cells.near(wanted)
        cells.mark(wanted[one] - ((self._spare[0] << bits) + self._spare[1]))
        other = cells.near(smaller)
        cells.mark(smaller[other])
        one = one[cells.near(wanted[one])]
        other = other[np.argsort(smaller[other], kind="stable")]
        return self._exactly(larger, smaller, one, other)

    def _exactly(
        self, larger: IntArray, smaller: IntArray, one: IntArray, other: IntArray
    ) -> tuple[IntArray, IntArray]:
        bits = self._low_bits
        sums, missing = smaller[other] >> bits, self._room[0] - (larger[one] >> bits)
        low = np.searchsorted(sums, missing - self._spare[0], side="left")
        many = np.searchsorted(sums, missing, side="right") - low
        steps = np.cumsum(many) // tuning.PAIRS_OF_HALVES
        cuts = np.flatnonzero(np.diff(steps, prepend=0)).tolist()
        found = [
            self._paired(larger, smaller, one[mine], other, low[mine], many[mine])
            for mine in map(slice, [0, *cuts], [*cuts, len(one)])
        ]
        left, right = (np.concatenate(each) for each in zip(*found, strict=True))
        return left, right

    def _paired(
        self,
        larger: IntArray,
        smaller: IntArray,
        one: IntArray,
        other: IntArray,
        low: IntArray,
        many: IntArray,
    ) -> tuple[IntArray, IntArray]:
        """Each of one kind with so many of the other, from a place on: those that are right."""
        left = np.repeat(one, many)
        right = other[np.arange(len(left)) + np.repeat(low - (np.cumsum(many) - many), many)]
        mask = (1 << self._low_bits) - 1
        load = (larger[left] & mask) + (smaller[right] & mask)
        good = (load <= self._room[1]) & (load >= self._room[1] - self._spare[1])
        return left[good], right[good]
