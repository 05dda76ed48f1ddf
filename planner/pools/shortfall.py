"""How far a set of nodes is from an answer: its cost, and what those who wait would cost beside.

A pod that waits counts with the least that its share of any node costs, several times. So sets that
leave few waiting compare with sets that leave none, and a search can pass through them.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.pools.fill import Counts, Fill
from planner.pools.room import FreshNodes
from planner.pools.search import Search

WEIGHT = 2.0
"""How many times a pod that waits costs what it would cost to run."""


class Shortfall:
    """Seeds that turned sets down come first: they turn most others down, too."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._order = list(range(search.seeds))
        cluster = search.filling.cluster
        self._group_of = cluster.group_of
        self._price = _prices(search)

    def value(self, counts: Counts, most: float = float("inf")) -> float:
        """Cost and what is missing under the worst seed; may end as soon as it is above `most`."""
        search = self._search
        cost = value = float(search.least.cost(counts))
        added, fills = search.filling.add(counts), list[Fill]()
        for seed in tuple(self._order):
            fills.append(search.filling.fill(added, seed))
            if fills[-1].waiting:
                value = max(value, cost + self.missing(fills[-1].waiting))
                self._order.remove(seed)
                self._order.insert(0, seed)
            if value > most:
                break
        search.charge(counts, len(fills))
        if value == cost:
            loss = search.loss(fills[-1])
            value += 0.0 if loss is None else self.missing(loss.waiting)
        return value

    def missing(self, waiting: Iterable[int]) -> float:
        """What pods that wait count."""
        price, group_of = self._price, self._group_of
        return WEIGHT * sum(price.get(int(group_of[pod]), 0.0) for pod in waiting)


def _prices(search: Search) -> dict[int, float]:
    """By group: the cost of a node for each pod that fits on it, where it is least."""
    fresh, offers = FreshNodes(search.filling), search.filling.offers
    found: dict[int, float] = {}
    for pod in search.filling.goal:
        group = int(search.filling.cluster.group_of[pod])
        if group not in found:
            slots = fresh.slots(pod)[fresh.nodes].tolist()
            rates = [offer.cost / n for offer, n in zip(offers, slots, strict=True) if n]
            found[group] = min(rates, default=0.0)
    return found
