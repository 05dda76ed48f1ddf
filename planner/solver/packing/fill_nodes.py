"""Filling: node after node as full as can be, so that what is left over comes together at the end.

While there are many pods, some set fills a node nearly to the last unit: the sums of one half of a
sample are looked for among the sorted sums of the other. Each set holds the largest pod left, and
few pods rather than many, for small ones are what fits at the end. All the room that is too much
is left to the last nodes then, where several sets are tried in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.enumeration import Effort, completed


@dataclass(frozen=True, eq=False)
class _Half:
    """Sets of some pods that fit: what they request by resource, how many they are, and who."""

    pods: list[int]
    sums: IntArray
    many: IntArray
    members: IntArray

    def pods_of(self, row: int) -> list[int]:
        return [self.pods[i] for i in self.members[row].tolist() if i < len(self.pods)]


@cache
def _pods_for(rows: int, pods: int, most: int) -> int:
    """Of how many pods all sets of up to `most` are no more than so many; one at the least."""
    while pods > 1 and sum(comb(pods, k) for k in range(min(most, pods) + 1)) > rows:
        pods -= 1
    return pods


@lru_cache(maxsize=tuning.KEPT_SUBSETS)
def _subsets(pods: int, most: int) -> IntArray:
    """All sets of up to so many of some pods: a row of their numbers, and `pods` for nobody."""
    rows = [
        [*each, *[pods] * (most - k)]
        for k in range(most + 1)
        for each in combinations(range(pods), k)
    ]
    return np.array(rows, np.int64).reshape(len(rows), most)


class Care(NamedTuple):
    """How much is looked at: `rows` sets of half a sample, and for the `last` nodes together."""

    rows: int
    last: int
    effort: Effort


class _Left(NamedTuple):
    """What is still to be done: pods by weight, the nodes from one on, and the room too much."""

    pods: IntArray
    node: int
    slack: IntArray


class Filling:
    """Places pods of given groups on given nodes; `work` is the number of sets to look at."""

    def __init__(
        self, sizes: IntArray, group: IntArray, room: IntArray, care: Care, work: int, seed: int
    ) -> None:
        size = sizes[group]
        scale = 1.0 / np.maximum(room.sum(axis=0), 1)
        shares = size * scale
        self._sizes, self._group = sizes, group
        self._size, self._care = size, care
        self._order = np.argsort(room @ scale, kind="stable")
        self._room = room[self._order]
        self._heaviest = np.argsort(-(shares.max(axis=1) + shares.mean(axis=1)), kind="stable")
        self._random = np.random.default_rng(seed)
        self._budget = work
        self.work = 0

    def run(self) -> list[list[int]] | None:
        """The pods of each node, if all of them found one."""
        slack = self._room.sum(axis=0) - self._size.sum(axis=0)
        if (slack < 0).any():
            return None
        found = self._fill(_Left(self._heaviest, 0, slack))
        if found is None:
            return None
        by_node: list[list[int]] = [[] for _ in found]
        for position, pods in zip(self._order.tolist(), found, strict=True):
            by_node[position] = pods
        return by_node

    def _fill(self, left: _Left) -> list[list[int]] | None:
        """The first nodes one by one, the last ones with more than one try each."""
        first: list[list[int]] = []
        while len(self._room) - left.node > self._care.last:
            chosen = next(self._sets(left, 1), None)
            if chosen is None:
                return None
            first.append(chosen)
            left = self._without(left, chosen)
        last = self._complete(left) or self._finish(left)
        return None if last is None else first + last

    def _complete(self, left: _Left) -> list[list[int]] | None:
        """The last nodes together, where they are alike."""
        room = self._room[left.node :]
        if (room != room[0]).any():
            return None
        pods = np.bincount(self._group[left.pods], minlength=len(self._sizes))
        found = completed(self._sizes, pods, room[0], len(room), self._care.effort)
        self.work += found.work
        if found.counts is None:
            return None
        by_group = [left.pods[self._group[left.pods] == g].tolist() for g in range(len(pods))]
        return [
            [by_group[g].pop() for g in np.repeat(np.arange(len(pods)), here).tolist()]
            for here in found.counts.T
        ]

    def _finish(self, left: _Left) -> list[list[int]] | None:
        nodes = len(self._room) - left.node
        if nodes == 1:
            return [left.pods.tolist()]
        for chosen in self._sets(left, tuning.BRANCHES.get(nodes, 1)):
            rest = self._finish(self._without(left, chosen))
            if rest is not None:
                return [chosen, *rest]
            if self.work >= self._budget:
                break
        return None

    def _without(self, left: _Left, chosen: list[int]) -> _Left:
        waste = self._room[left.node] - self._size[chosen].sum(axis=0)
        pods = left.pods[np.isin(left.pods, chosen, invert=True)]
        return _Left(pods, left.node + 1, left.slack - waste)

    def _sets(self, left: _Left, tries: int) -> Iterator[list[int]]:
        """Sets that fill a node and waste no more than there is to waste, the best first."""
        self.work += tuning.NODE_SETS + len(left.pods) // 4
        if self.work >= self._budget:
            return
        room = self._room[left.node]
        fits = np.flatnonzero((self._size[left.pods] <= room).all(axis=1))
        if not len(fits):
            if (room <= left.slack).all():
                yield []
            return
        largest = int(left.pods[fits[0]])
        others = left.pods[fits[1:]]
        room = room - self._size[largest]
        each = -(-len(left.pods) // (2 * (len(self._room) - left.node)))
        one, other = self._halves(others, room, each)
        first, second, score = self._pairs(one, other, room, left)
        for i in np.argsort(score, kind="stable")[:tries].tolist():
            yield [largest, *one.pods_of(first[i]), *other.pods_of(second[i])]

    def _halves(self, pods: IntArray, room: IntArray, each: int) -> tuple[_Half, _Half]:
        if len(pods) <= tuning.SAMPLE_PODS:
            return self._half(pods[::2], room, len(pods)), self._half(pods[1::2], room, len(pods))
        sample = pods[self._random.permutation(len(pods))[: 2 * tuning.HALF_SAMPLE]]
        return self._half(sample[::2], room, each), self._half(sample[1::2], room, each)

    def _half(self, pods: IntArray, room: IntArray, most: int) -> _Half:
        """The sets of up to so many of the first pods, of as many pods as there may be rows for."""
        pods = pods[: _pods_for(self._care.rows, len(pods), most)]
        members = _subsets(len(pods), min(most, len(pods)))
        sizes = np.append(self._size[pods], np.zeros((1, len(room)), np.int64), axis=0)
        sums = np.zeros((len(members), len(room)), np.int64)
        for column in members.T:
            sums += sizes[column]
        rows = np.flatnonzero((sums <= room).all(axis=1))
        self.work += len(sums)
        members = members[rows]
        return _Half(pods.tolist(), sums[rows], (members < len(pods)).sum(axis=1), members)

    def _pairs(
        self, one: _Half, other: _Half, room: IntArray, left: _Left
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Rows of both halves that fill the room together, and how bad that is."""
        nodes = len(self._room) - left.node
        tight = int((left.slack / np.maximum(room, 1)).argmin())
        order = np.argsort(other.sums[:, tight], kind="stable")
        sums = other.sums[order]
        missing = room[tight] - one.sums[:, tight]
        high = np.searchsorted(sums[:, tight], missing, side="right")
        spare = int(left.slack[tight])
        if nodes > 3:
            spare = min(spare, int(tuning.WASTE_SHARES * spare / nodes) + 1)
        low = np.searchsorted(sums[:, tight], missing - spare, side="left")
        if nodes > 2:
            low = np.maximum(low, high - max(12, int(tuning.HALF_WINDOW * self._care.rows)))
        many = high - low
        first = np.repeat(np.arange(len(many)), many)
        second = np.arange(len(first)) + np.repeat(low - (np.cumsum(many) - many), many)
        waste = room - one.sums[first] - sums[second]
        good = ((waste >= 0) & (waste <= left.slack)).all(axis=1)
        self.work += len(first)
        first, second, waste = first[good], order[second[good]], waste[good]
        score = (waste / (left.slack + 1)).sum(axis=1) * nodes
        if nodes > 3:
            score += one.many[first] + other.many[second]
        return first, second, score
