"""Cheaper sets near those that are known, by chance, with ever less patience for worse ones.

A step takes nodes of one offer away, or puts others in their place for about the same cost. It is
kept if the set gets no worse by more than what is drawn (simulated annealing, Kirkpatrick, Gelatt
and Vecchi 1983). Sets that leave pods waiting take part (`shortfall`): from many answers no single
step leads to a cheaper one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import log
from random import Random

from planner.pools.fill import Counts
from planner.pools.search import Search
from planner.pools.shortfall import Shortfall

ROUNDS = 4
"""Each begins hot; what it has found is tried in full at its end."""
HOT = 0.004
"""How much worse a set may get at first, as a part of the cost, on average."""
DRAWS = 400
"""Steps that are drawn in a row without one that makes sense, before a round ends."""
DRAW_SECONDS = 6e-5
"""For a step that is drawn, whether it makes sense or not."""
KEEN = 8
"""How much more a node is drawn whose pods pay for it: the power of what they pay."""
SINGLE, DROP, SWAP, MOVE, MERGE = 0.6, 0.2, 0.6, 0.75, 0.9
"""How likely it is one node that goes; and, added up, what takes its place."""
BEYOND = 1.05
"""So much more than two nodes one may cost that replaces them."""


def anneal(search: Search, starts: Sequence[Counts], worth: Sequence[float], until: float) -> None:
    """Keep the cheapest answer that is found; `worth` says how well a node of an offer pays."""
    shortfall = Shortfall(search)
    random = Random(0)
    begin = sorted((shortfall.value(each), each) for each in set(starts))
    for number in range(ROUNDS):
        if search.spent > until or not search.open:
            return
        if search.found is not None and (number % 2 == 0 or not begin):
            counts = search.found.added.counts
            value = float(search.least.cost(counts))
        elif begin:
            value, counts = begin[number // 2 % len(begin)]
        else:
            return
        end = search.spent + (until - search.spent) / (ROUNDS - number)
        passed = _Round(search, shortfall, worth, random).run(counts, value, end)
        for each in sorted(passed, key=search.value):
            if search.beaten(each) or search.try_set(each):
                break


class _Round:
    def __init__(
        self, search: Search, shortfall: Shortfall, worth: Sequence[float], random: Random
    ) -> None:
        self._search, self._shortfall, self._random = search, shortfall, random
        self._offers = search.filling.offers
        self._weights = list(accumulate(max(each, 0.0) ** KEEN + 1e-6 for each in worth))
        self._same_pool: dict[str, list[int]] = {}
        for i, offer in enumerate(self._offers):
            self._same_pool.setdefault(offer.pool.name, []).append(i)

    def run(self, counts: Counts, value: float, until: float) -> set[Counts]:
        """Sets that were filled under every seed and cost less than the answer."""
        search, begun, passed = self._search, self._search.spent, set[Counts]()
        known: dict[Counts, float] = {}
        cost = search.least.cost(counts)
        found = search.found
        best = None if found is None else search.least.cost(found.added.counts)
        while search.spent < until:
            left = 1 - (search.spent - begun) / max(until - begun, 1e-9)
            allowed = value - HOT * cost * left * left * log(1 - self._random.random())
            drawn = self._sensible(counts, allowed)
            if drawn is None:
                return passed
            then = known.get(drawn)
            if then is None:
                then = known[drawn] = self._shortfall.value(drawn, allowed)
            own = search.least.cost(drawn)
            if then <= own and (best is None or own < best):
                best = own
                passed.add(drawn)
            if then <= allowed:
                counts, value = drawn, then
        return passed

    def _sensible(self, counts: Counts, allowed: float) -> Counts | None:
        """A set that could be better; None if none is drawn."""
        search = self._search
        for _ in range(DRAWS):
            search.spent += DRAW_SECONDS
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
        return self._random.choices(every, cum_weights=self._weights)[0]

    def _add(self, counts: list[int], offer: int, nodes: int) -> None:
        counts[offer] += max(0, nodes)
