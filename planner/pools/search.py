"""The cheapest set of nodes that kube-scheduler fills by itself.

Sets are looked at by rising cost, then number of nodes. Each that has room for everybody is
simulated under several seeds, and the first that leaves nobody waiting is the answer: all others
that cost less were tried or are too small, so it is proven. No failure says anything about larger
sets, and no success about them either: a node in a new zone makes it a domain for all rules.

`LeastCost` tells what a set will cost at least when it has grown enough, so that small sets that
have to grow much are looked at late (A*, Hart, Nilsson and Raphael 1968).
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field

from planner.pools.fill import Counts, Fill, Filling
from planner.pools.kept_rollouts import KeptRollouts, Stuck
from planner.pools.least_cost import LeastCost

Entry = tuple[int, int, int, Counts, int]
"""Cost and nodes at least, how uneven it is, the set, and the first offer that it may grow by."""


@dataclass(frozen=True)
class Tried:
    """A set that was simulated: who of the goal still waits, or which rollouts it would stop."""

    counts: Counts
    waiting: tuple[int, ...] = ()
    stuck: tuple[Stuck, ...] = ()


@dataclass(eq=False)
class Search:
    """One search, which may be continued.

    `tried` are all simulated sets, in order; `found` is the cheapest that is an answer: it is
    filled, and with `rollouts` it stops none of them.
    """

    filling: Filling
    least: LeastCost
    seeds: int
    rollouts: KeptRollouts | None = None
    tried: dict[Counts, Tried] = field(default_factory=dict)
    found: Fill | None = None
    _open: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._push(tuple(offer.pool.least for offer in self.filling.offers), 0)

    @property
    def bound(self) -> int | None:
        """No set that is filled costs less than this; None: no set at all is filled."""
        known = [] if self.found is None else [self.least.cost(self.found.added.counts)]
        return min((*known, *(entry[0] for entry in self._open[:1])), default=None)

    def run(self, until: float) -> bool:
        """Go on until the answer is proven, or the clock says so; whether it is proven."""
        while self._open:
            cost, nodes, _, counts, first = self._open[0]
            if self._settled(cost, nodes):
                return True
            if time.monotonic() > until:
                return False
            heapq.heappop(self._open)
            if self.least.has_room(counts) and self.try_set(counts):
                continue  # larger sets cost more
            for i in range(first, len(counts)):
                grown = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                if self.filling.allowed(grown):
                    self._push(grown, i)
        return True

    def try_set(self, counts: Counts) -> bool:
        """Whether the set is an answer; the cheapest one is kept."""
        if counts in self.tried:
            return self.tried[counts] == Tried(counts)
        fill = self.filling.worst(counts, self.seeds)
        stuck: tuple[Stuck, ...] = ()
        if self.rollouts is not None and not fill.waiting:
            stuck = self.rollouts.broken(fill.cluster)
        self.tried[counts] = Tried(counts, fill.waiting, stuck)
        good = self.tried[counts] == Tried(counts)
        if good and not self._settled(*self._value(counts)):
            self.found = fill
        return good

    def _value(self, counts: Counts) -> tuple[int, int]:
        return self.least.cost(counts), sum(counts)

    def _settled(self, cost: int, nodes: int) -> bool:
        """Whether what was found is as good as whatever is still open."""
        return self.found is not None and self._value(self.found.added.counts) <= (cost, nodes)

    def _push(self, counts: Counts, first: int) -> None:
        bound = self.least.at_least(counts, first)
        if bound is not None:
            uneven = sum(n * n for n in counts)
            heapq.heappush(self._open, (*bound, uneven, counts, first))
