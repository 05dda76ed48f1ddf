"""Nodes of one pool, evenly in its zones: the simplest sets that kube-scheduler fills well.

It puts pods where least is used, so that nodes that are alike are filled alike. How large they had
best be is a matter of trial: small ones are left with parts that nobody fits in, and of large ones
there are too few for pods that keep apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, log, sqrt

from planner.pools.fill import Counts
from planner.pools.search import Search
from planner.pools.shortfall import WEIGHT, Shortfall

MORE = 1.12
"""Pools are compared by nodes for so much of the bound."""
STEP = 1.03
"""From one size of a set to the next, at least."""
FARTHEST = 2.5
"""Sets that cost more than so many times the bound are not looked at."""
ENOUGH = 0.85
"""What pods pay for a node, of what they pay for the best, for it to come first."""
SENSIBLE = 1.5
"""Times the root of the number of pods: nodes of about the best size."""
PURSUED = 4
"""Pools that are looked at closely."""


def even_sets(search: Search, worth: Sequence[float], until: float) -> list[Counts]:
    """Answers by single pools; the sets that were compared, the most promising ones first."""
    shortfall = Shortfall(search)
    farthest, middle = FARTHEST * _least(search), (search.spent + until) / 2
    ranked: list[tuple[float, Counts, list[int]]] = []
    for offers in _promising(search, worth):
        if search.spent > middle:
            break
        cost = search.filling.offers[offers[0]].cost
        counts = _even(search, offers, max(1, round(MORE * _least(search) / cost)))
        if search.filling.allowed(counts) and search.least.cost(counts) < farthest:
            ranked.append((shortfall.value(counts, 0.0), counts, offers))
    ranked.sort()
    filled = (_smallest(search, shortfall, offers, until) for _, _, offers in ranked[:PURSUED])
    for counts in sorted(filter(None, filled), key=search.value):
        if search.try_set(counts):
            break
    return [counts for _, counts, _ in ranked]


def _promising(search: Search, worth: Sequence[float]) -> list[list[int]]:
    """Pools, for where the time is short: first those whose nodes pods pay for, and among them
    those of which about so many are needed as each of them gets pods.
    """
    enough = ENOUGH * max(worth)
    sensible = SENSIBLE * sqrt(len(search.filling.goal))

    def rank(offers: list[int]) -> tuple[bool, float]:
        nodes = _least(search) / search.filling.offers[offers[0]].cost
        return max(worth[i] for i in offers) < enough, abs(log(nodes / sensible))

    return sorted(_pools(search), key=rank)


def _least(search: Search) -> int:
    return max(1, search.bound_now)


def _smallest(
    search: Search, shortfall: Shortfall, offers: list[int], until: float
) -> Counts | None:
    """The first that is filled as the set grows by small steps from what the bound would buy."""
    cost = search.filling.offers[offers[0]].cost
    nodes = max(1, _least(search) // cost)
    while search.spent < until and nodes * cost < FARTHEST * _least(search):
        counts = _even(search, offers, nodes)
        own = search.least.cost(counts)
        if search.beaten(counts) or not search.filling.allowed(counts):
            return None
        value = shortfall.value(counts, own)
        if value <= own:
            return counts
        missing = (value - own) / WEIGHT / cost
        nodes = max(nodes + 1, ceil(STEP * nodes), nodes + int(missing / 2))
    return None


def _pools(search: Search) -> Iterable[list[int]]:
    """The offers of each pool, by number."""
    found: dict[str, list[int]] = {}
    for i, offer in enumerate(search.filling.offers):
        found.setdefault(offer.pool.name, []).append(i)
    return found.values()


def _even(search: Search, offers: list[int], nodes: int) -> Counts:
    """So many nodes, beside those that come in any case."""
    counts = [offer.pool.least for offer in search.filling.offers]
    for turn in range(nodes):
        counts[offers[turn % len(offers)]] += 1
    return search.with_opened(tuple(counts))
