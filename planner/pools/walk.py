"""A walk over sets of nodes that cost less than the answer so far, to ever fewer waiting pods.

A step takes one or two nodes away and adds others, drawn by chance; it is kept if no more pods wait
than before. So a walk leaves sets that fail for the choices of kube-scheduler alone, such as the
zone in which it puts the first pod of a group that stays together.
"""

from __future__ import annotations

from random import Random

from planner.pools.fill import Counts
from planner.pools.search import Search

PATIENCE = 60
"""Steps without fewer waiting pods before the walk begins anew."""
DRAWS = 40
"""So often a step is drawn before there is none."""

ADDED = 0.85
"""How likely a node is added, twice in each step."""


def walk(search: Search, starts: list[Counts], until: float) -> None:
    """Cheaper answers, until the time is over; begins at each start in turn."""
    random = Random(0)
    turn = 0
    while search.spent < until and search.open and search.found is not None:
        begin = (*starts, search.found.added.counts)
        _one_walk(search, begin[turn % len(begin)], random, until)
        turn += 1


def _one_walk(search: Search, counts: Counts, random: Random, until: float) -> None:
    waiting, still = _waiting(search, counts), 0
    while still < PATIENCE and search.spent < until and search.open:
        drawn = _step(search, counts, random)
        if drawn is None:
            return
        then = _waiting(search, drawn)
        still = 0 if then < waiting else still + 1
        if then <= waiting or not waiting:
            counts, waiting = drawn, then


def _waiting(search: Search, counts: Counts) -> int:
    """How many pods of the goal wait; the set is tried in full where none does."""
    if search.beaten(counts):
        return 1 << 30
    known = search.tried.get(counts)
    if known is None:
        fill = search.worst(counts, few=True)
        if fill.waiting:
            return len(fill.waiting)
        search.try_set(counts)
        known = search.tried[counts]
    return len(known.waiting) or len(known.stuck) or known.waiting_then


def _step(search: Search, counts: Counts, random: Random) -> Counts | None:
    """One or two nodes fewer, up to two others instead, for less than the answer costs."""
    offers = search.filling.offers
    assert search.found is not None
    most = search.least.cost(search.found.added.counts)
    for _ in range(DRAWS):
        drawn = list(counts)
        for _ in range(random.randint(1, 2)):
            there = [i for i, n in enumerate(drawn) if n > offers[i].pool.least]
            if there:
                drawn[random.choice(there)] -= 1
        left = most - 1 - search.least.cost(tuple(drawn))
        for _ in range(2):
            able = [i for i, offer in enumerate(offers) if offer.cost <= left]
            if able and random.random() < ADDED:
                chosen = random.choice(able)
                drawn[chosen] += 1
                left -= offers[chosen].cost
        found = tuple(drawn)
        if left < 0 or found == counts or not _possible(search, found):
            continue
        return found
    return None


def _possible(search: Search, counts: Counts) -> bool:
    fits = search.filling.allowed(counts) and search.opens(counts)
    return fits and search.least.has_room(counts)
