"""The most valuable pods for single nodes: what column generation over patterns asks for.

Quickly, by value for the share of the node that a pod takes, under several weights of resources;
and exactly, by CP-SAT, whose bound is a whole number that holds even if its time is over.

A bound that takes no search: for any prices x[r] of a unit of each resource, pods are worth no more
than

    sum over resources of  x[r] free[r]
  + sum over groups of     cap x max(0, value - sum over resources of x[r] request[r])

The best prices are looked for in floating point; the sum itself is made in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.engine import improve
from planner.solver.model.linear import Linear
from planner.solver.model.program import FloatArray

RATIOS = 5
"""Into how many parts the range between two resources alone is cut."""
NEARER = (0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.03, 0.03, 0.02, 0.01, 0.01, 0.005, 0.003, 0.001, 0.001)
"""Steps from the best weights towards a single resource, one after the other."""
FINE = 60
"""Bits behind the point of the price of a unit."""
AT_ONCE = 100_000
"""Nodes times groups times weights for which pods are chosen at the same time."""
WORK = 0.1
"""CP-SAT's deterministic seconds for one node."""

Pods = tuple[tuple[int, int], ...]
"""(number of the group, pods)."""


@dataclass(frozen=True)
class Filled:
    """The best pods that were found; no pods of a node are worth more than `most`."""

    pods: Pods
    value: int
    most: int
    work: float
    """What it took, in CP-SAT's deterministic seconds."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """What nodes can take: `request[g, r]`, `free[n, r]`, `cap[n, g]`.

    All `values[n, g]` are those of a pod on a node; pods of value 0 or less are left out.
    """

    request: IntArray
    free: IntArray
    cap: IntArray

    def some(self, numbers: list[int]) -> Nodes:
        """Some of the nodes."""
        return Nodes(self.request, self.free[numbers], self.cap[numbers])

    def at_most(self, values: IntArray) -> list[int]:
        """What no pods of each node are worth more than, if pods could be parted."""
        x = np.array(self.unit_prices(values), object).reshape(self.free.shape)
        room = (x * self.free.astype(object)).sum(axis=1)
        left = (values.astype(object) << FINE) - x @ self.request.T.astype(object)
        gained = (self.cap.astype(object) * np.maximum(left, 0)).sum(axis=1)
        return [(int(total) >> FINE) + 1 for total in room + gained]

    def unit_prices(self, values: IntArray) -> list[list[int]]:
        """Prices of a unit of each resource on each node that make that bound low.

        They have `FINE` bits behind the point.
        """
        share, worth = self._share(), np.where(self.cap > 0, np.maximum(values, 0), 0).astype(float)
        best = np.full(len(self.free), np.inf)
        mixes = np.zeros((len(self.free), self.request.shape[1]))
        prices = np.zeros(len(self.free))

        def look(tried: FloatArray) -> None:
            total, price = self._parted(share, worth, tried)
            better = total < best
            best[better], prices[better] = total[better], price[better]
            mixes[better] = tried[better]

        for mix in self._mixes():
            look(np.broadcast_to(mix, mixes.shape))
        for step in NEARER:
            for towards in np.eye(mixes.shape[1])[self._asked()]:
                look((1 - step) * mixes + step * towards)
        found = mixes * prices[:, None] / np.maximum(self.free, 1)
        return [[int(price * (1 << FINE)) for price in row] for row in found.tolist()]

    def _share(self) -> FloatArray:
        """`share[n, g, r]`: the part of a node's room that a pod takes."""
        found: FloatArray = self.request[None, :, :] / np.maximum(self.free, 1)[:, None, :]
        return found

    def _parted(
        self, share: FloatArray, worth: FloatArray, mix: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The most value if room is one sum of resources, and the price of all of that room."""
        weight = np.maximum(np.einsum("ngr,nr->ng", share, mix), 1e-9)
        rate = worth / weight
        order = np.argsort(-rate, axis=1, kind="stable")
        sorted_rate = np.take_along_axis(rate, order, axis=1)
        size = np.take_along_axis(weight * self.cap, order, axis=1)
        taken = np.minimum(np.cumsum(size, axis=1), 1.0)
        total = (np.diff(taken, prepend=0.0, axis=1) * sorted_rate).sum(axis=1)
        last = np.minimum((taken < 1.0).sum(axis=1), rate.shape[1] - 1)
        full = taken[:, -1] >= 1.0
        price = np.where(full, np.take_along_axis(sorted_rate, last[:, None], axis=1)[:, 0], 0.0)
        return total, price

    def quickly(self, values: IntArray) -> list[set[Pods]]:
        """Some good ways to fill each node."""
        share, mixes, found = self._share(), self._mixes(), [set[Pods]() for _ in self.free]
        each = max(1, AT_ONCE // max(1, self.cap.size))
        for begin in range(0, len(mixes), each):
            some = mixes[begin : begin + each]
            rates = [values / np.maximum(share @ mix, 1e-9) for mix in some]
            for at, pods in enumerate(self._greedy(np.concatenate(rates))):
                found[at % len(found)].add(pods)
        return found

    def _greedy(self, rate: FloatArray) -> Iterator[Pods]:
        """As many as fit of the group with the highest rate, then of the next.

        There may be several rates for each node, those of all nodes after one another.
        """
        nodes = np.arange(len(rate))
        times = len(rate) // max(1, len(self.free))
        order = np.argsort(-rate, axis=1, kind="stable")
        left = np.tile(self.free, (times, 1))
        cap = np.where(rate > 0, np.tile(self.cap, (times, 1)), 0)
        taken = np.zeros_like(cap)
        for group in order[:, : int((cap > 0).sum(axis=1).max(initial=0))].T:
            need = self.request[group]
            fits = np.where(need > 0, left // np.maximum(need, 1), cap[nodes, group][:, None])
            many = np.minimum(cap[nodes, group], fits.min(axis=1))
            taken[nodes, group] = many
            left -= many[:, None] * need
        for row in taken:
            chosen = np.flatnonzero(row)
            yield tuple(zip(chosen.tolist(), row[chosen].tolist(), strict=True))

    def exactly(self, node: int, values: IntArray) -> Filled:
        """The most valuable pods of one node, with a proof."""
        cap, free = self.cap[node], self.free[node]
        chosen = np.flatnonzero((values > 0) & (cap > 0)).tolist()
        if not chosen:
            return Filled((), 0, 0, 0.0)
        cp = cp_model.CpModel()
        for group in chosen:
            cp.proto.variables.add().domain.extend((0, int(cap[group])))
        for resource, have in enumerate(free.tolist()):
            asked = self.request[chosen, resource].tolist()
            unit = math.gcd(*asked)
            if unit:
                row = cp.proto.constraints.add()
                row.linear.vars.extend(range(len(chosen)))
                row.linear.coeffs.extend([n // unit for n in asked])
                row.linear.domain.extend((0, have // unit))
        worth = [int(values[group]) for group in chosen]
        cost = Linear(list(range(len(chosen))), [-n for n in worth])
        found = improve(cp, cost, (), work=WORK, seed=0)
        if found.interrupted:
            raise KeyboardInterrupt
        if found.values is None:
            return Filled(
                (), 0, sum(int(cap[g]) * n for g, n in zip(chosen, worth, strict=True)), found.time
            )
        counts = found.values
        pods = tuple((g, n) for g, n in zip(chosen, counts, strict=True) if n)
        value = sum(n * worth[i] for i, n in enumerate(counts))
        return Filled(pods, value, max(value, -found.bound), found.time)

    def _asked(self) -> IntArray:
        """Resources that somebody requests."""
        found: IntArray = np.flatnonzero((self.request > 0).any(axis=0))
        return found

    def _mixes(self) -> list[FloatArray]:
        """Shares of the resources: each alone, and every pair in several ratios."""
        asked, unit = self._asked(), np.eye(self.request.shape[1])
        found = [unit[i] for i in asked]
        for i in asked:
            for j in asked[asked < i]:
                parts = (part / RATIOS for part in range(1, RATIOS))
                found += [part * unit[i] + (1 - part) * unit[j] for part in parts]
        return found


def value_of(pods: Pods, values: IntArray) -> int:
    """What pods are worth."""
    return sum(n * int(values[group]) for group, n in pods)
