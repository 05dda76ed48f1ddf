"""Sets of nodes that were tried, the cheapest that is an answer, and what is proven about others.

A set is an answer if kube-scheduler fills it by itself under every seed, and stops no rollout. No
failure says anything about larger sets, and no success about them either: a node in a new zone
makes it a domain for all rules.

Time is counted in what was simulated and solved, so that the same input ends at the same place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.pools.fill import Counts, Fill, Filling
from planner.pools.kept_rollouts import KeptRollouts, Stuck
from planner.pools.least_cost import LeastCost

LANDINGS_A_SECOND = 2_500_000
"""Landings times nodes that are simulated in a second."""
BESIDE_NODES = 600
"""What a landing costs beside looking at nodes, in nodes."""
NODES_SECONDS, PODS_SECONDS = 8e-3, 6e-5
"""Adding nodes to the cluster; and for each pod that waits."""


@dataclass(frozen=True)
class Tried:
    """A set that was simulated: who of the goal still waits, or which rollouts it would stop."""

    counts: Counts
    waiting: tuple[int, ...] = ()
    stuck: tuple[Stuck, ...] = ()


@dataclass(eq=False)
class Search:
    """`tried` are all simulated sets, in order; `found` is the cheapest that is an answer."""

    filling: Filling
    least: LeastCost
    seeds: int
    rollouts: KeptRollouts | None = None
    tried: dict[Counts, Tried] = field(default_factory=dict)
    found: Fill | None = None
    proven: bool = False
    """`found` is the cheapest answer, or there is none."""
    spent: float = 0.0
    """About seconds."""
    _bound: int = 0

    @property
    def bound(self) -> int | None:
        """No set that is filled costs less than this; None: no set at all is filled."""
        if self.found is None:
            return None if self.proven else self._bound
        cost = self.least.cost(self.found.added.counts)
        return cost if self.proven else min(cost, self._bound)

    def prove(self, bound: int) -> None:
        """No answer costs less."""
        self._bound = max(self._bound, bound)

    @property
    def open(self) -> bool:
        """Whether a cheaper answer is possible, by what is known."""
        if self.proven:
            return False
        return self.found is None or self.least.cost(self.found.added.counts) > self._bound

    def worst(self, counts: Counts, *, few: bool = False) -> Fill:
        """What kube-scheduler makes of the nodes under the worst seed, or under the first."""
        pods, nodes = self.filling.cluster.pending.size, len(self.filling.cluster.nodes)
        seeds = 1 if few else self.seeds
        fill = self.filling.worst(counts, seeds)
        trials = fill.settled.seed + 1 if fill.waiting else seeds
        landings = trials * pods * (nodes + sum(counts) + BESIDE_NODES)
        self.spent += NODES_SECONDS + PODS_SECONDS * pods + landings / LANDINGS_A_SECOND
        return fill

    def try_set(self, counts: Counts) -> bool:
        """Whether the set is an answer; the cheapest one is kept."""
        if counts in self.tried:
            return self.tried[counts] == Tried(counts)
        fill = self.worst(counts)
        stuck: tuple[Stuck, ...] = ()
        if self.rollouts is not None and not fill.waiting:
            stuck = self.rollouts.broken(fill.cluster)
            landings = self.rollouts.landings * (len(fill.cluster.nodes) + BESIDE_NODES)
            self.spent += landings / LANDINGS_A_SECOND
        self.tried[counts] = Tried(counts, fill.waiting, stuck)
        good = self.tried[counts] == Tried(counts)
        if good and not self.as_good_as(*self.value(counts)):
            self.found = fill
        return good

    def beaten(self, counts: Counts) -> bool:
        """Whether what was found is as good as the set."""
        return self.as_good_as(*self.value(counts))

    def value(self, counts: Counts) -> tuple[int, int]:
        """Cost, then nodes: what is made small."""
        return self.least.cost(counts), sum(counts)

    def as_good_as(self, cost: int, nodes: int) -> bool:
        """Whether what was found costs no more than that, with no more nodes."""
        return self.found is not None and self.value(self.found.added.counts) <= (cost, nodes)
