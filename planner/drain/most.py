"""`planner drain --most`: the nodes that can be emptied and are worth the most.

In a small cluster the solver picks the best set by all rules; kube-scheduler's own choices judge it
and the failures that it has to stand are tried on what is left. A set that fails is cut off, and
the next best picked: so nothing that is worth more was overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from planner.cluster import Cluster
from planner.disruption.node_lifecycle import with_condition_taints
from planner.drain.empty_nodes import EmptyingNodes, is_possible, state_after
from planner.drain.fewest_rounds import AtOnce, most_at_once
from planner.drain.find import Drain
from planner.drain.most_at_scale import WORK, MostAtScale
from planner.drain.options import DrainOptions
from planner.evictions.suggest import settled
from planner.replay.violations import total, violations
from planner.scenario.single_failures import Failing, Failures, single_failures, without_nodes
from planner.scheduler.profile import Profile
from planner.solver.emptying.best_set import BestEmptySet, EmptySet
from planner_models.drain import Survive
from planner_models.node import ZONE

EXACT_CELLS = 3_000
"""Groups times nodes up to which the best set is looked for by all rules at once."""
MOST_SETS = 500
"""So many sets are tried before the best so far has to do: about 100 ms each in a small cluster."""
FEW_SEEDS = 1
"""So many seeds turn a bad set down; a good one is tried under all."""
FAILURE_WORK = 3_000_000
"""Pods times nodes up to which every single failure is tried without being asked to."""


@dataclass(frozen=True)
class MostOptions:
    """What was asked: the nodes that may go, what each is worth, and what has to be survived.

    `unit` is what a price of 1 stands for, per hour; without it nodes count, each as 1.
    """

    candidates: tuple[int, ...]
    prices: Mapping[int, int]
    survive: Survive = "none"
    unit: Decimal | None = None

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

    @property
    def is_large(self) -> bool:
        """Whether the rules are too many to be looked at all at once."""
        return len(self._cluster.groups) * len(self._cluster.nodes) > EXACT_CELLS

    def best(self) -> Most:
        """The best set, proven where nothing was left out."""
        if not self._prices:
            return Most(self._emptying.empty(()), 0, 0, 0)
        if self.is_large:
            return self._at_scale(WORK)
        known = self.one_of_each_kind()
        search = self._search()
        found = self._first_that_holds(search, search.cut_off, known)
        return found if found.proven else self._no_worse_than_at_scale(found)

    def _at_scale(self, work: int) -> Most:
        """Sets that counting suggests, mended and made larger by kube-scheduler's own choices."""
        search = MostAtScale(
            self._emptying, self._prices, lambda drain: self._stands(drain, FEW_SEEDS), work
        )
        bound = search.bound()
        drain = search.best(bound) or self._emptying.empty(())
        return Most(drain, search.price, bound, search.goes)

    def _no_worse_than_at_scale(self, found: Most) -> Most:
        """Where sets by all rules fail one after the other, smaller ones that grow may hold."""
        grown = self._at_scale(WORK // 10)
        bound, tried = min(found.bound, grown.bound), found.sets_tried + grown.sets_tried
        best = max((found, grown), key=lambda each: each.price)
        return replace(best, bound=max(bound, best.price), sets_tried=tried)

    def one_of_each_kind(self) -> Most:
        """The same, but one set stands for all that take as many nodes from every zone.

        Quick, and no proof: another set of the same kind may do better.
        """
        search, zone_of = self._search(), self._cluster.topology(ZONE).domain_of
        nothing = Most(self._emptying.empty(()), 0, sum(self._prices.values()), 0)
        return self._first_that_holds(
            search, lambda nodes: search.cut_off_kind(nodes, zone_of), nothing
        )

    def at_once(self) -> AtOnce:
        """How many nodes can be empty together, and the domains that say so."""
        return most_at_once(self._emptying, list(self._prices))

    def _search(self) -> BestEmptySet:
        search = self._emptying.best_sets(self._prices, removed=True)
        for kind in self._asked.failures:
            for failure in single_failures(self._cluster, kind):
                search.keep_room(self._emptying.counting(failure.nodes).rows(gone=True))
        return search

    def _first_that_holds(
        self, search: BestEmptySet, cut_off: Callable[[Collection[int]], None], known: Most
    ) -> Most:
        """The best set that holds; what is known already, if none is better."""
        bound = sum(self._prices.values())
        for number in range(1, MOST_SETS + 1):
            found = search.best()
            if found is None:
                bound = bound if search.out_of_time else known.price
                break
            bound = min(bound, found.bound)
            if found.nodes == known.drain.aim.drained or found.price < known.price:
                return replace(known, bound=max(bound, known.price), sets_tried=number)
            drain = self._held(found)
            if drain is not None:
                return Most(drain, found.price, bound, number)
            cut_off(found.nodes)
        return replace(known, bound=max(bound, known.price), sets_tried=number)

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
        workers = self._emptying.options.workers
        return failures.survived(self._asked.failures, seeds, workers)


@dataclass(frozen=True, eq=False)
class SavedSet:
    """Nodes that can go; `waiting` are the fewest and most pods that a failure leaves then."""

    nodes: tuple[int, ...]
    evictions: int
    waves: int
    price: int
    waiting: Mapping[Failing, tuple[int, int]]
    survives: Survive = "none"


@dataclass(frozen=True, eq=False)
class MostAnswer:
    """The best set, what limits it, and sets to choose from, fewest nodes first."""

    start: Cluster
    asked: MostOptions
    most: Most
    at_once: AtOnce
    sets: tuple[SavedSet, ...]


def find_most(
    cluster: Cluster, options: DrainOptions, asked: MostOptions, profile: Profile
) -> MostAnswer:
    """The nodes that can go, and what the cluster stands without them."""
    start = settled(with_condition_taints(cluster), profile)
    search = MostNodes(start, profile, asked, options)
    most = search.best()
    sets: list[SavedSet] = []
    if len(start.running) * len(start.nodes) <= FAILURE_WORK:
        sets = list(_sets(start, profile, asked, options, most))
    return MostAnswer(start, asked, most, search.at_once(), tuple(sets))


def _sets(
    start: Cluster, profile: Profile, asked: MostOptions, options: DrainOptions, most: Most
) -> Iterator[SavedSet]:
    """None at all; where not asked for, those that stand the loss of a zone; and the most."""
    chosen = most.drain.aim.drained
    kind: Survive = "zone" if len(start.topology(ZONE).domains) > 1 else "node"
    nothing = _saved(start, (), 0, 0, 0, profile)
    yield nothing
    last = _saved_by(most, profile, asked.survive)
    fails = any(last.waiting[each][1] > 0 for each in last.waiting)
    holds = nothing.waiting.get("zone" if kind == "zone" else "node", (0, 0))[1] <= 0
    small = len(start.groups) * len(start.nodes) <= EXACT_CELLS
    if asked.survive == "none" and fails and holds and small:
        standing = MostNodes(start, profile, replace(asked, survive=kind), options)
        found = standing.one_of_each_kind()
        if found.drain.aim.drained:
            yield _saved_by(found, profile, kind)
    if chosen:
        yield last


def _saved_by(most: Most, profile: Profile, survives: Survive) -> SavedSet:
    drain, after = most.drain, state_after(most.drain)
    evictions = len(drain.evicted) + len(drain.leaving.lost)
    waves = len(drain.tried.waves)
    found = _saved(after, drain.aim.drained, evictions, waves, most.price, profile)
    return replace(found, survives=survives)


def _saved(
    after: Cluster,
    nodes: tuple[int, ...],
    evictions: int,
    waves: int,
    price: int,
    profile: Profile,
) -> SavedSet:
    failures = Failures(after, nodes, profile)
    waiting: dict[Failing, tuple[int, int]] = {}
    kinds: tuple[Failing, ...] = ("node", "zone")
    for kind in kinds:
        lost = [failures.waiting(each) for each in failures.all(kind)]
        if lost:
            waiting[kind] = (min(lost), max(lost))
    return SavedSet(nodes, evictions, waves, price, waiting)
