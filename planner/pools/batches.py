"""Nodes that come in batches: each is filled before the next one comes.

kube-scheduler spreads pods over all nodes that are there, so that of a large mixed set each node
is left with some room that nobody fits in, and pods that only few nodes take find them used by
others. With the second batch come the nodes for exactly those who then still wait.

A set in batches is a set of offers as any other: every offer stands there once for each batch.
"""

from __future__ import annotations

from dataclasses import replace

from planner.pools.fill import Added, Counts, Fill, Filling
from planner.pools.pool import Offer, SharedLimit


def in_batches(filling: Filling, batches: int) -> Filling:
    """The same question with nodes in up to so many batches."""
    offers = filling.offers
    return replace(
        filling,
        offers=tuple(
            _later(offer) if batch else _first(offer)
            for batch in range(batches)
            for offer in offers
        ),
        batches=tuple(batch for batch in range(batches) for _ in offers),
    )


def _first(offer: Offer) -> Offer:
    """What a pool may have in a zone it may have in all batches together."""
    pool = offer.pool
    if pool.most is None:
        return offer
    limit = SharedLimit(f"{pool.name} in {offer.zone}", pool.most, 1)
    return replace(offer, pool=replace(pool, shared=(*pool.shared, limit)))


def _later(offer: Offer) -> Offer:
    """Nodes that come in any case come with the first batch."""
    offer = _first(offer)
    return replace(offer, pool=replace(offer.pool, least=0))


def in_first_batch(staged: Filling, counts: Counts) -> Counts:
    """A set that comes at once, as a set in batches."""
    return counts + (0,) * (len(staged.offers) - len(counts))


def filled_at_once(staged: Filling, fill: Fill) -> Fill:
    """The same of a set with what became of it."""
    added = fill.added
    nodes = added.nodes + ((),) * (len(staged.offers) - len(added.nodes))
    counts = in_first_batch(staged, added.counts)
    return replace(fill, added=Added(added.cluster, counts, nodes))
