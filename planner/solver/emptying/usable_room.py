"""How much of a node's room pods can use at all: leftovers that fit nobody are no room.

Two kinds of limits, for all pods of a pool and for those of them that ask for much:

    amounts  of cpu no more than the memory beside it feeds, and the reverse; nothing where not even
             the smallest pod fits
    number   so many of the pods fit side by side if all were as small as the smallest of them

Both hold whatever is placed there. What a node has now it may keep, if that is more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

SIZES = 12
"""So many sizes of large pods are looked at, resource by resource."""
CELLS = 4_000_000
"""Distinct requests times nodes that are compared in one go."""
MARGIN = 1 + 1e-9
"""More than quotients may be off by, so that no limit is too low."""


def large_pods(requests: IntArray) -> Iterator[BoolArray]:
    """All of the pods, and those that ask for at least so much of a resource."""
    yield np.ones(len(requests), np.bool_)
    for resource in range(requests.shape[1]):
        asked = requests[:, resource]
        sizes = np.unique(asked[asked > 0])
        if len(sizes) > 1:
            ranks = np.linspace(1, len(sizes) - 1, min(SIZES, len(sizes) - 1)).astype(np.int64)
            for size in np.unique(sizes[ranks]).tolist():
                yield asked >= size


def usable(requests: IntArray, room: IntArray) -> IntArray:
    """`usable[n, r]`: how much of each resource pods with such requests can use of each room."""
    kinds = np.unique(requests, axis=0)
    found = np.zeros_like(room)
    step = max(1, CELLS // max(1, len(kinds)))
    for begin in range(0, len(room), step):
        part = room[begin : begin + step]
        found[begin : begin + step] = _usable(kinds, part)
    return found


def _usable(kinds: IntArray, room: IntArray) -> IntArray:
    fits = np.ones((len(room), len(kinds)), np.bool_)
    for resource in range(room.shape[1]):
        asked = kinds[:, resource]
        fits &= (asked == 0) | (asked <= room[:, resource, None])
    any_fits: BoolArray = np.any(fits, axis=1)
    found = np.where(any_fits[:, None], room, 0)
    for used in range(room.shape[1]):
        for limit in range(room.shape[1]):
            asked = kinds[:, limit]
            if used == limit or not (asked > 0).all():
                continue
            rate = np.where(fits, kinds[:, used] / asked, 0.0).max(axis=1, initial=0.0)
            most = np.floor(room[:, limit] * rate * MARGIN)
            found[:, used] = np.minimum(found[:, used], np.minimum(most, 2**62).astype(np.int64))
    return found


def slots(requests: IntArray, room: IntArray) -> IntArray:
    """How many pods with such requests fit side by side, at the most."""
    least = requests.min(axis=0)
    asked = np.flatnonzero(least > 0)
    if not len(asked):
        return np.full(len(room), 2**31, np.int64)
    found: IntArray = (room[:, asked] // least[asked]).min(axis=1)
    return found
