"""First answers by the ways of autoscalers: fast, where a search has to begin somewhere.

Their nodes come in rounds, and kube-scheduler decides otherwise when all come at once. Whoever then
waits gets the nodes that Karpenter's way would add for it, until nobody does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.pools.fill import Counts
from planner.pools.peers.compare import KARPENTER, TOOLS, emulable, emulate, karpenter
from planner.pools.peers.consolidation import consolidated
from planner.pools.search import Search

REPAIRS = 24
ROUND_SECONDS, ROUND_POD_SECONDS = 1e-3, 2.5e-5
"""What a round of an emulation takes for each offer, and for each offer and pod."""
CONSOLIDATED_SECONDS = 15e-3
"""What consolidation takes for each pod."""


def first_answers(search: Search, until: float) -> None:
    """Try the sets of autoscalers; the search keeps the cheapest that is an answer."""
    if not emulable(search.filling):
        return
    for counts in _ways(search, until):
        if search.spent > until:
            return
        _filled(search, counts, until)


def _ways(search: Search, until: float) -> Iterator[Counts]:
    filling, pods = search.filling, len(search.filling.goal)
    for tool, decide in TOOLS.items():
        found = emulate(filling, decide)
        per_offer = ROUND_SECONDS + ROUND_POD_SECONDS * pods
        search.spent += found.rounds * per_offer * len(filling.offers)
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
