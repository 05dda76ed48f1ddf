"""Pods that no new node takes, but a node that is there would if others left it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from planner.cluster.resources import sum_by
from planner.pools.fill import Filling
from planner.pools.find import Found
from planner.pools.room import FreshNodes
from planner.scheduler.profile import Profile


def could_run(found: Found, movable: Collection[int], profile: Profile) -> frozenset[int]:
    """Those of `never` that fit on a node without the pods that may leave it."""
    if not found.never or not movable:
        return frozenset()
    start = found.start
    pods = np.array(sorted(movable), np.int64)
    leaving = sum_by(
        start.node_of[pods], start.resources.requests[start.group_of[pods]], len(start.nodes)
    )
    fresh = FreshNodes(Filling(start, found.goal, found.offers, profile))
    free = start.resources.allocatable - start.used + leaving
    return frozenset(
        each.pod
        for each in found.never
        if (
            fresh.admitted(each.pod)[: len(start.nodes)]
            & (free >= fresh.request(each.pod)).all(axis=1)
        ).any()
    )
