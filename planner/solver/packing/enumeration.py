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

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.program import FloatArray

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
    parent: IntArray
    chosen: IntArray


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
    return _States(*(each[order[new]] for each in states))


def _roomiest(states: _States, width: int) -> _States:
    """Of many remainders those that leave the most room, of what there is least of."""
    least = np.maximum(states.slack.max(axis=0, initial=0), 1)
    return _largest(states, (states.slack / least).sum(axis=1), width)


def _cheapest(states: _States, width: int) -> _States:
    """Of many remainders those that cost least: on the nodes before, least worth was given up."""
    return _largest(states, states.slack[:, -1], width)


def _largest(states: _States, value: FloatArray | IntArray, width: int) -> _States:
    if len(value) <= width:
        return states
    best = np.argsort(-value, kind="stable")[:width]
    return _States(*(each[best] for each in states))


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
        self._members, self._best = members, _roomiest if members is None else _cheapest
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
            some = _once(self._best(every, tuning.SPARE_REMAINDERS * self._effort.width))
            states = self._best(some, self._effort.width)
            complete &= len(every.words) <= tuning.SPARE_REMAINDERS * self._effort.width
            complete &= len(some.words) == len(states.words)
            if not len(states.words):
                return Completed(None, complete=complete, work=self._work)
            levels.append(states)
        return Completed(self._read(levels, sets), complete, self._work)

    def _sets(self, slack: IntArray) -> _Sets | None:
        """All that fill a node, by their largest group; None if too many fit."""
        sums = np.zeros((1, len(self._room)), np.int64)
        words = np.zeros((1, self._units.shape[1]), np.int64)
        for g in range(len(self._pods)):
            known, known_words = sums, words
            for count in range(1, int(self._pods[g]) + 1):
                more = known + count * self._size[g]
                fits = (more <= self._room).all(axis=1)
                if not fits.any():
                    break
                sums = np.concatenate([sums, more[fits]])
                words = np.concatenate([words, known_words[fits] + count * self._units[g]])
            self._work += len(sums) + len(known)
            if len(sums) > self._effort.sets or self._work > self._effort.work:
                return None
        waste = self._room - sums
        full = (waste <= slack).all(axis=1)
        return _Sets(words[full], waste[full], self._first(words[full]))

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

    def _next(self, states: _States, sets: _Sets) -> _States:
        """What remains after one more node."""
        first = self._first(states.words)
        found: list[_States] = []
        for group in np.unique(first).tolist():
            mine, theirs = np.flatnonzero(first == group), np.flatnonzero(sets.first == group)
            step = max(1, tuning.PAIRS_AT_ONCE // max(1, len(theirs)))
            cuts = [*range(0, len(mine), step), len(mine)]
            for low, high in pairwise(cuts):
                found.append(self._after(states, mine[low:high], sets, theirs))
        return _States(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def _after(self, states: _States, mine: IntArray, sets: _Sets, theirs: IntArray) -> _States:
        self._work += len(mine) * len(theirs)
        fits: BoolArray = np.ones((len(mine), len(theirs)), np.bool_)
        for word, guard in enumerate(self._guard.tolist()):
            have = states.words[mine, word] | guard
            fits &= (have[:, None] - sets.words[theirs, word]) & guard == guard
        for r in range(len(self._room)):
            fits &= states.slack[mine, r][:, None] >= sets.waste[theirs, r]
        left, right = np.nonzero(fits)
        parent, chosen = mine[left], theirs[right]
        return _States(
            states.words[parent] - sets.words[chosen],
            states.slack[parent] - sets.waste[chosen],
            parent,
            chosen,
        )

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
