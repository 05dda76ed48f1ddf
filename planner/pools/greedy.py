"""Some set of nodes that is filled, soon: one node after the other, wherever it gains most."""

from __future__ import annotations

import time
from collections.abc import Iterator

from planner.pools.fill import Counts, Fill
from planner.pools.search import Search


def grow(search: Search, until: float) -> Fill:
    """Add the node that lets most pods run for its cost, until all run or no node helps.

    More pods of a higher priority count before any of a lower one. Then nodes that are not needed
    are taken away again; the search keeps the cheapest. The set that lets most pods run.
    """
    filling = search.filling
    counts: Counts = tuple(offer.pool.least for offer in filling.offers)
    best = filling.fill(filling.add(counts))
    while best.waiting and time.monotonic() < until:
        better = [
            (_gain(search, best, fill), -i, fill)
            for i, grown in _larger(search, best.added.counts)
            if (fill := filling.fill(filling.add(grown))).waiting != best.waiting
        ]
        gaining = [each for each in better if each[0] > ()]
        if not gaining:
            break
        best = max(gaining, key=lambda each: each[:2])[2]
    if search.try_set(best.added.counts):
        _remove_spare_nodes(search, best.added.counts, until)
    return best


def _larger(search: Search, counts: Counts) -> Iterator[tuple[int, Counts]]:
    for i, offer in enumerate(search.filling.offers):
        if offer.pool.most is None or counts[i] < offer.pool.most:
            yield i, (*counts[:i], counts[i] + 1, *counts[i + 1 :])


def _gain(search: Search, before: Fill, after: Fill) -> tuple[float, ...]:
    """More running pods for the cost, by priority; empty if it is no gain."""
    then, now = search.filling.by_priority(before), search.filling.by_priority(after)
    if now <= then:
        return ()
    cost = search.least.cost(after.added.counts) - search.least.cost(before.added.counts)
    return tuple((b - a) / cost for a, b in zip(then, now, strict=True))


def _remove_spare_nodes(search: Search, counts: Counts, until: float) -> None:
    """Nodes without which it is still an answer, the most expensive ones first."""
    costly = sorted(range(len(counts)), key=lambda i: -search.filling.offers[i].cost)
    for i in costly:
        while counts[i] > search.filling.offers[i].pool.least and time.monotonic() < until:
            fewer = (*counts[:i], counts[i] - 1, *counts[i + 1 :])
            if not search.try_set(fewer):
                break
            counts = fewer
