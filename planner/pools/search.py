"""Sets of nodes that were tried, the cheapest that is an answer, and what is proven about others.

A set is an answer if kube-scheduler fills it by itself under every seed, and stops no rollout. No
failure says anything about larger sets, and no success about them either: a node in a new zone
makes it a domain for all rules.

Time is counted in what was simulated and solved, so that the same input ends at the same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.cluster.topology import IntArray
from planner.pools.fill import Counts, Fill, Filling
from planner.pools.kept_rollouts import KeptRollouts, Stuck
from planner.pools.least_cost import LeastCost
from planner.pools.many_fills import ManyFills, many_fills
from planner.pools.survival import Loss, Survival
from planner.solver.scale_up.sets_in_turn import SetsInTurn

SURE_SEEDS = 20
"""Which an answer has to stand, however few are asked for: whoever tries many sets under few seeds
finds some that pass by luck."""
LANDINGS_A_SECOND = 4_500_000
"""Landings times nodes that are simulated in a second."""
BESIDE_NODES = 600
"""What a landing costs beside looking at nodes, in nodes."""
NODES_SECONDS, PODS_SECONDS = 2e-3, 1e-5
"""Adding nodes to the cluster; and for each pod that waits."""
LANES, WIDE, PLACES = 64, 256, 8_000
"""Sets that are filled at once in a search step by step, and where there are more of them; and
about how many nodes they may have together."""
STEP_SECONDS, PLACE_SECONDS = 9e-5, 4e-8
"""A landing in all of them, and for each of their nodes."""


@dataclass(frozen=True)
class Tried:
    """A set that was simulated: who of the goal still waits, or which rollouts it would stop."""

    counts: Counts
    waiting: tuple[int, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    lost: str = ""
    """The zone or node without which pods wait, if one was to be survived."""
    waiting_then: int = 0

    @property
    def good(self) -> bool:
        """Whether the set is an answer."""
        return not (self.waiting or self.stuck or self.lost)


@dataclass(eq=False)
class Search:
    """`tried` are all simulated sets, in order; `found` is the cheapest that is an answer."""

    filling: Filling
    least: LeastCost
    seeds: int
    rollouts: KeptRollouts | None = None
    survival: Survival | None = None
    opened: tuple[tuple[int, ...], ...] = ()
    """Offers by number, of each of which one node at least has to be there."""
    tried: dict[Counts, Tried] = field(default_factory=dict)
    found: Fill | None = None
    sets: SetsInTurn | None = None
    """Those that patterns of pods on nodes allow, once these were looked at."""
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

    @property
    def bound_now(self) -> int:
        """No answer costs less, by what is known so far."""
        return self._bound

    def prove(self, bound: int) -> None:
        """No answer costs less."""
        self._bound = max(self._bound, bound)

    @property
    def open(self) -> bool:
        """Whether a cheaper answer is possible, by what is known."""
        if self.proven:
            return False
        return self.found is None or self.least.cost(self.found.added.counts) > self._bound

    @cached_property
    def many(self) -> ManyFills | None:
        """Sets filled side by side, where the rules allow it."""
        return many_fills(self.filling)

    @cached_property
    def lanes(self) -> int:
        """How many sets are filled at once: 1 if each is filled alone."""
        if self.many is None or self.survival is not None:
            return 1
        return max(1, min(LANES, PLACES // max(1, self.many.nodes)))

    def wide_lanes(self, nodes: int) -> int:
        """How many sets of so many nodes are filled at once, if there are as many."""
        there = 0 if self.many is None else self.many.nodes
        return max(self.lanes, min(WIDE, PLACES // max(1, there + nodes)))

    def waiting(
        self, many: ManyFills, sets: Sequence[tuple[Counts, int]], at_once: int = 0
    ) -> IntArray:
        """By set with its seed, and by run: how many pods wait; so many are filled at once."""
        found = []
        for first in range(0, len(sets), at_once or self.lanes):
            chosen = sets[first : first + (at_once or self.lanes)]
            found.append(many.waiting(chosen))
            nodes = max(sum(counts) for counts, _ in chosen)
            self.spent += self._lanes_seconds(many, len(chosen), nodes)
        return np.concatenate(found)

    def _lanes_seconds(self, many: ManyFills, lanes: int, nodes: int) -> float:
        places = lanes * (many.nodes + nodes)
        return many.steps * (STEP_SECONDS + PLACE_SECONDS * places)

    def filling_seconds(self, nodes: int) -> float:
        """What it takes to fill as many sets of so many nodes as are filled at once."""
        if self.many is None or self.lanes == 1:
            landings = self.filling.cluster.pending.size * (nodes + BESIDE_NODES)
            return NODES_SECONDS + landings / LANDINGS_A_SECOND
        return self._lanes_seconds(self.many, self.lanes, nodes)

    def worst(self, counts: Counts, *, few: bool = False) -> Fill:
        """What kube-scheduler makes of the nodes under the worst seed, or under the first."""
        seeds = 1 if few else max(self.seeds, SURE_SEEDS)
        if self.many is None or few:
            fill = self.filling.worst(counts, seeds)
            self.charge(counts, fill.settled.seed + 1 if fill.waiting else seeds)
            return fill
        waiting = self.waiting(self.many, [(counts, seed) for seed in range(seeds)])
        refused = np.flatnonzero(waiting[:, self.many.wanted].any(axis=1)).tolist()
        self.charge(counts, 1)
        return self.filling.fill(self.filling.add(counts), next(iter(refused), 0))

    def confirmed(self) -> bool:
        """Whether the answer stands every seed when it is filled alone, seed by seed."""
        if self.found is None or self.many is None:
            return self.found is not None
        return not self.filling.worst(self.found.added.counts, max(self.seeds, SURE_SEEDS)).waiting

    def charge(self, counts: Counts, fills: int) -> None:
        """The time that so many simulations with these nodes take."""
        pods, nodes = self.filling.cluster.pending.size, len(self.filling.cluster.nodes)
        landings = fills * pods * (nodes + sum(counts) + BESIDE_NODES)
        self.spent += NODES_SECONDS + PODS_SECONDS * pods + landings / LANDINGS_A_SECOND

    def try_set(self, counts: Counts) -> bool:
        """Whether the set is an answer; the cheapest one is kept."""
        if not self.opens(counts):
            return False
        if counts in self.tried:
            return self.tried[counts].good
        fill = self.worst(counts)
        stuck: tuple[Stuck, ...] = ()
        if self.rollouts is not None and not fill.waiting:
            stuck = self.rollouts.broken(fill.cluster)
            landings = self.rollouts.landings * (len(fill.cluster.nodes) + BESIDE_NODES)
            self.spent += landings / LANDINGS_A_SECOND
        loss = None
        if self.survival is not None and not fill.waiting and not stuck:
            loss = self.loss(fill)
        self.tried[counts] = Tried(
            counts,
            fill.waiting,
            stuck,
            "" if loss is None else loss.name,
            0 if loss is None else len(loss.waiting),
        )
        good = self.tried[counts].good
        if good and not self.as_good_as(*self.value(counts)):
            self.found = fill
        return good

    def loss(self, fill: Fill) -> Loss | None:
        """The failure that leaves most waiting with these nodes, if one is to be survived."""
        if self.survival is None:
            return None
        cluster = fill.cluster
        landings = len(cluster.running) * (len(cluster.nodes) + BESIDE_NODES)
        self.spent += landings / LANDINGS_A_SECOND
        return self.survival.worst(cluster)

    def opens(self, counts: Counts) -> bool:
        """Whether all zones get a node that have to."""
        return all(any(counts[i] for i in offers) for offers in self.opened)

    def with_opened(self, counts: Counts) -> Counts:
        """The set with the cheapest node in each zone that has to get one."""
        grown = list(counts)
        for offers in self.opened:
            if not any(grown[i] for i in offers):
                grown[min(offers, key=lambda i: (self.filling.offers[i].cost, i))] += 1
        return tuple(grown)

    def beaten(self, counts: Counts) -> bool:
        """Whether what was found is as good as the set."""
        return self.as_good_as(*self.value(counts))

    def cheaper_than(self, other: Search) -> bool:
        """Whether what was found costs less than what the other search has found."""
        if self.found is None:
            return False
        cost = self.least.cost(self.found.added.counts)
        return other.found is None or cost < other.least.cost(other.found.added.counts)

    def value(self, counts: Counts) -> tuple[int, int]:
        """Cost, then nodes: what is made small."""
        return self.least.cost(counts), sum(counts)

    def as_good_as(self, cost: int, nodes: int) -> bool:
        """Whether what was found costs no more than that, with no more nodes."""
        return self.found is not None and self.value(self.found.added.counts) <= (cost, nodes)
