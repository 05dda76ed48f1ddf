"""Walks: a pod without a node takes the place of a smaller one, which then looks for one itself.

A walk ends well where the pod in hand fits somewhere: one more is placed, and each step of the walk
was one move. It ends well, too, with a pod of a lower priority in hand, if that may be left out.
Otherwise everything goes back, unless the pod in hand is larger than the one the walk began with
and of its priority: as many are placed, with more room left.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.question import Stock

NOWHERE = -1


class ExchangeWalks:
    """A packing, pod by pod, that walks change. `steps` is the work done so far."""

    def __init__(self, stock: Stock, counts: IntArray, seed: int) -> None:
        self._stock = stock
        self._group = np.repeat(np.arange(len(stock.groups)), stock.total)
        self._at = np.full(len(self._group), NOWHERE)
        first = np.cumsum(stock.total) - stock.total
        for g in range(len(stock.groups)):
            nodes = np.repeat(np.arange(counts.shape[1]), counts[g])
            self._at[first[g] : first[g] + len(nodes)] = nodes
        self._size = stock.size[self._group]
        self._rank = stock.rank[self._group]
        self._free = stock.room - counts.T @ stock.size
        self._scale = 1.0 / np.maximum(stock.room.max(axis=0), 1)
        self._weight = (self._size * self._scale).sum(axis=1)
        self._spare = stock.total - stock.least - (stock.total - counts.sum(axis=1))
        self._random = np.random.default_rng(seed)
        self._noise = tuning.NOISE
        self.steps = 0

    @property
    def counts(self) -> IntArray:
        """The packing as counts of groups on nodes."""
        found = np.zeros_like(self._stock.now)
        placed = self._at >= 0
        np.add.at(found, (self._group[placed], self._at[placed]), 1)
        return found

    @property
    def complete(self) -> bool:
        """Whether every pod has a node."""
        return bool((self._at >= 0).all())

    def round(self, *, small_first: bool, patient: bool, steps: int) -> None:
        """A walk for each pod without a node, by priority; not many more than so many steps."""
        until = self.steps + steps
        order = np.lexsort((self._weight if small_first else -self._weight, self._rank))
        for pod in order[self._at[order] < 0].tolist():
            if self.steps >= until:
                return
            if self._at[pod] < 0 and not self._walk(pod, patient=patient):
                self._displace(pod)

    def shake(self) -> None:
        """Let chance have more of a say from now on."""
        self._noise = min(tuning.MOST_NOISE, self._noise + tuning.MORE_NOISE)

    def _walk(self, pod: int, *, patient: bool) -> bool:
        hand, taken = pod, np.zeros(len(self._at), np.bool_)
        log: list[tuple[int, int]] = []
        for _ in range(tuning.LONGEST_WALK):
            if self._land(hand):
                self._spare[self._group[pod]] += 1
                return True
            chosen = self._next(hand, taken, self._rank <= self._rank[pod])
            if chosen is None:
                break
            self._exchange(hand, chosen)
            log.append((hand, chosen))
            taken[hand] = True
            hand = chosen
        if patient and self._may_stay_out(pod, hand):
            self._spare[self._group[pod]] += 1
            self._spare[self._group[hand]] -= 1
            return False
        for landed, left in reversed(log):
            self._exchange(left, landed)
        return False

    def _may_stay_out(self, pod: int, hand: int) -> bool:
        """Whether another pod may wait in the place of the one that a walk began with."""
        return bool(
            self._rank[hand] == self._rank[pod]
            and self._weight[hand] > self._weight[pod]
            and self._spare[self._group[hand]] > 0
        )

    def _land(self, pod: int) -> bool:
        """Onto the node with the least room that has enough."""
        self.steps += 1
        size = self._size[pod]
        left = self._free - size
        fits = ((left >= 0) | (size == 0)).all(axis=1) & self._stock.landing[self._group[pod]]
        nodes = np.flatnonzero(fits)
        if not len(nodes):
            return False
        node = int(nodes[(left[nodes] * self._scale).sum(axis=1).argmin()])
        self._at[pod] = node
        self._free[node] -= size
        return True

    def _open(self, hand: int, among: BoolArray) -> tuple[IntArray, IntArray]:
        """Pods whose place the one in hand could take, and the room that would be left there."""
        pods = np.flatnonzero(among & (self._at >= 0))
        nodes = self._at[pods]
        size = self._size[hand]
        left = self._free[nodes] + self._size[pods] - size
        fits = ((left >= 0) | (size == 0)).all(axis=1)
        fits &= self._stock.landing[self._group[hand]][nodes]
        return pods[fits], left[fits]

    def _next(self, hand: int, taken: BoolArray, solid: BoolArray) -> int | None:
        """The smallest pod to exchange with, of those not below the walk's priority."""
        lighter = self._weight < self._weight[hand] * tuning.HAND_GROWTH
        pods, left = self._open(hand, solid & lighter & ~taken)
        if not len(pods):
            return None
        shares = left * self._scale
        uneven = shares.max(axis=1) - shares.min(axis=1)
        noise = self._noise * self._random.random(len(pods))
        return int(pods[(self._weight[pods] + tuning.UNEVEN_WEIGHT * uneven + noise).argmin()])

    def _exchange(self, landing: int, leaving: int) -> None:
        node = self._at[leaving]
        self._at[landing], self._at[leaving] = node, NOWHERE
        self._free[node] += self._size[leaving] - self._size[landing]

    def _displace(self, pod: int) -> None:
        """Take the place of a pod of the lowest priority that may lose it."""
        below = (self._rank > self._rank[pod]) & (self._spare[self._group] > 0)
        pods, _ = self._open(pod, below)
        if len(pods):
            order = np.lexsort((self._weight[pods], -self._rank[pods]))
            chosen = int(pods[order[0]])
            self._exchange(pod, chosen)
            self._spare[self._group[pod]] += 1
            self._spare[self._group[chosen]] -= 1
