"""What nodes cost at least if some running pods may move: by room alone, at any size.

Who is evicted runs again in the end, so moves add no room: what all requests of the goal add up to
beyond all that is free now has to come with new nodes. And so many evictions make room for so many
pods of a group at most; the others need places on new nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

from planner.evictions.room_bound import most_held
from planner.pools.fill import Filling
from planner.pools.room import FreshNodes

GROUPS = 20
"""Groups of pods whose places are counted, those with most pods first."""

Row = tuple[int, Sequence[int]]
"""How much is needed, and what a node of each offer has of it."""


def least_cost(filling: Filling, moves: int) -> int | None:
    """No set costs less, whoever moves; None if no set at all has the room."""
    offers = filling.offers
    found = sum(offer.pool.least * offer.cost for offer in offers)
    for need, rooms in _rows(filling, FreshNodes(filling), moves):
        if need <= 0:
            continue
        rates = [Fraction(o.cost, n) for o, n in zip(offers, rooms, strict=True) if n > 0]
        if not rates:
            return None
        found = max(found, ceil(need * min(rates)))
    return found


def _rows(filling: Filling, fresh: FreshNodes, moves: int) -> Iterator[Row]:
    total = sum(fresh.request(pod) for pod in filling.goal)
    needs = total - fresh.free[fresh.old].sum(axis=0)
    yield from zip(needs.tolist(), fresh.free[fresh.nodes].T.tolist(), strict=True)
    cluster = filling.cluster
    sample = {int(cluster.group_of[pod]): pod for pod in filling.goal}
    counts = Counter(int(cluster.group_of[pod]) for pod in filling.goal)
    for group, count in counts.most_common(GROUPS):
        pod = sample[group]
        usable = fresh.admitted(pod)[fresh.old]
        held = most_held(cluster, usable, fresh.request(pod), count, moves)
        yield count - held, fresh.slots(pod)[fresh.nodes].tolist()
