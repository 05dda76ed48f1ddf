"""A proof that so many pods don't fit: nodes with few of them would waste too much.

With a number of pods on nodes that are alike, some node holds no more than the mean, and no node
wastes more than all of them together may. So there have to be sets of few pods that fill a node up
to that. These are few where little may be wasted, and all of them are looked at: if they leave too
much room for as many as there would have to be, the pods don't fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from math import lcm

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.nearly_full import FullSets, full_sets, halves
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import mixtures, room_to_waste, waste_by_weights

_LARGEST = 2**44
"""Of larger nodes, sums of mixtures would not be exact."""


Offer = tuple[int, int, int]
"""What a set wastes, how many pods it lacks, and how often it can be taken."""


@dataclass(frozen=True)
class Refutation:
    """Whether it is certain that so many pods don't fit; the work is counted in halves of sets."""

    certain: bool
    work: int


def too_many(stock: Stock, goals: tuple[int, ...], most: int) -> Refutation:
    """Whether so many pods of the first ranks don't fit on nodes that are alike.

    Nothing is begun that takes more work than given. Where more pods fit, so many do: those that
    don't have to stay can be left out.
    """
    if (room_to_waste(stock, goals) < 0).any():
        return Refutation(certain=True, work=0)
    kept = stock.placed(stock.least[:, None])
    pods = sum(max(pair) for pair in zip_longest(goals, kept, fillvalue=0))
    nodes = len(stock.room)
    mean = pods // nodes
    there = np.where(stock.rank < len(goals), stock.total, stock.least)
    groups = np.flatnonzero(there > 0)
    weighed = _weighed(stock, goals, groups)
    work = halves(len(groups), mean)
    if not mean or weighed is None or work > most or weighed.sets_abound(work):
        return Refutation(certain=False, work=0)
    found = weighed.sets(there[groups], mean)
    if found is None:
        return Refutation(certain=False, work=work)
    lacking = (mean + 1) * nodes - pods
    return Refutation(_waste_too_much(found, mean, lacking, there[groups], weighed.waste), work)


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Two resources in several mixtures, `size[g, m]`, the tightest first, and another one second.

    What nodes may waste is less for a mixture than for each of its resources: other pods stay out
    to save the one than to save the other.
    """

    size: IntArray
    room: IntArray
    waste: IntArray

    def sets_abound(self, halves: int) -> bool:
        """Whether there are most likely far too many sets, if a third of all halves is of use."""
        pairs = (halves // 3) ** 2 * (int(self.waste[0]) + 1) // (int(self.size[:, 0].max()) + 1)
        return pairs > tuning.PAIRS_HOPE * tuning.HALF_PAIRS

    def sets(self, there: IntArray, most: int) -> FullSets | None:
        """Sets of few pods that waste no more of anything than may be."""
        two = (self.size[:, :2], there, self.room[:2], self.waste[:2])
        found = full_sets(*two, most)
        if found is None:
            return None
        waste = self.room - found.pods @ self.size
        good = (waste <= self.waste).all(axis=1)
        return FullSets(found.pods[good], waste[good])


def _weighed(stock: Stock, goals: tuple[int, ...], groups: IntArray) -> _Weighed | None:
    """The two resources that are most in demand; None if nodes may stay empty for all they say."""
    room = stock.room[0]
    order = np.argsort(room_to_waste(stock, goals) / np.maximum(room, 1), kind="stable")[:2]
    unit = int(room[order].max(initial=1))
    weights = np.zeros((len(mixtures(len(order))), len(room)), np.int64)
    weights[:, order] = np.array(mixtures(len(order))) * (unit // np.maximum(room[order], 1))
    weights //= np.maximum(np.gcd.reduce(weights, axis=1), 1)[:, None]
    if unit > _LARGEST:
        return None
    waste = waste_by_weights(stock, goals, weights)
    share = waste / np.maximum(weights @ room, 1)
    tight = int(share.argmin())
    if share[tight] >= 1:
        return None
    second = 0 if tight else len(order) - 1
    rest = [m for m in range(len(weights)) if m not in (tight, second)]
    weights = weights[[tight, second, *rest]]
    return _Weighed(stock.size[groups] @ weights.T, weights @ room, waste[[tight, second, *rest]])


def _waste_too_much(
    found: FullSets, mean: int, lacking: int, there: IntArray, waste: IntArray
) -> bool:
    """Whether nodes can't be so sparse in all, for what that would waste.

    Beside `mean + 1` pods on each node so many are lacking in all, and only nodes with a set that
    was found lack any. By each mixture, the sets that waste least for each pod that they lack are
    taken first, each as often as there are pods for it, the last one in part.
    """
    lack = (mean + 1 - found.pods.sum(axis=1)).tolist()
    times = np.where(found.pods > 0, there // np.maximum(found.pods, 1), there.sum()).min(axis=1)
    for wasted, left in zip(found.waste.T.tolist(), waste.tolist(), strict=True):
        if _most_lacking(zip(wasted, lack, times.tolist(), strict=True), left) < lacking:
            return True
    return False


def _most_lacking(offers: Iterable[Offer], left: int) -> int:
    """How many pods nodes can lack for this; the last offer counts in part."""
    kept = list(offers)
    every = lcm(*(pods for _, pods, _ in kept))
    total = 0
    for cost, pods, times in sorted(kept, key=lambda each: each[0] * (every // each[1])):
        if cost * times > left:
            return total + pods * left // cost
        total, left = total + pods * times, left - cost * times
    return total
