"""What nodes cost at least if running pods may move: by sums of room alone.

Who is evicted runs again in the end, so moves add no room: what all requests of the goal add up to
beyond all that is free now has to come with new nodes.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from planner.pools.fill import Filling
from planner.pools.room import FreshNodes


def least_cost(filling: Filling) -> int | None:
    """No set costs less, whoever moves; None if no set at all has the room."""
    fresh = FreshNodes(filling)
    offers = filling.offers
    asked = sum(fresh.request(pod) for pod in filling.goal)
    needs = asked - fresh.free[fresh.old].sum(axis=0)
    found = sum(offer.pool.least * offer.cost for offer in offers)
    for resource, need in enumerate(needs.tolist()):
        if need <= 0:
            continue
        rooms = fresh.free[fresh.nodes, resource].tolist()
        rates = [Fraction(o.cost, n) for o, n in zip(offers, rooms, strict=True) if n > 0]
        if not rates:
            return None
        found = max(found, ceil(need * min(rates)))
    return found
