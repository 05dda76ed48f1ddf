"""How many pods have to leave their nodes at least, so that so many more pods fit.

By room alone: a node holds as many new pods as what is free there, and what the largest pods give
that leave it, each resource for itself. Where evicted pods land again takes room as well, and rules
may ask for more moves; so this is a lower bound, and it is counted in whole pods.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

OUT_OF_REACH = 2**40
"""More evictions than there are pods."""


def fewest_evictions(cluster: Cluster, usable: BoolArray, request: IntArray, pods: int) -> int:
    """For so many new pods with this request on these nodes; 0 if nothing is known."""
    found = int(evictions_by_room(cluster, usable, request, pods)[pods])
    return 0 if found >= OUT_OF_REACH else found


def most_held(
    cluster: Cluster, usable: BoolArray, request: IntArray, pods: int, evictions: int
) -> int:
    """How many of so many new pods these nodes hold at most, after so many evictions."""
    least = evictions_by_room(cluster, usable, request, pods)
    return int(np.flatnonzero(least <= evictions).max())


def evictions_by_room(
    cluster: Cluster, usable: BoolArray, request: IntArray, pods: int
) -> IntArray:
    """The same for 0, 1, ... new pods up to these; OUT_OF_REACH where no evictions would do.

    A request for nothing needs no room.
    """
    asked = np.flatnonzero(request)
    if not len(asked):
        return np.zeros(pods + 1, np.int64)
    least = np.full(pods + 1, OUT_OF_REACH, np.int64)
    least[0] = 0
    for costs, nodes in sorted(Counter(_costs(cluster, usable, request, asked, pods)).items()):
        for _ in range(min(nodes, pods)):
            before = least.copy()
            for more, cost in enumerate(costs, 1):
                np.minimum(least[more:], before[:-more] + cost, out=least[more:])
    return least


def _costs(
    cluster: Cluster, usable: BoolArray, request: IntArray, asked: IntArray, pods: int
) -> Iterator[tuple[int, ...]]:
    """By node, evictions from it so that it holds 1, 2, ... of the pods, as far as it can."""
    free = (cluster.resources.allocatable - cluster.used)[:, asked]
    running = cluster.running[np.argsort(cluster.node_of[cluster.running], kind="stable")]
    begin = np.searchsorted(cluster.node_of[running], np.arange(len(free) + 1))
    for node in np.flatnonzero(usable).tolist():
        there = running[begin[node] : begin[node + 1]]
        gives = cluster.resources.requests[cluster.group_of[there]][:, asked]
        largest = np.zeros((len(there) + 1, len(asked)), np.int64)
        largest[1:] = np.cumsum(-np.sort(-gives, axis=0), axis=0)
        holds = np.clip(((free[node] + largest) // request[asked]).min(axis=1), 0, pods)
        yield tuple(np.searchsorted(holds, np.arange(1, int(holds.max()) + 1)).tolist())
