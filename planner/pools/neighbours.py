"""Sets of nodes near a given one: some nodes fewer, others in their place, one for two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random

from planner.pools.fill import Counts
from planner.pools.room import FreshNodes
from planner.pools.search import Search

DRAWS = 100
"""Steps that are drawn in a row without one that makes sense, before that ends."""
DRAW_SECONDS = 4e-5
"""For a step that is drawn, whether it makes sense or not."""
KEEN = 8
"""How much more a node is drawn whose pods pay for it: the power of what they pay."""
SINGLE, DROP, SWAP, MOVE, MERGE = 0.6, 0.2, 0.6, 0.75, 0.9
"""How likely it is one node that goes; and, added up, what takes its place."""
HELPED = 0.5
"""How likely nodes are drawn that take a pod that waits, where one does."""
BEYOND = 1.05
"""So much more than two nodes one may cost that replaces them."""


class Neighbours:
    """Draws them; `worth` says how well a node of an offer pays."""

    def __init__(self, search: Search, worth: Sequence[float], random: Random) -> None:
        self._search, self._random = search, random
        self._offers = search.filling.offers
        self._weights = [max(each, 0.0) ** KEEN + 1e-6 for each in worth]
        self._every = list(accumulate(self._weights))
        self._fresh = FreshNodes(search.filling)
        self._taking: dict[int, list[float]] = {}
        self._drawn_by = self._every
        self._same_pool: dict[str, list[int]] = {}
        for i, offer in enumerate(self._offers):
            self._same_pool.setdefault(offer.pool.name, []).append(i)

    def sensible(self, counts: Counts, allowed: float, who: int = -1) -> Counts | None:
        """A set that could be an answer and costs no more; None if none is drawn.

        Where pods wait, every other step adds nodes that take one of them, `who`.
        """
        search = self._search
        for _ in range(DRAWS):
            search.spent += DRAW_SECONDS
            helps = who >= 0 and self._random.random() < HELPED
            self._drawn_by = self._for(who) if helps else self._every
            drawn = self._step(list(counts))
            cost = search.least.cost(drawn)
            if (
                drawn != counts
                and search.bound_now <= cost <= allowed
                and search.filling.allowed(drawn)
                and search.opens(drawn)
                and search.least.has_room(drawn)
            ):
                return drawn
        return None

    def _step(self, counts: list[int]) -> Counts:
        draw = self._random
        there = [i for i, n in enumerate(counts) if n > self._offers[i].pool.least]
        if not there:
            self._add(counts, self._drawn(), 1)
            return tuple(counts)
        more = [counts[i] - self._offers[i].pool.least for i in there]
        (i,) = draw.choices(there, more)
        spare = counts[i] - self._offers[i].pool.least
        nodes = 1 if draw.random() < SINGLE else draw.randint(1, spare)
        kind, budget = draw.random(), nodes * self._offers[i].cost
        if kind >= MERGE:
            self._add(counts, self._drawn(), 1)
            return tuple(counts)
        counts[i] -= nodes
        if kind < DROP:
            pass
        elif kind < SWAP:
            j = self._drawn()
            self._add(counts, j, budget // self._offers[j].cost + draw.choice((-1, 0, 0, 1)))
        elif kind < MOVE:
            self._add(counts, draw.choice(self._same_pool[self._offers[i].pool.name]), nodes)
        else:
            others = [j for j in there if counts[j] > self._offers[j].pool.least]
            if others:
                other = draw.choice(others)
                counts[other] -= 1
                budget += self._offers[other].cost
            j = self._drawn()
            self._add(counts, j, 1 if self._offers[j].cost <= BEYOND * budget else 0)
        return tuple(counts)

    def _drawn(self) -> int:
        every = range(len(self._offers))
        return self._random.choices(every, cum_weights=self._drawn_by)[0]

    def _for(self, pod: int) -> list[float]:
        """Weights of the offers that take the pod."""
        group = int(self._fresh.cluster.group_of[pod])
        if group not in self._taking:
            slots = self._fresh.slots(pod)[self._fresh.nodes].tolist()
            weights = zip(slots, self._weights, strict=True)
            self._taking[group] = list(accumulate(weight * (n > 0) for n, weight in weights))
        return self._taking[group]

    def _add(self, counts: list[int], offer: int, nodes: int) -> None:
        counts[offer] += max(0, nodes)
