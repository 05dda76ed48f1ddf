"""Halves of sets of pods: the larger half of its pods, and the smaller one.

By what they request of one resource, the pods of a set come apart into as many larger and smaller
ones. In a set that fills a node, the larger half with its smallest pod once more for each of the
smaller ones is as much as a node has, and the smaller half with its largest pod no more. Only one
of six or seven halves keeps to that, so far fewer are looked at than there are.

A half is one pod, the last one of a larger or the first one of a smaller half, and a rest. Rests
are in the order of what they request, so that halves within some range are slices, one for each
pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import comb
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.node_sets import SmallArray, small

Numbers = TypeVar("Numbers", IntArray, SmallArray)


def count_of_rests(groups: int, pods: int) -> int:
    """How many sets of so many pods there are of so many groups."""
    return comb(groups + pods - 1, pods)


@dataclass(frozen=True, eq=False)
class Rests:
    """All sets of so many pods: their requests, and their first group.

    The number of a set says which pods it has: of the sets of k pods, `ends[k][g]` have a last
    group up to g, and those with the same last group are side by side. In `order` they are in that
    of their level, which is what they request of the resource in the high bits, in steps; `first`
    is in that order, too. `below[l]` of them are of a lower level than l.
    """

    sums: IntArray
    first: SmallArray
    ends: Sequence[IntArray]
    step: int
    order: SmallArray
    below: IntArray

    def members(self, numbers: IntArray) -> IntArray:
        """The groups of some sets, a row for each."""
        found = np.empty((len(self.ends) - 1, len(numbers)), np.int64)
        at = numbers
        for row, ends in zip(found, reversed(self.ends[1:]), strict=True):
            row[:] = np.searchsorted(ends, at, side="right")
            at = at - np.append(0, ends)[row]
        return found.T


def all_rests(size: IntArray, pods: int, low_bits: int) -> Rests:
    """The sets of so many pods, with one number for the size of a group."""
    groups = np.arange(len(size), dtype=small(len(size)))
    sums, ends = np.zeros(1, np.int64), [np.ones(len(size), np.int64)]
    first = groups[-1:] + groups.dtype.type(1)
    for k in range(pods):
        prefixes = ends[-1].tolist()
        first = _prefixes(first, prefixes) if k else groups
        sums = _prefixes(sums, prefixes, size.tolist())
        ends.append(np.cumsum(ends[-1]))
    level, step = _levels(sums, low_bits)
    order, below = _in_order(level)
    return Rests(sums, first[order], ends, step, order, below)


def _prefixes(of: Numbers, lengths: Sequence[int], plus: Sequence[int] = ()) -> Numbers:
    """So many of the first of them side by side, time after time, plus a number each time."""
    found = np.empty(sum(lengths), of.dtype)
    begin = 0
    for length, more in zip(lengths, plus or repeat(0), strict=False):
        np.add(of[:length], of.dtype.type(more), out=found[begin : begin + length])
        begin += length
    return found


def _levels(sums: IntArray, low_bits: int) -> tuple[npt.NDArray[np.uint16], int]:
    """What sets request of the resource in the high bits, in steps; and how large a step is."""
    step = (int(sums.max()) >> low_bits) // tuning.HALF_LEVELS + 1
    found = np.empty(len(sums), np.uint16)
    for some in _some_at_a_time(len(sums)):
        found[some] = (sums[some] >> low_bits) // step
    return found, step


def _in_order(level: npt.NDArray[np.uint16]) -> tuple[SmallArray, IntArray]:
    """Numbers in the order of their levels, equal ones as they come; and how many are below each.

    Some are sorted at a time. That takes half as long again as to sort all at once, and a tenth of
    the memory.
    """
    parts, levels = _some_at_a_time(len(level)), tuning.HALF_LEVELS + 1
    many = [np.bincount(level[some], minlength=levels) for some in parts]
    below: IntArray = np.append(0, np.cumsum(sum(many)))
    before = below[:-1].copy()
    found = np.empty(len(level), np.int32)
    for some, here in zip(parts, many, strict=True):
        order = np.argsort(level[some], kind="stable")
        shift = before - (np.cumsum(here) - here)
        found[np.arange(len(order)) + shift[level[some][order]]] = order + some.start
        before += here
    return found, below


def _some_at_a_time(numbers: int) -> list[slice]:
    step = tuning.RESTS_AT_ONCE
    return [slice(begin, begin + step) for begin in range(0, numbers, step)]


class Side:
    """All larger halves of sets, or all smaller ones.

    Groups are in falling order of `tight`, the resource in the high bits. With a pod of group g a
    larger half has `bounds[g]` of it at the least, and a smaller one at the most. Rests are kept
    for some groups at once, and for some ranges.
    """

    def __init__(
        self, rests: Rests, size: IntArray, tight: IntArray, bounds: IntArray, *, larger: bool
    ) -> None:
        self._rests, self._size, self._tight, self._larger = rests, size, tight, larger
        self.pods = len(rests.ends)
        self._limits = np.clip((bounds - tight) // rests.step, -1, tuning.HALF_LEVELS)
        self._level_begins: list[SmallArray] = []
        for groups in self._together():
            top = tuning.HALF_LEVELS + 1
            least = max(0, int(self._limits[groups.start])) if larger else 0
            most = top if larger else int(self._limits[groups.stop - 1]) + 1
            found = np.searchsorted(self._kept(groups, least, most), rests.below)
            self._level_begins += [found.astype(np.int32)] * len(groups)
        self._begins = self._ends = np.zeros((0, len(size)), np.int64)
        self._held = range(0)
        self._numbers: list[SmallArray] = []
        self._first: list[int] = []

    def _together(self) -> Iterator[range]:
        """The groups whose rests are kept together."""
        for begin in range(0, len(self._size), tuning.HALF_GROUPS):
            yield range(begin, min(begin + tuning.HALF_GROUPS, len(self._size)))

    def _kept(self, groups: range, low: int, high: int) -> IntArray:
        """The rests beside one of these groups, by their order, of levels from `low` to `high`."""
        rests = self._rests
        some = slice(int(rests.below[low]), int(rests.below[high]))
        if self._larger:
            found = np.flatnonzero(rests.order[some] < rests.ends[-1][groups.stop - 1])
        else:
            found = np.flatnonzero(rests.first[some] >= groups.start)
        found += some.start
        return found

    def _hold(self, at: int) -> None:
        """Look up the rests of some ranges from this one on: those of all would be a lot."""
        self._held = range(at, min(at + tuning.RANGES_AT_ONCE, len(self._begins)))
        self._numbers, self._first = [], []
        for groups in self._together():
            mine = np.s_[at : self._held.stop, groups.start : groups.stop]
            begins, ends = self._begins[mine], self._ends[mine]
            some, levels = begins < ends, self._level_begins[groups.start]
            begin, end = begins[some].min(initial=levels[-1]), ends[some].max(initial=0)
            low = int(np.searchsorted(levels, begin, side="right")) - 1
            high = max(low, int(np.searchsorted(levels, end)))
            self._numbers += [self._rests.order[self._kept(groups, low, high)]] * len(groups)
            self._first += [int(begin)] * len(groups)

    def cut(self, low: IntArray, high: IntArray) -> IntArray:
        """Halves by ranges, from `low` to `high`: how many may be within each.

        Some beyond both ends are among them, none within is left out.
        """
        begins, ends = [], []
        pods = zip(self._level_begins, self._limits.tolist(), self._tight.tolist(), strict=True)
        for level_begins, limit, mine in pods:
            least, most = (max(0, limit), tuning.HALF_LEVELS) if self._larger else (0, limit)
            begin = np.clip((low - mine) // self._rests.step, least, most + 1)
            end = np.clip((high - mine) // self._rests.step + 1, begin, most + 1)
            begins.append(level_begins[begin])
            ends.append(level_begins[end])
        self._begins, self._ends = np.array(begins).T, np.array(ends).T
        self._held = range(0)
        many: IntArray = (self._ends - self._begins).sum(axis=1)
        return many

    def sums(self, at: int) -> IntArray:
        """What the halves of a range request."""
        if at not in self._held:
            self._hold(at)
        begins, ends = self._begins[at], self._ends[at]
        found = np.empty(int((ends - begins).sum()), np.int64)
        done = 0
        lengths = (ends - begins).tolist()
        places = (begins - self._first).tolist()
        groups = zip(places, lengths, self._numbers, self._size.tolist(), strict=True)
        for place, length, numbers, size in groups:
            if length:
                some = found[done : done + length]
                np.take(self._rests.sums, numbers[place : place + length], out=some, mode="clip")
                some += size
                done += length
        return found

    def members(self, at: int, which: IntArray) -> IntArray:
        """The groups of some halves of a range whose sums were asked for last, a row for each."""
        until = np.cumsum(self._ends[at] - self._begins[at])
        group = np.searchsorted(until, which, side="right")
        places = which - until[group] + (self._ends[at] - self._first)[group]
        numbers = np.empty(len(which), np.int64)
        kept = group // tuning.HALF_GROUPS
        for each in np.flatnonzero(np.bincount(kept)).tolist():
            mine = np.flatnonzero(kept == each)
            numbers[mine] = self._numbers[each * tuning.HALF_GROUPS][places[mine]]
        return np.column_stack([group, self._rests.members(numbers)])
