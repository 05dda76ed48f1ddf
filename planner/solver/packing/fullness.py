"""Why not everything fits: where little room would be left over, each node has to be nearly full.

If all pods were placed, no node could waste more than is left over in all. So for every node there
has to be a set of pods that fills it up to that. The sets are looked through in two halves, sums of
one half being searched in the sorted sums of the other. None for some node: one pod stays out.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.packing.stock import Stock

MOST_SETS = 300_000
"""Sets of a half that are kept at the most."""
MOST_PAIRS = 2_000_000
"""Pairs of halves that are looked at."""


def one_stays_out(stock: Stock, rank: int) -> bool:
    """Whether it is certain that the pods down to a rank don't all fit; False proves nothing."""
    pods = np.where(stock.rank <= rank, stock.total, stock.least)
    waste = stock.room.sum(axis=0) - stock.size.T @ pods
    if (waste < 0).any():
        return True
    order = np.argsort(-stock.size[:, 0], kind="stable")
    order = order[pods[order] > 0]
    tried = np.unique(stock.room, axis=0)
    return any(_unfillable(stock.size, pods, order, room, waste) for room in tried)


def _unfillable(
    size: IntArray, pods: IntArray, order: IntArray, room: IntArray, waste: IntArray
) -> bool:
    """Whether no set of pods fills a node of this room."""
    if (waste >= room).all():
        return False
    one, other = (_sums(size, pods, order[start::2], room) for start in (0, 1))
    if one is None or other is None:
        return False
    tight = int((waste / np.maximum(room, 1)).argmin())
    other = other[np.argsort(other[:, tight], kind="stable")]
    missing = room[tight] - one[:, tight]
    low = np.searchsorted(other[:, tight], missing - waste[tight], side="left")
    many = np.searchsorted(other[:, tight], missing, side="right") - low
    if many.sum() > MOST_PAIRS:
        return False
    left = np.repeat(np.arange(len(one)), many)
    right = np.arange(len(left)) - np.repeat(np.cumsum(many) - many, many) + low[left]
    load = one[left] + other[right]
    return not ((load <= room) & (load >= room - waste)).all(axis=1).any()


def _sums(size: IntArray, pods: IntArray, groups: IntArray, room: IntArray) -> IntArray | None:
    """What the sets of pods of these groups that fit on the node request; None if too many."""
    sums = np.zeros((1, size.shape[1]), np.int64)
    for group in groups.tolist():
        counts = np.arange(int(pods[group]) + 1)
        more = (sums[:, None] + counts[:, None] * size[group]).reshape(-1, size.shape[1])
        sums = more[(more <= room).all(axis=1)]
        if len(sums) > MOST_SETS:
            return None
    return sums
