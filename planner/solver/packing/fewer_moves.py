"""Fewer moves for the same pods placed: pods go back to where they run now, as far as that fits."""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.packing.question import Stock


def homeward(stock: Stock, counts: IntArray) -> IntArray:
    """The same pods placed, with as many as possible back where they run, pod by pod."""
    found = counts.copy()
    free = stock.room - found.T @ stock.size
    while _one_home(stock, found, free):
        pass
    return found


def relabelled(stock: Stock, counts: IntArray) -> IntArray:
    """Nodes that are alike stand for each other: those that share the most pods are matched first.

    A packing that was found without regard to who runs where would move nearly everybody.
    """
    described = np.concatenate([stock.room, stock.landing.T.astype(np.int64)], axis=1)
    _, kinds = np.unique(described, axis=0, return_inverse=True)
    outside = ((counts > 0) & ~stock.landing).any(axis=0)
    found = counts.copy()
    for kind in np.unique(kinds).tolist():
        nodes = np.flatnonzero((kinds.ravel() == kind) & ~outside)
        stay = np.minimum(stock.now[:, nodes, None], counts[:, None, nodes]).sum(axis=0)
        for _ in range(len(nodes)):
            here, there = np.unravel_index(int(stay.argmax()), stay.shape)
            found[:, nodes[here]] = counts[:, nodes[there]]
            stay[here], stay[:, there] = -1, -1
    return min(found, counts, key=stock.moves)


def _one_home(stock: Stock, counts: IntArray, free: IntArray) -> bool:
    """Bring one pod home that has been moved, into free room or in exchange for a newcomer."""
    come = counts - stock.now
    for group, home in np.argwhere(come < 0).tolist():
        size = stock.size[group]
        if not stock.landing[group, home]:
            continue
        if _return(stock, counts, free, group, home, come[group]):
            return True
        newcomers = np.flatnonzero((come[:, home] > 0) & (np.arange(len(counts)) != group))
        for other in newcomers.tolist():
            if ((free[home] + stock.size[other] - size)[size > 0] < 0).any():
                continue
            gain = size - stock.size[other]
            away = (come[group] > 0) & stock.landing[other]
            away &= ((free + gain >= 0) | (stock.size[other] == 0)).all(axis=1)
            nodes = np.flatnonzero(away)
            if len(nodes):
                node = int(nodes[0])
                counts[group, [home, node]] += 1, -1
                counts[other, [home, node]] += -1, 1
                free[home] -= gain
                free[node] += gain
                return True
    return False


def _return(
    stock: Stock, counts: IntArray, free: IntArray, group: int, home: int, come: IntArray
) -> bool:
    """Into free room, from any node that the group has newly come to."""
    size = stock.size[group]
    nodes = np.flatnonzero(come > 0)
    if not len(nodes) or (free[home] < size)[size > 0].any():
        return False
    node = int(nodes[0])
    counts[group, [home, node]] += 1, -1
    free[home] -= size
    free[node] += size
    return True
