"""Sets of nodes by rising cost, then number of nodes, each that has room for everybody tried.

The first that is an answer is the cheapest: all others that cost less were tried or are too small.
`LeastCost` tells what a set will cost at least when it has grown enough, so that small sets that
have to grow much are looked at late (A*, Hart, Nilsson and Raphael 1968).
"""

from __future__ import annotations

import heapq

from planner.pools.fill import Counts
from planner.pools.search import Search

Entry = tuple[int, int, int, Counts, int]
"""Cost and nodes at least, how uneven it is, the set, and the first offer that it may grow by."""
ROW_SECONDS = 2.5e-6
"""Looking at one row of a set that is one node larger."""


def by_rising_cost(search: Search, until: float) -> None:
    """Go on until the answer is proven, or so much time is spent."""
    open_sets: list[Entry] = []
    step = ROW_SECONDS * search.least.rows * len(search.filling.offers)
    _push(search, open_sets, tuple(offer.pool.least for offer in search.filling.offers), 0)
    while open_sets:
        cost, nodes, _, counts, first = open_sets[0]
        search.prove(cost)
        if search.as_good_as(cost, nodes):
            break
        if search.spent > until:
            return
        heapq.heappop(open_sets)
        search.spent += step
        if search.least.has_room(counts) and search.try_set(counts):
            continue  # larger sets cost more
        for i in range(first, len(counts)):
            grown = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
            if search.filling.allowed(grown):
                _push(search, open_sets, grown, i)
    search.proven = True


def _push(search: Search, open_sets: list[Entry], counts: Counts, first: int) -> None:
    bound = search.least.at_least(counts, first)
    if bound is not None:
        uneven = sum(n * n for n in counts)
        heapq.heappush(open_sets, (*bound, uneven, counts, first))
