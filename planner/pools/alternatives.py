"""Sets of nodes that were tried and are no answer: what a reader would ask about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.pools.fill import Counts
from planner.pools.kept_rollouts import Stuck
from planner.pools.search import Search, Tried
from planner.pools.waiting import Waiting, waiting_pods

SHOWN = 3


@dataclass(frozen=True)
class Alternative:
    """These nodes leave somebody waiting, stop rollouts, or do not stand a failure."""

    counts: Counts
    waiting: tuple[Waiting, ...]
    stuck: tuple[Stuck, ...]
    lost: str = ""
    """The zone or node without which so many pods wait."""
    waiting_then: int = 0


def alternatives(search: Search) -> tuple[Alternative, ...]:
    """Up to three that came nearest and cost no more than the answer: fewest waiting first."""
    found = search.found
    if found is None:
        return ()
    cost = search.least.cost
    limit = cost(found.added.counts)
    failed = [
        each
        for each in search.tried.values()
        if not each.good and any(each.counts) and cost(each.counts) <= limit
    ]
    failed.sort(key=lambda each: (len(each.waiting), cost(each.counts), sum(each.counts)))
    return tuple(_told(search, failed[:SHOWN]))


def _told(search: Search, chosen: Iterable[Tried]) -> Iterable[Alternative]:
    filling = search.filling
    for each in chosen:
        waiting: tuple[Waiting, ...] = ()
        if each.waiting:
            fill = search.worst(each.counts)
            waiting = waiting_pods(fill.cluster, fill.waiting, filling.profile)
        yield Alternative(each.counts, waiting, each.stuck, each.lost, each.waiting_then)
