"""All sets of few pods that fill a node up to a little.

A set comes apart into two halves, its pods in turns from the largest down, so that both have as
many pods and their sums differ by one pod at the most. So all halves close to half a node are
looked at, and which of them has a partner that leaves little: half the pods of a set in all ways,
not all of them. A table of small cells says for most that they have none, before any are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning

_BITS = 62
"""Sums of two resources share a number of 64 bits."""


@dataclass(frozen=True, eq=False)
class FullSets:
    """The pods of each set by group, `pods[s, g]`, and the room that it leaves, `waste[s, r]`."""

    pods: IntArray
    waste: IntArray


def halves(groups: int, most: int) -> int:
    """How many halves there are for sets of up to so many pods."""
    half = -(-most // 2)
    return comb(groups + half, half)


def full_sets(
    size: IntArray, pods: IntArray, room: IntArray, waste: IntArray, most: int
) -> FullSets | None:
    """The sets of up to `most` of `pods[g]` of each group that leave no more than `waste`.

    None if they are too many, or numbers are huge. One or two resources are looked at.
    """
    half = -(-most // 2)
    low_bits = int(half * size[:, 1:].max(initial=0)).bit_length()
    largest = int(size[:, 0].max())
    if max(2 * half * largest, int(room[0]) + 1).bit_length() + low_bits > _BITS:
        return None
    every = _Halves((size[:, 0] << low_bits) + size[:, 1:].sum(axis=1), half)
    lower, upper = every.around(int(room[0]), int(waste[0]), largest, low_bits)
    for _ in range(tuning.PARTNER_ROUNDS):
        lower = lower.those(_have_partner(lower, upper, int(room[0]), int(waste[0])))
        upper = upper.those(_have_partner(upper, lower, int(room[0]), int(waste[0])))
    found = _pairs(lower, upper, room, waste)
    if found is None:
        return None
    members = np.unique(np.sort(every.members(np.stack(found)), axis=1), axis=0)
    held = np.zeros((len(members), len(size) + 1), np.int64)
    np.add.at(held, (np.arange(len(members))[:, None], members), 1)
    held = held[:, :-1]
    good = (held <= pods).all(axis=1) & (held.sum(axis=1) <= most)
    return FullSets(held[good], room - held[good] @ size)


@dataclass(frozen=True, eq=False)
class _Some:
    """Halves of sets: their numbers, and what they request, the tight resource in the high bits."""

    numbers: IntArray
    sums: IntArray
    low_bits: int

    @property
    def tight(self) -> IntArray:
        return self.sums >> self.low_bits

    @property
    def other(self) -> IntArray:
        return self.sums & ((1 << self.low_bits) - 1)

    def those(self, which: BoolArray | IntArray) -> _Some:
        return _Some(self.numbers[which], self.sums[which], self.low_bits)


def _have_partner(mine: _Some, others: _Some, room: int, waste: int) -> BoolArray:
    """Whether some other half may fill a node up to this together with each of mine.

    Others are marked in a table whose cells are no narrower than what may be wasted, so that two
    cells say it all.
    """
    if not len(mine.sums) or not len(others.sums):
        return np.zeros(len(mine.sums), np.bool_)
    bits = mine.low_bits
    low, high = int(others.sums.min() >> bits), int(others.sums.max() >> bits)
    width = max(waste + 1, -(-(high - low + 1) // tuning.PARTNER_CELLS)).bit_length()
    table = np.zeros(((high - low) >> width) + 3, np.bool_)
    table[((others.sums - (low << bits)) >> (width + bits)) + 1] = True
    cell = np.clip(((room - low - mine.tight) >> width) + 1, 0, len(table) - 1)
    found: BoolArray = table[cell] | table[np.maximum(cell - 1, 0)]
    return found


def _pairs(
    lower: _Some, upper: _Some, room: IntArray, waste: IntArray
) -> tuple[IntArray, IntArray] | None:
    """The numbers of halves that fill a node together; None if there are too many."""
    lower = lower.those(np.argsort(lower.sums, kind="stable"))
    upper = upper.those(np.argsort(upper.sums, kind="stable"))
    missing, sums = room[0] - lower.tight, upper.tight
    low = np.searchsorted(sums, missing - waste[0], side="left")
    many = np.searchsorted(sums, missing, side="right") - low
    if many.sum() > tuning.HALF_PAIRS:
        return None
    left = np.repeat(np.arange(len(many)), many)
    right = np.arange(len(left)) + np.repeat(low - (np.cumsum(many) - many), many)
    for offered, spare in zip(room[1:], waste[1:], strict=True):
        load = lower.those(left).other + upper.those(right).other
        good = (load <= offered) & (load >= offered - spare)
        left, right = left[good], right[good]
    if len(left) > tuning.MOST_FULL_SETS:
        return None
    return lower.numbers[left], upper.numbers[right]


class _Halves:
    """All sets of up to so many pods, with one number for the size of a group.

    Those of fewer pods come first, and those of as many with the same last group are side by side:
    of the sets of k pods, `ends[k][g]` have a last group up to g. So the number of a set says which
    pods it has.
    """

    def __init__(self, size: IntArray, most: int) -> None:
        self._size, self._most = size, most
        self._ends = [np.ones(len(size), np.int64)]
        for _ in range(most):
            self._ends.append(np.cumsum(self._ends[-1]))

    def _sums(self) -> Iterator[IntArray]:
        """What they request, part by part in the order of their numbers."""
        layer = np.zeros(1, np.int64)
        yield layer
        for pods, ends in enumerate(self._ends[: self._most], start=1):
            parts: list[IntArray] = []
            for end, size in zip(ends.tolist(), self._size.tolist(), strict=True):
                part = layer[:end] + size
                yield part
                if pods < self._most:
                    parts.append(part)
            layer = np.concatenate(parts) if parts else layer

    def around(self, room: int, waste: int, largest: int, low_bits: int) -> tuple[_Some, _Some]:
        """The lower and the upper halves of the sets that nearly fill a node."""
        lower: list[tuple[IntArray, IntArray]] = []
        upper: list[tuple[IntArray, IntArray]] = []
        ranges = ((room - waste - largest, room, lower), (room - waste, room + largest, upper))
        begin = 0
        for sums in self._sums():
            for least, most, kept in ranges:
                low, high = -(-least // 2) << low_bits, (most // 2 + 1) << low_bits
                at = np.flatnonzero((sums >= low) & (sums < high))
                kept.append((at + begin, sums[at]))
            begin += len(sums)
        return _joined(lower, low_bits), _joined(upper, low_bits)

    def members(self, numbers: IntArray) -> IntArray:
        """For two rows of numbers, the groups of both sets; the number of groups for nobody."""
        sizes, groups = np.array([ends[-1] for ends in self._ends]), len(self._size)
        first = np.cumsum(sizes) - sizes
        layer = np.searchsorted(first, numbers, side="right") - 1
        at = numbers - first[layer]
        found = []
        for k in range(self._most, 0, -1):
            group = np.searchsorted(self._ends[k], at, side="right")
            before = np.append(0, self._ends[k])[group]
            mine = layer == k
            found.append(np.where(mine, group, groups))
            at, layer = np.where(mine, at - before, at), np.where(mine, k - 1, layer)
        return np.concatenate(found).T


def _joined(parts: list[tuple[IntArray, IntArray]], low_bits: int) -> _Some:
    numbers, sums = (np.concatenate(each) for each in zip(*parts, strict=True))
    return _Some(numbers, sums, low_bits)
