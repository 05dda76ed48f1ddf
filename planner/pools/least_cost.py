"""What any set of nodes costs at least that has room for the goal: rows of sums and counts.

A row is something of which the goal needs so much: a resource, or places for the pods of one group.
A set that is short in some row can't run the goal, whatever kube-scheduler does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from planner.pools.fill import Counts
from planner.pools.pool import Offer
from planner.pools.room import FreshNodes

PARTS = 12
"""Into how many parts the range between CPU alone and memory alone is cut."""


class LeastCost:
    """Lower bounds for sets that contain a given one and add only offers from some index on."""

    def __init__(self, fresh: FreshNodes, goal: Sequence[int], offers: Sequence[Offer]) -> None:
        self._offers = offers
        needs, rooms = _rows(fresh, goal)
        rows = [*zip(needs, rooms, strict=True), *_mixed(needs, rooms)]
        self._rows = [(need, room) for need, room in rows if need > 0]
        self._rates = [
            [_suffix(room, [Fraction(o.cost) for o in offers]) for _, room in self._rows],
            [_suffix(room, [Fraction(1)] * len(offers)) for _, room in self._rows],
        ]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @cached_property
    def relative_rooms(self) -> NDArray[np.float64]:
        """By row and offer: what a node brings, as a part of what is needed; for rough sums."""
        rooms = np.array([room for _, room in self._rows], np.float64)
        needs = np.array([[float(need)] for need, _ in self._rows])
        found: NDArray[np.float64] = rooms.reshape(len(self._rows), -1) / needs.reshape(-1, 1)
        return found

    def cost(self, counts: Counts) -> int:
        """What the set costs."""
        return sum(n * offer.cost for n, offer in zip(counts, self._offers, strict=True))

    def has_room(self, counts: Counts) -> bool:
        """Whether no row is short: only then it makes sense to ask kube-scheduler."""
        return all(short <= 0 for short in self._short(counts))

    def at_least(self, counts: Counts, first: int) -> tuple[int, int] | None:
        """Cost and nodes of any larger set, by offers from `first` on; None if none has room."""
        lack = self._short(counts)
        found = [self.cost(counts), sum(counts)]
        for i, rates in enumerate(self._rates):
            more = 0
            for short, rate in zip(lack, rates, strict=True):
                if short > 0:
                    least = rate[first]
                    if least is None:
                        return None
                    more = max(more, ceil(short * least))
            found[i] += more
        return found[0], found[1]

    def _short(self, counts: Counts) -> list[int]:
        used = [(i, n) for i, n in enumerate(counts) if n]
        return [need - sum(n * room[i] for i, n in used) for need, room in self._rows]


def _suffix(room: Sequence[int], costs: Sequence[Fraction]) -> list[Fraction | None]:
    """By index: the least cost for one unit of the row among the offers from there on."""
    found: list[Fraction | None] = [None]
    for have, cost in zip(reversed(room), reversed(costs), strict=True):
        known = found[-1]
        own = cost / have if have else None
        best = own if known is None or (own is not None and own < known) else known
        found.append(best)
    return found[::-1]


def _mixed(needs: Sequence[int], rooms: Sequence[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """CPU and memory added up in several ratios: who is cheap in one is mostly dear in the other.

    A sum of rows is a row again, for any weights of 0 or more.
    """
    cpu, memory = needs[0], needs[1]
    if cpu <= 0 or memory <= 0:
        return
    for part in range(1, PARTS):
        weights = part * memory, (PARTS - part) * cpu
        mixed = zip(rooms[0], rooms[1], strict=True)
        yield (
            weights[0] * cpu + weights[1] * memory,
            [weights[0] * a + weights[1] * b for a, b in mixed],
        )


def _rows(fresh: FreshNodes, goal: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """What is needed beyond the free room of the nodes that are there, and what offers bring."""
    groups = fresh.cluster.group_of
    count = Counter(int(groups[pod]) for pod in goal)
    sample = {int(groups[pod]): pod for pod in goal}
    slots = {group: fresh.slots(pod) for group, pod in sample.items()}
    usable = np.logical_or.reduce([slots[group] > 0 for group in sample])
    total = sum(fresh.request(pod) * count[group] for group, pod in sample.items())
    old = [node for node in fresh.old if usable[node]]
    needs = (total - fresh.free[old].sum(axis=0)).tolist()
    rooms = fresh.free[fresh.nodes].T.tolist()
    for group in sample:
        needs.append(count[group] - int(slots[group][fresh.old].sum()))
        rooms.append(slots[group][fresh.nodes].tolist())
    return needs, rooms
