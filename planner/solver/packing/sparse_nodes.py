"""A proof that so many pods don't fit: nodes with few of them would waste too much.

With a number of pods on nodes that are alike, nodes lack some of one more than the mean each, and
only nodes with no more pods than the mean lack any. No node wastes more than all of them together
may. So there have to be sets of few pods that fill a node up to that. These are few where little
may be wasted, and all of them are looked at: where no choice of them lacks as many pods with the
pods there are and the room there is to waste, so many pods don't fit.

Of sets with as many pods as the mean there are many. Those that waste more than a part of all that
may be wasted are not looked for: they count as if they took no pods, for the waste that they cost.
The more nodes there are, the smaller is the part: then few nodes can waste that much.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.nearly_full import FullSets, NearlyFull
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import room_to_waste


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
    if not mean or not len(tight):
        return Refutation(certain=False, work=0)
    size, there = stock.size[np.ix_(groups, tight)], there[groups]
    room, waste = room[tight], waste[tight]
    search = NearlyFull(size, there, room, mean, most)
    fewer = search.sets(waste, mean - 1, tuning.MOST_FULL_SETS)
    part = waste // max(1, nodes // tuning.NODES_FOR_PART)
    as_many = None if fewer is None else search.sets(part, mean, tuning.MOST_FULL_SETS)
    if fewer is None or as_many is None:
        return Refutation(certain=False, work=search.done)
    work = search.done + tuning.PRICED_SET_HALVES * (len(fewer.members) + len(as_many.members))
    if work > most:
        return Refutation(certain=False, work=search.done)
    # MathOpt takes a while to import: it is asked only where there is hope.
    from planner.solver.packing.sparse_prices import Sets, lack_less

    sets = Sets(*_joined(fewer, as_many, part, waste, mean, len(there)))
    lacking = (mean + 1) * nodes - pods
    return Refutation(lack_less(sets, there, waste, lacking), work)


def _tightest(waste: IntArray, room: IntArray) -> IntArray:
    """At the most two resources of which a node has to be nearly full, the tightest first."""
    share = waste / np.maximum(room, 1)
    order = np.argsort(share, kind="stable")
    return order[share[order] < 1][:2]


def _joined(
    fewer: FullSets, as_many: FullSets, part: IntArray, waste: IntArray, mean: int, groups: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Groups, waste and lack of all sets, with one for all that waste more than the part."""
    beyond = np.diag(part + 1)[part + 1 <= waste]
    members = [np.full((len(beyond), mean), groups)]
    for each in (fewer, as_many):
        wide = np.full((len(each.members), mean), groups)
        wide[:, : each.members.shape[1]] = each.members[:, :mean]
        members.append(wide)
    joined = np.concatenate(members)
    lack = mean + 1 - (joined < groups).sum(axis=1)
    lack[: len(beyond)] = 1
    return joined, np.concatenate([beyond, fewer.waste, as_many.waste]), lack
