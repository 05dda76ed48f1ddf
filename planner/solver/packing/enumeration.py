"""Enumeration: all ways to fill a few nodes that are alike, with all of the pods given.

Node by node, every set with the largest pod left that wastes no more than there is to waste is
tried on every remainder at once; remainders that are the same are one. So a few nodes are decided:
if nothing had to be cut off, and no way remains, there is none.

With a price on each pod, sets that are given, and many nodes, it is a search in breadth: remainders
that cost least are kept, for those leave the dear sets to the nodes that follow.

A remainder is a number of four bits for each group, the highest of which stays free, so that all
groups are subtracted and compared at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.program import FloatArray
from planner.solver.packing.node_sets import SmallArray

_DIGIT, _DIGITS, _MOST = 4, 15, 7
"""Bits of a group, groups of a word, and pods of a group."""


class Effort(NamedTuple):
    """Sets and remainders that are kept at the most, and sets that are tried on remainders."""

    sets: int
    width: int
    work: int


@dataclass(frozen=True, eq=False)
class Completed:
    """The pods of each node by group, if there is a way; `complete` if all ways were looked at.

    `begun` is False if there are too many sets even to begin.
    """

    counts: IntArray | None
    complete: bool
    work: int
    begun: bool = True


class _Sets(NamedTuple):
    words: IntArray
    waste: IntArray
    first: IntArray


class _States(NamedTuple):
    words: IntArray
    slack: IntArray
    parent: SmallArray
    chosen: SmallArray

    def some(self, which: IntArray | slice) -> _States:
        """Some of these."""
        return _States(*(each[which] for each in self))


class _Pairs(NamedTuple):
    """Remainders with a set that fits in them, by their numbers.

    There are many times as many as are kept, so what remains of them is made for those alone.
    """

    states: _States
    sets: _Sets
    parent: SmallArray
    chosen: SmallArray

    def slack(self, resource: int) -> IntArray:
        """What they leave to waste."""
        found: IntArray = self.states.slack[:, resource][self.parent]
        found -= self.sets.waste[:, resource][self.chosen]
        return found

    def remainders(self, some: IntArray | slice) -> _States:
        """What remains of some of them."""
        parent, chosen = self.parent[some], self.chosen[some]
        words = self.states.words[parent] - self.sets.words[chosen]
        slack = self.states.slack[parent] - self.sets.waste[chosen]
        return _States(words, slack, parent, chosen)


def completed(
    size: IntArray, pods: IntArray, room: IntArray, nodes: int, effort: Effort
) -> Completed:
    """Whether `pods[g]` of each group fit on so many nodes of the same room, and how."""
    slack = room * nodes - pods @ size
    if (slack < 0).any():
        return Completed(None, complete=True, work=0)
    if parts_of(pods) > tuning.MOST_PARTS:
        return Completed(None, complete=False, work=0, begun=False)
    return _Search(size, pods, room, nodes, effort).run(slack)


def led(
    size: IntArray, pods: IntArray, room: IntArray, nodes: int, members: IntArray, effort: Effort
) -> Completed:
    """Whether they fit with sets that are given, each a row of groups; None found proves nothing.

    The last column of `size` is what pods are worth, that of `room` what the dearest set is worth.
    """
    slack = room * nodes - pods @ size
    if (slack < 0).any() or pods.max(initial=0) > _MOST or not len(members):
        return Completed(None, complete=False, work=0, begun=False)
    found = _Search(size, pods, room, nodes, effort, members).run(slack)
    return replace(found, complete=False)


def _once(states: _States) -> _States:
    """Each remainder once."""
    order = np.lexsort(states.words.T)
    words = states.words[order]
    new = np.ones(len(words), np.bool_)
    new[1:] = (words[1:] != words[:-1]).any(axis=1)
    return states.some(order[new])


def _room(slack: Callable[[int], IntArray], resources: int) -> FloatArray:
    """How much room remainders leave, mostly of what there is least of."""
    left = map(slack, range(resources))
    found: FloatArray = sum((each / max(1, each.max(initial=0)) for each in left), np.zeros(1))
    return found


def _worth(slack: Callable[[int], IntArray], resources: int) -> IntArray:
    """How little remainders cost: what was not given up on the nodes before."""
    return slack(resources - 1)


def parts_of(pods: IntArray) -> int:
    """Into how many groups of few pods these come apart."""
    return int((-(-pods // _MOST)).sum())


class _Search:
    """One search; groups are in order of weight, those with many pods in several parts."""

    def __init__(
        self,
        size: IntArray,
        pods: IntArray,
        room: IntArray,
        nodes: int,
        effort: Effort,
        members: IntArray | None = None,
    ) -> None:
        shares = size / np.maximum(room, 1)
        order = np.argsort(-(shares.max(axis=1) + shares.mean(axis=1)), kind="stable")
        parts = [(g, min(_MOST, n)) for g in order.tolist() for n in range(pods[g], 0, -_MOST)]
        self._groups = np.array([g for g, _ in parts], np.int64)
        self._pods = np.array([count for _, count in parts], np.int64)
        self._size, self._room, self._nodes, self._effort = size[self._groups], room, nodes, effort
        self._shape = (len(size), nodes)
        place = np.arange(len(parts))
        self._units = np.zeros((len(parts), -(-len(parts) // _DIGITS) or 1), np.int64)
        self._units[place, place // _DIGITS] = 1 << _DIGIT * (place % _DIGITS)
        self._guard = (self._units * (_MOST + 1)).sum(axis=0)
        self._members, self._value = members, _room if members is None else _worth
        self._work = 0

    def run(self, slack: IntArray) -> Completed:
        sets = self._sets(slack) if self._members is None else self._given(self._members, slack)
        if sets is None:
            return Completed(None, complete=False, work=self._work, begun=False)
        start = (self._pods @ self._units)[None]
        nobody = np.zeros(1, np.int64)
        levels, complete = [_States(start, slack[None], nobody, nobody)], True
        while len(levels) < self._nodes and levels[-1].words.any(axis=1).all():
            every = self._next(levels[-1], sets)
            if self._work > self._effort.work:
                return Completed(None, complete=False, work=self._work)
            many, width = len(every.parent), self._effort.width
            best = self._best(every.slack, many, tuning.SPARE_REMAINDERS * width)
            some = _once(every.remainders(best))
            best = self._best(some.slack.T.__getitem__, len(some.words), width)
            states = some.some(best)
            complete &= many <= tuning.SPARE_REMAINDERS * width
            complete &= len(some.words) == len(states.words)
            if not len(states.words):
                return Completed(None, complete=complete, work=self._work)
            levels.append(states)
        return Completed(self._read(levels, sets), complete, self._work)

    def _best(self, slack: Callable[[int], IntArray], many: int, width: int) -> IntArray | slice:
        """Of many remainders those to keep, by what they leave of each resource."""
        if many <= width:
            return slice(None)
        return np.argsort(-self._value(slack, len(self._room)), kind="stable")[:width]

    def _sets(self, slack: IntArray) -> _Sets | None:
        """All that fill a node, by their largest group; None if too many fit."""
        sums = np.zeros((1, len(self._room)), np.int64)
        words = np.zeros((1, self._units.shape[1]), np.int64)
        for g in range(len(self._pods)):
            self._work += len(sums)
            sums, words = self._with_group(g, sums, words)
            self._work += len(sums)
            if len(sums) > self._effort.sets or self._work > self._effort.work:
                return None
        waste = np.subtract(self._room, sums, out=sums)
        full = (waste <= slack).all(axis=1)
        return _Sets(words[full], waste[full], self._first(words[full]))

    def _with_group(self, g: int, sums: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
        """The same sets, and these with pods of one group more."""
        every, every_words = [sums], [words]
        for count in range(1, int(self._pods[g]) + 1):
            more = sums + count * self._size[g]
            fits = (more <= self._room).all(axis=1)
            if not fits.any():
                break
            every.append(more[fits])
            every_words.append(words[fits] + count * self._units[g])
        return np.concatenate(every), np.concatenate(every_words)

    def _given(self, members: IntArray, slack: IntArray) -> _Sets:
        """Of the sets that are given those that waste no more than there is to waste."""
        place = np.full(self._shape[0] + 1, len(self._pods))
        place[self._groups] = np.arange(len(self._groups))
        units = np.append(self._units, np.zeros((1, self._units.shape[1]), np.int64), axis=0)
        sizes = np.append(self._size, np.zeros((1, len(self._room)), np.int64), axis=0)
        words, sums = (each[place[members]].sum(axis=1) for each in (units, sizes))
        waste = self._room - sums
        full = ((waste <= slack) & (waste >= 0)).all(axis=1)
        self._work += members.size
        return _Sets(words[full], waste[full], self._first(words[full]))

    def _first(self, words: IntArray) -> IntArray:
        """The first group that has pods; the number of groups if there is none."""
        found = np.full(len(words), len(self._pods))
        for g in reversed(range(len(self._pods))):
            word = g // _DIGITS
            found[(words[:, word] & (self._units[g, word] * _MOST)) != 0] = g
        return found

    def _next(self, states: _States, sets: _Sets) -> _Pairs:
        """All ways to fill one more node."""
        first = self._first(states.words)
        found: list[tuple[SmallArray, SmallArray]] = []
        for group in np.unique(first).tolist():
            mine, theirs = np.flatnonzero(first == group), np.flatnonzero(sets.first == group)
            step = max(1, tuning.PAIRS_AT_ONCE // max(1, len(theirs)))
            cuts = [*range(0, len(mine), step), len(mine)]
            for low, high in pairwise(cuts):
                found.append(self._after(states, mine[low:high], sets, theirs))
        parent, chosen = (np.concatenate(each) for each in zip(*found, strict=True))
        return _Pairs(states, sets, parent, chosen)

    def _after(
        self, states: _States, mine: IntArray, sets: _Sets, theirs: IntArray
    ) -> tuple[SmallArray, SmallArray]:
        self._work += len(mine) * len(theirs)
        fits: BoolArray = np.ones((len(mine), len(theirs)), np.bool_)
        for word, guard in enumerate(self._guard.tolist()):
            have = states.words[mine, word] | guard
            fits &= (have[:, None] - sets.words[theirs, word]) & guard == guard
        for r in range(len(self._room)):
            fits &= states.slack[mine, r][:, None] >= sets.waste[theirs, r]
        left, right = np.nonzero(fits)
        return mine.astype(np.int32)[left], theirs.astype(np.int32)[right]

    def _read(self, levels: list[_States], sets: _Sets) -> IntArray:
        """The way to the first remainder that is empty or goes on the last node."""
        last = levels[-1]
        at = int(last.words.any(axis=1).argmin())
        nodes = [last.words[at]]
        for level in reversed(levels[1:]):
            nodes.append(sets.words[level.chosen[at]])
            at = int(level.parent[at])
        counts = np.zeros(self._shape, np.int64)
        for node, words in enumerate(nodes):
            for g, unit in enumerate(self._units):
                word = g // _DIGITS
                counts[self._groups[g], node] += int(words[word] // unit[word]) & _MOST
        return counts
