"""Small changes of a set of nodes: one node becomes one of about its cost, comes, or goes.

Unlike the steps of `neighbours`, these hardly change what a set costs or how much room it has: they
are for sets that are nearly right.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from planner.pools.fill import Counts
from planner.pools.search import Search

KEEN = 20
"""How much more a node is drawn whose pods pay for it: the power of what they pay."""
NEAR = 0.4, 2.1
"""What a node may cost that takes the place of another, by the cost of that."""
SMALL = 0.015
"""What a node may cost that is added, as a part of the bound."""
SAME_ZONE = 0.6
"""How likely a node is replaced by one of its zone, and not of any."""
SWAP, MOVE, DROP, ADD, REPLACE = 0.4, 0.5, 0.6, 0.72, 0.88
"""How likely changes are, added up; what is left takes a zone of another set."""
CHANGES = (1, 1, 1, 2)


class Variations:
    """Draws them; `worth` says how well a node of an offer pays."""

    def __init__(self, search: Search, worth: Sequence[float], random: Random) -> None:
        self._search, self._random = search, random
        self._offers = offers = search.filling.offers
        best = max(worth)
        self._weights = [max(each / best, 0.0) ** KEEN + 1e-9 for each in worth]
        self._every = range(len(offers))
        self._pool: dict[str, list[int]] = {}
        self._zone: dict[str, list[int]] = {}
        for i, offer in enumerate(offers):
            self._pool.setdefault(offer.pool.name, []).append(i)
            self._zone.setdefault(offer.zone, []).append(i)
        self._small = [i for i in self._every if offers[i].cost <= SMALL * search.bound_now]

    def vary(self, counts: Counts, others: Sequence[Counts]) -> Counts:
        """A set near the given one; zones may be taken from the others."""
        found = list(counts)
        for _ in range(self._random.choice(CHANGES)):
            self._change(found, others)
        return tuple(found)

    def grow(self, counts: Counts) -> Counts:
        """The same without larger changes, and more often by one node more."""
        found = list(counts)
        for _ in range(self._random.choice(CHANGES[1:])):
            if self._small and self._random.random() < (ADD - DROP) * 3:
                self._add(found)
            else:
                self._change(found, (), most=DROP)
        return tuple(found)

    def _change(self, counts: list[int], others: Sequence[Counts], most: float = 1.0) -> None:
        draw, kind = self._random, self._random.uniform(0, most)
        there = [i for i in self._every if counts[i] > self._offers[i].pool.least]
        if not there:
            return
        (i,) = draw.choices(there, [counts[i] - self._offers[i].pool.least for i in there])
        if kind < SWAP:
            here = self._zone[self._offers[i].zone] if draw.random() < SAME_ZONE else self._every
            least, most = (each * self._offers[i].cost for each in NEAR)
            self._swap(counts, i, [j for j in here if least <= self._offers[j].cost <= most])
        elif kind < MOVE:
            self._swap(counts, i, self._pool[self._offers[i].pool.name])
        elif kind < DROP:
            counts[i] -= 1
        elif kind < ADD:
            self._add(counts)
        elif kind < REPLACE:
            self._replace(counts, draw.choice(there))
        else:
            zone, other = draw.choice(sorted(self._zone)), draw.choice(others)
            for j in self._zone[zone]:
                counts[j] = other[j]

    def _swap(self, counts: list[int], i: int, near: Sequence[int]) -> None:
        others = [j for j in near if j != i]
        if others:
            counts[i] -= 1
            counts[self._one_of(others)] += 1

    def _add(self, counts: list[int]) -> None:
        if self._small:
            counts[self._one_of(self._small)] += 1

    def _replace(self, counts: list[int], i: int) -> None:
        """All nodes of an offer, or some, by those of another in the zone for about the cost."""
        spare, offers = counts[i] - self._offers[i].pool.least, self._offers
        nodes = spare if self._random.random() < 0.5 else self._random.randint(1, spare)
        cost = nodes * offers[i].cost
        others = [j for j in self._zone[offers[i].zone] if j != i and offers[j].cost <= 1.05 * cost]
        if others:
            j = self._one_of(others)
            counts[i] -= nodes
            counts[j] += int(cost / offers[j].cost + self._random.random())

    def _one_of(self, offers: Sequence[int]) -> int:
        return self._random.choices(offers, [self._weights[i] for i in offers])[0]
