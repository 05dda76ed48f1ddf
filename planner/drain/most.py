"""`planner drain --most`: the nodes that can be emptied and are worth the most.

In a small cluster the solver picks the best set by all rules; kube-scheduler's own choices judge it
and the failures that it has to stand are tried on what is left. A set that fails is cut off, and
the next best picked: so nothing that is worth more was overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from planner.cluster import Cluster
from planner.drain.empty_nodes import EmptyingNodes, is_possible, state_after
from planner.drain.find import Drain
from planner.drain.options import DrainOptions
from planner.drain.single_failures import Failing, Failures, without_nodes
from planner.replay.violations import total, violations
from planner.scheduler.profile import Profile
from planner.solver.emptying.best_set import BestEmptySet, EmptySet
from planner_models.node import ZONE

Survive = Literal["zone", "node", "none"]
MOST_SETS = 500
"""So many sets are tried before the best so far has to do: about 100 ms each in a small cluster."""
FEW_SEEDS = 1
"""So many seeds turn a bad set down; a good one is tried under all."""


@dataclass(frozen=True)
class MostOptions:
    """What was asked: the nodes that may go, what each is worth, and what has to be survived."""

    candidates: tuple[int, ...]
    prices: Mapping[int, int]
    survive: Survive = "none"

    @property
    def failures(self) -> tuple[Failing, ...]:
        """Who stands the loss of a zone was not asked about single nodes, and the reverse."""
        return () if self.survive == "none" else (self.survive,)


@dataclass(frozen=True, eq=False)
class Most:
    """The best set that was found; `bound` is a price that no set exceeds."""

    drain: Drain
    price: int
    bound: int
    sets_tried: int

    @property
    def proven(self) -> bool:
        """Whether no other set is worth more."""
        return self.price >= self.bound


class MostNodes:
    """The search in one cluster."""

    def __init__(
        self, cluster: Cluster, profile: Profile, asked: MostOptions, options: DrainOptions
    ) -> None:
        self._cluster = cluster
        self._profile = profile
        self._asked = asked
        self._emptying = EmptyingNodes(cluster, profile, options)
        stuck = self._emptying.stuck
        self._prices = {n: asked.prices[n] for n in asked.candidates if n not in stuck}

    def best(self) -> Most:
        """The best set, proven where nothing was left out."""
        search = self._search()
        return self._first_that_holds(search, search.cut_off)

    def one_of_each_kind(self) -> Most:
        """The same, but one set stands for all that take as many nodes from every zone.

        Quick, and no proof: another set of the same kind may do better.
        """
        search, zone_of = self._search(), self._cluster.topology(ZONE).domain_of
        return self._first_that_holds(search, lambda nodes: search.cut_off_kind(nodes, zone_of))

    def _search(self) -> BestEmptySet:
        search = self._emptying.best_sets(self._prices, removed=True)
        for kind in self._asked.failures:
            for failure in Failures(self._cluster, (), self._profile).all(kind):
                search.keep_room(failure.nodes)
        return search

    def _first_that_holds(
        self, search: BestEmptySet, cut_off: Callable[[Collection[int]], None]
    ) -> Most:
        bound = sum(self._prices.values())
        for number in range(1, MOST_SETS + 1):
            found = search.best()
            if found is None:
                bound = bound if search.out_of_time else 0
                break
            bound = min(bound, found.bound)
            drain = self._held(found)
            if drain is not None:
                return Most(drain, found.price, bound, number)
            cut_off(found.nodes)
        return Most(self._emptying.empty(()), 0, bound, number)

    def _held(self, found: EmptySet) -> Drain | None:
        """The set emptied, if kube-scheduler does so in every seed and failures are stood."""
        quick = self._emptying.empty(found.nodes, seeds=FEW_SEEDS)
        if is_possible(quick) and not self._stands(quick, FEW_SEEDS):
            return None
        drain = self._emptying.empty(found.nodes) if is_possible(quick) else quick
        if not is_possible(drain):
            drain = self._emptying.empty_thoroughly(found.nodes)
        return drain if is_possible(drain) and self._stands(drain, drain.seeds) else None

    def _stands(self, drain: Drain, seeds: int) -> bool:
        """Whether rules hold without the nodes, too, and no failure leaves a pod waiting."""
        after, nodes = state_after(drain), drain.aim.drained
        if total(violations(without_nodes(after, nodes), self._profile)) > self._emptying.broken:
            return False
        failures = Failures(after, nodes, self._profile)
        return failures.survived(self._asked.failures, seeds)
