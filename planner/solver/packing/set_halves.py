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

from collections.abc import Sequence
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
    of their `level`, which is what they request of the resource in the high bits, in steps; `first`
    is in that order, too.
    """

    sums: IntArray
    first: SmallArray
    ends: Sequence[IntArray]
    step: int
    order: SmallArray
    level: npt.NDArray[np.uint16]

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
    order = _in_order(level)
    return Rests(sums, first[order], ends, step, order, level[order])


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


def _in_order(level: npt.NDArray[np.uint16]) -> SmallArray:
    """Numbers in the order of their levels, equal ones as they come; some sorted at a time.

    That takes half as long again as to sort all at once, and a tenth of the memory.
    """
    parts, levels = _some_at_a_time(len(level)), tuning.HALF_LEVELS + 1
    many = [np.bincount(level[some], minlength=levels) for some in parts]
    before = np.cumsum(sum(many)) - sum(many)
    found = np.empty(len(level), np.int32)
    for some, here in zip(parts, many, strict=True):
        order = np.argsort(level[some], kind="stable")
        shift = before - (np.cumsum(here) - here)
        found[np.arange(len(order)) + shift[level[some][order]]] = order + some.start
        before += here
    return found


def _some_at_a_time(numbers: int) -> list[slice]:
    step = tuning.RESTS_AT_ONCE
    return [slice(begin, begin + step) for begin in range(0, numbers, step)]


def _joined(parts: list[SmallArray]) -> SmallArray:
    """One after the other; each is freed once it is copied."""
    end = sum(map(len, parts))
    found = np.empty(end, parts[0].dtype)
    while parts:
        some = parts.pop()
        found[end - len(some) : end] = some
        end -= len(some)
    return found


class Side:
    """All larger halves of sets, or all smaller ones.

    Groups are in falling order of `tight`, the resource in the high bits. With a pod of group g a
    larger half has `bounds[g]` of it at the least, and a smaller one at the most. Rests are kept
    for some groups at once.
    """

    def __init__(
        self, rests: Rests, size: IntArray, tight: IntArray, bounds: IntArray, *, larger: bool
    ) -> None:
        self._rests, self._size, self._tight, self._larger = rests, size, tight, larger
        self.pods = len(rests.ends)
        self._limits = np.clip((bounds - tight) // rests.step, -1, tuning.HALF_LEVELS)
        kept: list[SmallArray] = []
        begins, done = [], 0
        levels = np.arange(tuning.HALF_LEVELS + 2, dtype=rests.level.dtype)
        for begin in range(0, len(size), tuning.HALF_GROUPS):
            end = min(begin + tuning.HALF_GROUPS, len(size))
            keeps = self._kept(begin, end)
            found = np.searchsorted(rests.level[keeps], levels).astype(np.int32)
            begins += [found + np.int32(done)] * (end - begin)
            kept.append(rests.order[keeps])
            done += len(kept[-1])
        self._level_begins = begins
        self._numbers = _joined(kept)
        self._begins = self._ends = np.zeros((0, len(size)), np.int64)

    def _kept(self, begin: int, end: int) -> IntArray:
        """The rests beside one of these groups, by their order and the widest of the bounds."""
        rests, level = self._rests, self._rests.level.dtype.type
        if self._larger:
            least = max(0, int(self._limits[begin]))
            low = int(np.searchsorted(rests.level, level(least)))
            found = np.flatnonzero(rests.order[low:] < rests.ends[-1][end - 1])
            found += low
            return found
        high = int(np.searchsorted(rests.level, level(self._limits[end - 1] + 1)))
        return np.flatnonzero(rests.first[:high] >= begin)

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
        many: IntArray = (self._ends - self._begins).sum(axis=1)
        return many

    def sums(self, at: int) -> IntArray:
        """What the halves of a range request."""
        begins, ends = self._begins[at], self._ends[at]
        found = np.empty(int((ends - begins).sum()), np.int64)
        done = 0
        for begin, end, size in zip(
            begins.tolist(), ends.tolist(), self._size.tolist(), strict=True
        ):
            if begin < end:
                until = done + end - begin
                some = found[done:until]
                np.take(self._rests.sums, self._numbers[begin:end], out=some, mode="clip")
                some += size
                done = until
        return found

    def members(self, at: int, which: IntArray) -> IntArray:
        """The groups of some halves of a range, a row for each."""
        until = np.cumsum(self._ends[at] - self._begins[at])
        group = np.searchsorted(until, which, side="right")
        numbers = self._numbers[which - until[group] + self._ends[at][group]]
        return np.column_stack([group, self._rests.members(numbers)])
