"""Cheaper sets whose nodes come in batches (`batches`): where they begin, and what bounds them.

The first batch is a part of a set that is known; with the last come the nodes that patterns choose
for those who wait under one seed. From there on sets are changed step by step (`anneal`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.pools.anneal import anneal
from planner.pools.batches import filled_at_once, in_batches, in_first_batch
from planner.pools.by_patterns import more_nodes
from planner.pools.fill import Counts
from planner.pools.greedy import improve
from planner.pools.least_cost import LeastCost
from planner.pools.room import FreshNodes
from planner.pools.search import Search
from planner.pools.shortfall import WEIGHT, Shortfall

PARTS = (0.88, 0.94, 1.0)
"""Of the bound: what a first batch may cost."""
BEGUN = 4
"""First batches that are completed."""
ROUNDS = 6
"""So often nodes are added to the last batch for those who wait."""
BOUND, NEAR = 0.3, 0.1
"""Parts of the time: for the bound, and for sets near the best."""


class ByBatches:
    """A search over sets in up to so many batches, from the answer that comes at once."""

    def __init__(
        self, search: Search, batches: int, starts: Sequence[Counts], until: float
    ) -> None:
        self.search = staged = _staged(search, batches)
        seconds = until - staged.spent
        _bounded(search, staged, BOUND * seconds)
        self._batches = batches
        self._begun = _begun(staged, starts, until)
        search.spent = staged.spent

    def draw(self, at_once: Search, worth: Sequence[float], until: float) -> None:
        """Cheaper ones, from these and from what else has come to be known."""
        staged = self.search
        staged.spent = at_once.spent
        if at_once.found is not None and not staged.cheaper_than(at_once):
            staged.found = filled_at_once(staged.filling, at_once.found)
        seconds = until - staged.spent
        anneal(staged, self._begun, tuple(worth) * self._batches, until - NEAR * seconds)
        improve(staged, until)
        at_once.spent = staged.spent


def _staged(search: Search, batches: int) -> Search:
    filling = in_batches(search.filling, batches)
    staged = Search(
        filling,
        LeastCost(FreshNodes(filling), filling.goal, filling.offers),
        search.seeds,
        search.rollouts,
        search.survival,
        search.opened,
        spent=search.spent,
    )
    if search.found is not None:
        staged.found = filled_at_once(filling, search.found)
    return staged


def _bounded(search: Search, staged: Search, seconds: float) -> None:
    """What any set costs at least, in however many batches."""
    none = tuple(offer.pool.least for offer in search.filling.offers)
    sums = search.least.at_least(none, 0)
    staged.prove(0 if sums is None else sums[0])
    if search.sets is None:
        return
    known = search.sets.every
    every = known.in_batches()
    if every is not known:
        every.generate(seconds)
        staged.spent += every.spent
    staged.prove(every.bound)


def _begun(staged: Search, starts: Sequence[Counts], until: float) -> list[Counts]:
    """The first batches that leave least to pay for, each with what then is missing."""
    shortfall = Shortfall(staged)
    parts = sorted(
        {
            in_first_batch(staged.filling, staged.with_opened(part))
            for counts in starts
            for part in _parts(staged, counts)
        }
    )
    missing = shortfall.missing_of(parts, [float("inf")] * len(parts))
    ranked = sorted(
        (staged.least.cost(part) + more.cost / WEIGHT, part)
        for part, more in zip(parts, missing, strict=True)
    )
    found: list[Counts] = []
    for _, part in ranked[:BEGUN]:
        if staged.spent > until:
            break
        counts = _completed(staged, part, until, few=True)
        if staged.filling.allowed(counts):
            found.append(counts)
    missing = shortfall.missing_of(found, [float("inf")] * len(found))
    values = [
        staged.least.cost(each) + more.cost for each, more in zip(found, missing, strict=True)
    ]
    for _, counts in sorted(zip(values, found, strict=True))[:1]:
        sure = _completed(staged, counts, until, few=False)
        if staged.filling.allowed(sure):
            staged.try_set(sure)
            found.append(sure)
    return found


def _parts(staged: Search, counts: Counts) -> Iterator[Counts]:
    """Some of the nodes, of each offer about as large a part."""
    offers = staged.filling.offers[: len(counts)]
    cost = sum(n * offer.cost for n, offer in zip(counts, offers, strict=True))
    for part in PARTS:
        left = part * staged.bound_now / max(cost, 1)
        if left < 1:
            yield _scaled(counts, left, [offer.pool.least for offer in offers])
    yield counts


def _scaled(counts: Counts, by: float, least: Sequence[int]) -> Counts:
    """What is rounded off of one offer is left to the next one."""
    found, carry = [], 0.0
    for n, few in zip(counts, least, strict=True):
        whole = min(n, max(few, int(by * n + carry + 0.5)))
        carry += by * n - whole
        found.append(whole)
    return tuple(found)


def _completed(staged: Search, counts: Counts, until: float, *, few: bool) -> Counts:
    """With nodes in the last batch for those who wait, under the first seed or under any."""
    for _ in range(ROUNDS):
        fill = staged.worst(counts, few=few)
        if not fill.waiting or (few and staged.spent > until):
            break
        more = more_nodes(staged, fill.cluster, fill.waiting)
        if more is None:
            break
        counts = with_last(counts, more)
    return counts


def with_last(counts: Counts, more: Counts) -> Counts:
    """The set with more nodes in its last batch."""
    last = (0,) * (len(counts) - len(more)) + more
    return tuple(a + b for a, b in zip(counts, last, strict=True))
