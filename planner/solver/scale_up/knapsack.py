"""The most valuable pods for one node: what column generation asks for.

Quickly, by value for the share of the node that a pod takes, under several weights of resources;
and exactly, by CP-SAT, whose bound is a whole number that holds even if its time is over.

A bound that takes no search: whatever fits in all resources fits in any weighted sum of them, and
for any price x of a unit of that sum, pods are worth no more than

    x total + sum over groups of  cap x max(0, value - x weight)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.engine import improve
from planner.solver.model.linear import Linear
from planner.solver.model.program import FloatArray

RATIOS = 5
"""Into how many parts the range between two resources alone is cut."""
WHOLE = 1 << 60
"""What all of a node weighs, about."""
FINE = 100
"""Bits behind the point of the price of a weight."""
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
class Node:
    """What one node of a place can take."""

    request: IntArray
    free: IntArray
    cap: IntArray

    def at_most(self, values: IntArray) -> int:
        """What no pods of a node are worth more than, if pods could be parted."""
        chosen = np.flatnonzero((values > 0) & (self.cap > 0))
        used = np.flatnonzero((self.request[chosen] > 0).any(axis=0) & (self.free > 0))
        share = self.request[np.ix_(chosen, used)] / self.free[used]
        worth, limit = values[chosen].astype(float), self.cap[chosen]
        best = float("inf"), np.zeros(len(used)), 0.0
        for mix in _mixes(len(used)):
            weight = np.maximum(share @ mix, 1e-9)
            rate = worth / weight
            order = np.argsort(-rate, kind="stable")
            taken = np.minimum(np.cumsum((weight * limit)[order]), 1.0)
            total = float((np.diff(taken, prepend=0.0) * rate[order]).sum())
            last = order[min(int(np.searchsorted(taken, 1.0)), len(order) - 1)] if total else 0
            best = min(best, (total, mix, float(rate[last])), key=lambda each: each[0])
        return self._proven(chosen.tolist(), values, used.tolist(), best[1], best[2])

    def _proven(
        self, chosen: list[int], values: IntArray, used: list[int], mix: FloatArray, price: float
    ) -> int:
        """The bound in whole numbers, for these weights and this price."""
        unit = {
            r: int(part * WHOLE) // int(self.free[r]) for r, part in zip(used, mix, strict=True)
        }
        x = int(price * (1 << FINE) / WHOLE)
        total = x * sum(n * int(self.free[r]) for r, n in unit.items())
        for group in chosen:
            weight = sum(n * int(self.request[group, r]) for r, n in unit.items())
            total += int(self.cap[group]) * max(0, (int(values[group]) << FINE) - x * weight)
        return (total >> FINE) + 1

    def quickly(self, values: IntArray) -> set[Pods]:
        """Some good ways to fill the node."""
        chosen = np.flatnonzero((values > 0) & (self.cap > 0))
        used = np.flatnonzero((self.request[chosen] > 0).any(axis=0) & (self.free > 0))
        share = self.request[np.ix_(chosen, used)] / self.free[used]
        found: set[Pods] = set()
        for mix in _mixes(len(used)):
            rate = values[chosen] / np.maximum(share @ mix, 1e-9)
            order = chosen[np.argsort(-rate, kind="stable")]
            found.add(self._greedy(order.tolist(), used))
        return found

    def _greedy(self, order: list[int], used: IntArray) -> Pods:
        left, pods = self.free[used].tolist(), list[tuple[int, int]]()
        requests = self.request[:, used].tolist()
        for group in order:
            fits = int(self.cap[group])
            for have, need in zip(left, requests[group], strict=True):
                if need:
                    fits = min(fits, have // need)
            if fits:
                pods.append((group, fits))
                taken = zip(left, requests[group], strict=True)
                left = [have - fits * need for have, need in taken]
        return tuple(sorted(pods))

    def exactly(self, values: IntArray) -> Filled:
        """The most valuable pods, with a proof."""
        chosen = np.flatnonzero((values > 0) & (self.cap > 0)).tolist()
        if not chosen:
            return Filled((), 0, 0, 0.0)
        cp = cp_model.CpModel()
        for group in chosen:
            cp.proto.variables.add().domain.extend((0, int(self.cap[group])))
        for resource, free in enumerate(self.free.tolist()):
            asked = self.request[chosen, resource].tolist()
            unit = math.gcd(*asked)
            if unit:
                row = cp.proto.constraints.add()
                row.linear.vars.extend(range(len(chosen)))
                row.linear.coeffs.extend([n // unit for n in asked])
                row.linear.domain.extend((0, free // unit))
        worth = [int(values[group]) for group in chosen]
        cost = Linear(list(range(len(chosen))), [-n for n in worth])
        found = improve(cp, cost, (), work=WORK, seed=0)
        if found.interrupted:
            raise KeyboardInterrupt
        counts = found.values or [0] * len(chosen)
        pods = tuple((g, n) for g, n in zip(chosen, counts, strict=True) if n)
        value = sum(n * worth[i] for i, n in enumerate(counts))
        return Filled(pods, value, max(value, -found.bound), found.time)


def value_of(pods: Pods, values: IntArray) -> int:
    """What pods are worth."""
    return sum(n * int(values[group]) for group, n in pods)


def _mixes(resources: int) -> list[FloatArray]:
    """Shares of the resources: each alone, and every pair in several ratios."""
    found = [np.eye(resources)[i] for i in range(resources)]
    for i in range(resources):
        for j in range(i):
            for part in range(1, RATIOS):
                mix = np.zeros(resources)
                mix[i], mix[j] = part / RATIOS, 1 - part / RATIOS
                found.append(mix)
    return found
