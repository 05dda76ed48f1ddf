"""Sets of few pools, drawn: the simplest ones that have what pods ask for in the right ratio.

kube-scheduler puts pods where least is used, so that nodes that are alike are filled alike, and
large ones are left with little that nobody fits in. Patterns, which know nothing of that, choose
many kinds of nodes. So two parts are drawn, of one pool, of two, or of one for each zone; how much
of each is cheapest follows from the sums alone (`least_cost`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, islice
from random import Random

import numpy as np
from numpy.typing import NDArray

from planner.pools.fill import Counts
from planner.pools.search import Search

KEEN = 20
"""How much more a pool is drawn whose pods pay for its nodes: the power of what they pay."""
LARGEST = 0.15
"""A node may cost so much of the bound: of larger ones there are too few to choose from."""
OWN = 0.5
"""How likely zones get pools of their own: then chance decides less about who comes where."""
MOST = 1.06
"""Sets that cost more than so many times the bound are not drawn."""
MORE_NODES = 6
"""So many nodes are added where rounding has left too little room."""
PODS_A_NODE = 4
"""Sets with fewer pods a node are not drawn."""
TRIES = 8
"""So many are drawn for each that is wanted."""
STEPS = 45
"""Of the one part, from nothing to a tenth more than all."""
FloatArray = NDArray[np.float64]


class MixedSets:
    """Draws them; `worth` says how well a node of an offer pays."""

    def __init__(self, search: Search, worth: Sequence[float], random: Random) -> None:
        self._search, self._random = search, random
        self._offers = offers = search.filling.offers
        self._bound = max(1, search.bound_now)
        self._cost = np.array([offer.cost / self._bound for offer in offers])
        self._rooms = search.least.relative_rooms
        best = max(worth)
        pools: dict[str, list[int]] = {}
        for i, offer in enumerate(offers):
            if offer.cost <= LARGEST * self._bound and offer.pool.most != 0:
                pools.setdefault(offer.pool.name, []).append(i)
        self._pools = list(pools.values())
        pays = [max(max(worth[i] / best, 0.0) ** KEEN for i in each) for each in self._pools]
        self._weights = list(accumulate(each + 1e-9 for each in pays))
        self._zones = sorted({offer.zone for offer in offers})
        self._most_nodes = max(2 * len(self._zones), len(search.filling.goal) // PODS_A_NODE)

    def some(self, number: int, most: float = MOST) -> list[Counts]:
        """Up to so many different ones, for about that much of the bound at the most.

        Those of few nodes come first: sets that are alike are filled side by side.
        """
        drawn = (self._draw(most) for _ in range(TRIES * number))
        found = set(islice((each for each in drawn if each is not None), number))
        return sorted(found, key=lambda counts: (sum(counts), counts))

    def _draw(self, most: float) -> Counts | None:
        """Nodes with room for everybody, by sums; None if the draw fails."""
        if not self._pools:
            return None
        mixed = self._cheapest_mix(self._drawn(own=self._random.random() < OWN), self._drawn())
        cost = 0.0 if mixed is None else float(mixed @ self._cost)
        if mixed is None or not 0 < cost <= most:
            return None
        wanted = self._random.uniform(max(1.0, cost), most)
        return self._sensible(self._with_room(self._whole(mixed * (wanted / cost)), mixed))

    def _drawn(self, *, own: bool = False) -> FloatArray:
        """Parts of nodes, for the cost of the bound: of one pool or two, evenly in their zones, or
        of one in each zone.
        """
        found = np.zeros(len(self._offers))
        if own:
            for zone in self._zones:
                here = [i for i in self._pool() if self._offers[i].zone == zone]
                found[here] = 1 / len(self._zones) / self._cost[here]
            return found
        for part in self._random.choice(((1.0,), (0.5, 0.5), (0.75, 0.25))):
            pool = self._pool()
            found[pool] += part / len(pool) / self._cost[pool]
        return found

    def _pool(self) -> list[int]:
        return self._random.choices(self._pools, cum_weights=self._weights)[0]

    def _cheapest_mix(self, one: FloatArray, other: FloatArray) -> FloatArray | None:
        """As much of both that no row is short; None where they can't."""
        much = np.linspace(0.0, 1.1, STEPS)
        short = 1.0 - np.outer(much, self._rooms @ one)
        room = np.maximum(self._rooms @ other, 1e-12)
        more = np.where(short > 0, short / room, 0.0).max(axis=1, initial=0.0)
        cost = much * float(one @ self._cost) + more * float(other @ self._cost)
        at = int(cost.argmin())
        mixed: FloatArray = much[at] * one + more[at] * other
        return mixed if cost[at] <= MOST else None

    def _whole(self, parts: FloatArray) -> list[int]:
        """What is rounded off goes to the next smaller node, wherever it is."""
        found, carry = [offer.pool.least for offer in self._offers], 0.0
        used = np.flatnonzero(parts).tolist()
        self._random.shuffle(used)
        for i in sorted(used, key=lambda i: -float(self._cost[i])):
            cost = float(self._cost[i])
            nodes = max(0, int(parts[i] + carry / cost + 0.5))
            found[i] = max(found[i], nodes)
            carry += (float(parts[i]) - nodes) * cost
        return found

    def _with_room(self, counts: list[int], mixed: FloatArray) -> list[int]:
        """A few more of the nodes that are there, for what is short."""
        used = np.flatnonzero(mixed)
        for _ in range(MORE_NODES):
            rooms = self._rooms @ np.array(counts)
            row = int(rooms.argmin()) if len(rooms) else 0
            if not len(rooms) or rooms[row] >= 1:
                break
            pays = self._rooms[row, used] / self._cost[used]
            counts[self._random.choice(used[pays >= 0.99 * pays.max()].tolist())] += 1
        return counts

    def _sensible(self, drawn: Sequence[int]) -> Counts | None:
        search = self._search
        counts = search.with_opened(tuple(drawn))
        if (
            not 0 < sum(counts) <= self._most_nodes
            or not search.filling.allowed(counts)
            or search.least.cost(counts) > MOST * self._bound
            or not search.least.has_room(counts)
        ):
            return None
        return counts
