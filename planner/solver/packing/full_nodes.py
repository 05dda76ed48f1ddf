"""A proof that not everything fits: with little room to spare, each node has to be nearly full.

If all pods were placed, no node could waste more than is left over in all. So for every node there
has to be a set of pods that fills it up to that, and every pod has to be in such a set. Sets are
looked through in two halves, sums of one half being searched in the sorted sums of the other. None
for some node, or none with some pod: one pod stays out.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.question import Stock


def one_stays_out(stock: Stock, rank: int, sets: int) -> bool:
    """Whether it is certain that the pods down to a rank don't all fit; False proves nothing.

    At the most so many sets of each half are kept.
    """
    pods = np.where(stock.rank <= rank, stock.total, stock.least)
    waste = stock.room.sum(axis=0) - stock.size.T @ pods
    if (waste < 0).any():
        return True
    rooms = np.unique(stock.room, axis=0)
    if not pods.any():
        return False
    shares = (stock.size / np.maximum(rooms.max(axis=0), 1))[:, stock.size.T @ pods > 0]
    large = int(np.where(pods > 0, shares.min(axis=1), -1).argmax())
    others = pods.copy()
    others[large] -= 1
    beside = rooms - stock.size[large]
    if all(_unfillable(stock.size, others, room, waste, sets) for room in beside):
        return True
    tried = rooms if len(rooms) > 1 else rooms[:0]
    return any(_unfillable(stock.size, pods, room, waste, sets) for room in tried)


def _unfillable(size: IntArray, pods: IntArray, room: IntArray, waste: IntArray, sets: int) -> bool:
    """Whether no set of pods fills this room."""
    if (room < 0).any():
        return True
    if (waste >= room).all():
        return False
    order = np.argsort(-size[:, 0], kind="stable")
    order = order[pods[order] > 0]
    one = _sums(size, pods, order[::2], room, sets)
    other = None if one is None else _sums(size, pods, order[1::2], room, sets)
    if one is None or other is None:
        return False
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


def _sums(
    size: IntArray, pods: IntArray, groups: IntArray, room: IntArray, most: int
) -> IntArray | None:
    """What the sets of pods of these groups that fit on the node request; None if too many."""
    sums = np.zeros((1, size.shape[1]), np.int64)
    for group in groups.tolist():
        counts = np.arange(int(pods[group]) + 1)
        more = (sums[:, None] + counts[:, None] * size[group]).reshape(-1, size.shape[1])
        sums = more[(more <= room).all(axis=1)]
        if len(sums) > most:
            return None
    return sums
