"""`planner drain --most`: the nodes that can be emptied and are worth the most.

In a small cluster the solver picks the best set by all rules; kube-scheduler's own choices judge it
and the failures that it has to stand are tried on what is left. A set that fails is cut off, and
the next best picked: so nothing that is worth more was overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from planner.cluster import Cluster
from planner.drain.empty_nodes import Emptied, EmptyingNodes, Manner
from planner.drain.single_failures import Failing, Failures, without_nodes
from planner.replay.violations import total, violations
from planner.scheduler.profile import Profile
from planner.solver.emptying.best_set import BestEmptySet, EmptySet
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
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
    manner: Manner = field(default_factory=Manner)

    @property
    def failures(self) -> tuple[Failing, ...]:
        """Who stands the loss of a zone was not asked about single nodes, and the reverse."""
        return () if self.survive == "none" else (self.survive,)


@dataclass(frozen=True, eq=False)
class Most:
    """The best set that was found; `bound` is a price that no set exceeds."""

    emptied: Emptied
    price: int
    bound: int
    sets_tried: int

    @property
    def proven(self) -> bool:
        """Whether no other set is worth more."""
        return self.price >= self.bound


class MostNodes:
    """The search in one cluster."""

    def __init__(self, cluster: Cluster, profile: Profile, options: MostOptions) -> None:
        self._cluster = cluster
        self._profile = profile
        self._options = options
        self._emptying = EmptyingNodes(cluster, profile, options.manner)
        stuck = self._emptying.leaving.stuck
        self._prices = {n: options.prices[n] for n in options.candidates if n not in stuck}

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
        cluster, manner = self._cluster, self._options.manner
        elsewhere = ~np.isin(cluster.node_of, list(self._prices))
        options = SolveOptions(
            rebalance=True,
            policy=manner.policy,
            spared=frozenset(np.flatnonzero(elsewhere).tolist()),
            time_limit=manner.time_limit,
        )
        problem = build_problem(cluster, options)
        search = BestEmptySet(problem, self._prices, self._emptying.broken, removed=True)
        for kind in self._options.failures:
            for failure in Failures(cluster, (), self._profile).all(kind):
                search.keep_room(failure.nodes)
        return search

    def _first_that_holds(
        self, search: BestEmptySet, cut_off: Callable[[Collection[int]], None]
    ) -> Most:
        bound: int | None = None
        for number in range(1, MOST_SETS + 1):
            found = search.best()
            if found is None:
                bound = 0 if bound is None and not search.out_of_time else bound
                break
            bound = found.bound if bound is None else min(bound, found.bound)
            emptied = self._held(found)
            if emptied is not None:
                return Most(emptied, found.price, min(bound, found.bound), number)
            cut_off(found.nodes)
        nothing = Emptied(self._cluster, (), None)
        most = sum(self._prices.values()) if bound is None else bound
        return Most(nothing, 0, most, MOST_SETS)

    def _held(self, found: EmptySet) -> Emptied | None:
        """The set emptied, if kube-scheduler does so in every seed and failures are stood."""
        quick = self._emptying.empty(found.nodes, seeds=FEW_SEEDS)
        if quick.possible and not self._stands(quick, FEW_SEEDS):
            return None
        seeds = self._options.manner.seeds
        emptied = self._emptying.empty(found.nodes) if quick.possible else quick
        if not emptied.possible:
            emptied = self._emptying.empty_by_plan(found.nodes)
        return emptied if emptied.possible and self._stands(emptied, seeds) else None

    def _stands(self, emptied: Emptied, seeds: int) -> bool:
        """Whether rules hold without the nodes, too, and no failure leaves a pod waiting."""
        left = without_nodes(emptied.after, emptied.nodes)
        if total(violations(left, self._profile)) > self._emptying.broken:
            return False
        failures = Failures(emptied.after, emptied.nodes, self._profile)
        return failures.survived(self._options.failures, seeds)
