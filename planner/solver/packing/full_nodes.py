"""A proof that not everything fits: with little room to spare, each node has to be nearly full.

If all pods were placed, no node could waste more than is left over in all. So for every node there
has to be a set of pods that fills it up to that, and every pod has to be in such a set. Sets are
looked through in two halves, sums of one half being searched in the sorted sums of the other. None
for some node, or none with some pod: one pod stays out.
"""

from __future__ import annotations

from math import comb

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.question import Stock


def one_stays_out(stock: Stock, rank: int, sets: int) -> bool:
    """Whether it is certain that the pods down to a rank don't all fit; False proves nothing.

    At the most so many sets are looked at; nothing is begun that would most likely take more.
    """
    pods = np.where(stock.rank <= rank, stock.total, stock.least)
    waste = stock.room.sum(axis=0) - stock.size.T @ pods
    if (waste < 0).any():
        return True
    rooms = np.unique(stock.room, axis=0)
    if not pods.any():
        return False
    sets //= 2 * len(rooms) - 1
    if _guess(pods, len(stock.room)) > sets:
        return False
    largest = rooms.max(axis=0)
    tight = waste < largest
    if not tight.any():
        return False
    shares = (stock.size / np.maximum(largest, 1))[:, tight]
    large = int(np.where(pods > 0, shares.min(axis=1), -1).argmax())
    others = pods.copy()
    others[large] -= 1
    beside = rooms - stock.size[large]
    if all(_unfillable(stock.size, others, room, waste, sets) for room in beside):
        return True
    tried = rooms if len(rooms) > 1 else rooms[:0]
    return any(_unfillable(stock.size, pods, room, waste, sets) for room in tried)


def _guess(pods: IntArray, nodes: int) -> int:
    """About how many sets of each half fit beside the largest pod."""
    half = -(-int((pods > 0).sum()) // 2)
    each = 3 * int(pods.sum()) // (4 * nodes)
    return comb(half + each, each)


def _unfillable(size: IntArray, pods: IntArray, room: IntArray, waste: IntArray, sets: int) -> bool:
    """Whether no set of pods fills this room."""
    if (room < 0).any():
        return True
    if (waste >= room).all():
        return False
    scarce = np.flatnonzero((pods @ size > room) | (waste < room))
    size, room, waste = size[:, scarce], room[scarce], waste[scarce]
    halves = _halves(size, pods, room, sets)
    if halves is None:
        return False
    one, other = halves
    tight = int((waste / np.maximum(room, 1)).argmin())
    other = other[np.argsort(other[:, tight], kind="stable")]
    missing = room[tight] - one[:, tight]
    low = np.searchsorted(other[:, tight], missing - waste[tight], side="left")
    many = np.searchsorted(other[:, tight], missing, side="right") - low
    if many.sum() > tuning.MOST_PAIRS:
        return False
    left = np.repeat(np.arange(len(one)), many)
    right = np.arange(len(left)) - np.repeat(np.cumsum(many) - many, many) + low[left]
    load = one[left] + other[right]
    return not ((load <= room) & (load >= room - waste)).all(axis=1).any()


def _halves(
    size: IntArray, pods: IntArray, room: IntArray, most: int
) -> tuple[IntArray, IntArray] | None:
    """What sets of pods that fit on the node request, for two halves of the groups.

    A group comes to the half that has fewer sets. None if more than so many are looked at.
    """
    one = other = np.zeros((1, size.shape[1]), np.int64)
    order = np.argsort(-size[:, 0], kind="stable")
    for group in order[pods[order] > 0].tolist():
        if len(one) > len(other):
            one, other = other, one
        found = [one]
        for _ in range(int(pods[group])):
            more = found[-1] + size[group]
            most -= len(more)
            if most < 0:
                return None
            found.append(more[(more <= room).all(axis=1)])
        one = np.concatenate(found)
    return one, other
