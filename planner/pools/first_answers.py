"""First answers by the ways of autoscalers: fast, where a search has to begin somewhere.

Their nodes come in rounds, and kube-scheduler decides otherwise when all come at once. Whoever then
waits gets the nodes that Karpenter's way would add for it, until nobody does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.pools.fill import Counts
from planner.pools.peers.compare import (
    KARPENTER,
    LEAST_WASTE,
    PRICE,
    TOOLS,
    emulable,
    emulate,
    karpenter,
)
from planner.pools.peers.consolidation import consolidated
from planner.pools.search import Search

REPAIRS = 24
ROUND_SECONDS, ROUND_POD_SECONDS = 1e-3, 2.5e-5
"""What a round of an emulation takes for each offer, and for each offer and pod."""
FEW_ROUNDS = {KARPENTER: 2, PRICE: 5, LEAST_WASTE: 5}
"""Which have to fit into the time for an emulation to begin."""
TOGETHER = 8
"""Karpenter looks at all offers in one pass, which is so many times as fast."""
CONSOLIDATED_SECONDS = 15e-3
"""What consolidation takes for each pod."""


def first_answers(search: Search, until: float) -> list[Counts]:
    """Try the sets of autoscalers, which are returned; the search keeps the cheapest answer."""
    found: list[Counts] = []
    if not emulable(search.filling):
        return found
    for counts in _ways(search, until):
        found.append(counts)
        if search.spent > until:
            break
        _filled(search, counts, until)
    return found


def _ways(search: Search, until: float) -> Iterator[Counts]:
    """Karpenter's first: it takes one round, the others one for each kind of node."""
    filling, pods = search.filling, len(search.filling.goal)
    for tool, rounds in FEW_ROUNDS.items():
        a_round = (ROUND_SECONDS + ROUND_POD_SECONDS * pods) * len(filling.offers)
        if tool == KARPENTER:
            a_round /= TOGETHER
        if search.spent + rounds * a_round > until:
            return
        found = emulate(filling, TOOLS[tool])
        search.spent += found.rounds * a_round
        if not found.waiting:
            yield _with_least(search, found.counts)
        last = search.spent + CONSOLIDATED_SECONDS * pods
        if tool == KARPENTER and not found.waiting and last < until:
            search.spent = last
            yield _with_least(search, consolidated(filling, found)[0].counts)


def _with_least(search: Search, counts: Counts) -> Counts:
    """Nodes that come in any case come here, too."""
    offers = search.filling.offers
    return tuple(max(n, offer.pool.least) for n, offer in zip(counts, offers, strict=True))


def _filled(search: Search, counts: Counts, until: float) -> None:
    """The set, grown until kube-scheduler fills it under every seed."""
    for _ in range(REPAIRS):
        if not search.filling.allowed(counts) or search.spent > until:
            return
        fill = search.worst(counts)
        if not fill.waiting:
            search.try_set(counts)
            return
        here = replace(search.filling, cluster=fill.cluster, goal=fill.waiting)
        more = karpenter(here, counts)
        if not any(more):
            return
        counts = tuple(a + b for a, b in zip(counts, more, strict=True))
