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
from planner.solver.packing.room_bounds import room_to_waste

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
    waste = room_to_waste(stock, goals)
    if (waste < 0).any():
        return Refutation(certain=True, work=0)
    kept = stock.placed(stock.least[:, None])
    pods = sum(max(pair) for pair in zip_longest(goals, kept, fillvalue=0))
    nodes, room = len(stock.room), stock.room[0]
    mean = pods // nodes
    there = np.where(stock.rank < len(goals), stock.total, stock.least)
    groups, tight = np.flatnonzero(there > 0), _tightest(waste, room)
    work = halves(len(groups), mean)
    if not mean or not len(tight) or work > most:
        return Refutation(certain=False, work=0)
    size, there = stock.size[np.ix_(groups, tight)], there[groups]
    room, waste = room[tight], waste[tight]
    if _sets_abound(size, waste, work):
        return Refutation(certain=False, work=0)
    found = full_sets(size, there, room, waste, mean)
    if found is None:
        return Refutation(certain=False, work=work)
    lacking = (mean + 1) * nodes - pods
    return Refutation(_waste_too_much(found, mean, lacking, there, waste), work)


def _tightest(waste: IntArray, room: IntArray) -> IntArray:
    """At the most two resources of which a node has to be nearly full, the tightest first."""
    share = waste / np.maximum(room, 1)
    order = np.argsort(share, kind="stable")
    return order[share[order] < 1][:2]


def _sets_abound(size: IntArray, waste: IntArray, halves: int) -> bool:
    """Whether there are most likely far too many sets, if a third of all halves is of use."""
    pairs = (halves // 3) ** 2 * (int(waste[0]) + 1) // (int(size[:, 0].max()) + 1)
    return pairs > tuning.PAIRS_HOPE * tuning.HALF_PAIRS


def _waste_too_much(
    found: FullSets, mean: int, lacking: int, there: IntArray, waste: IntArray
) -> bool:
    """Whether nodes can't be so sparse in all, for what that would waste.

    Beside `mean + 1` pods on each node so many are lacking in all, and only nodes with a set that
    was found lack any. Of each resource, the sets that waste least for each pod that they lack are
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
