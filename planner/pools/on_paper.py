"""Nodes on paper: enough if pods went where they fit best, and not where kube-scheduler puts them.

Between the bound and the answer there are two distances: that to the cheapest arrangement of whole
pods on whole nodes, and what kube-scheduler's own choices cost beyond it, or the search. An
arrangement is told only if it was checked pod by pod by the judge of plans, which shares nothing
with the search: every pod that landed could be bound where it is, were it the last one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.pools.fill import Counts, Fill
from planner.pools.search import SURE_SEEDS, Search
from planner.pools.waiting import Waiting, waiting_pods
from planner.replay.final import check_final
from planner.solver.scale_up.arrangement import Arrangement, PaperRules
from planner.solver.scale_up.on_paper import OnPaper

RULES_SECONDS = 1e-4
"""What it takes to look at the rules of a group, for each."""


@dataclass(frozen=True, eq=False)
class PaperSet:
    """Nodes of each offer, and a place for every pod of the goal; `bound` is that of all
    arrangements, whoever decides where pods go.
    """

    counts: Counts
    cost: int
    bound: int
    cluster: Cluster
    """With the nodes, and the pods where the arrangement has them: checked."""
    pods: int
    """How many have a place."""
    waiting: tuple[Waiting, ...]
    """Whom kube-scheduler leaves waiting on these nodes under the seed that leaves most."""
    seeds: int
    """How many were tried."""


class Paper:
    """The search for an arrangement beside that for an answer."""

    def __init__(self, search: Search) -> None:
        assert search.sets is not None
        self._search, self._sets = search, search.sets
        every = search.sets.every
        self._rules = PaperRules(every.question)
        self._patterns = every.patterns[0]
        self._found: OnPaper | None = None
        search.spent += RULES_SECONDS * len(self._rules.groups)

    @property
    def _bound(self) -> int:
        """What all arrangements cost at least, by patterns and by sums."""
        sums = self._search.least.at_least((0,) * len(self._search.filling.offers), 0)
        return max(self._sets.bound_on_paper, 0 if sums is None else sums[0])

    @property
    def counts(self) -> Counts | None:
        """Nodes of each offer in the cheapest arrangement so far."""
        return None if self._found is None else self._found.best.counts(self._rules.question)

    def improve(self, fill: Fill, until: float) -> None:
        """From the cheapest arrangement so far, or from a fill if that costs less."""
        start = self._as_filled(fill)
        if self._found is None or self._rules.cost(start.nodes) < self._found.cost:
            self._found = OnPaper(self._rules, start, self._patterns)
        before = self._found.spent
        self._found.improve(until - self._search.spent, self._bound)
        self._search.spent += self._found.spent - before

    def _as_filled(self, fill: Fill) -> Arrangement:
        """Where kube-scheduler put the pods; nodes of later batches stand with the others."""
        rules, cluster, added = self._rules, fill.cluster, fill.added
        question, start = rules.question, rules.problem.cluster
        offers = question.offers
        position: dict[int, int] = {}
        nodes: list[int] = []
        for i, made in enumerate(added.nodes):
            for node in made:
                position[node] = len(nodes)
                nodes.append(offers[i % len(offers)].nodes[0])
        for node in np.flatnonzero(~rules.new & rules.cap.any(axis=1)).tolist():
            position[cluster.node_index[start.nodes[node].name]] = len(nodes)
            nodes.append(node)
        pods = np.zeros((len(nodes), len(rules.groups)), np.int64)
        for g, group in enumerate(rules.groups):
            for pod in rules.problem.waiting[group]:
                if cluster.node_of[pod] >= 0:
                    pods[position[int(cluster.node_of[pod])], g] += 1
        return Arrangement(np.array(nodes, np.int64), pods)

    def told(self) -> PaperSet | None:
        """What was found, if the judge of plans agrees."""
        search, counts = self._search, self.counts
        if self._found is None or counts is None or not search.filling.allowed(counts):
            return None
        before = search.filling.add(counts)
        after = self._placed(before.cluster, before.nodes)
        goal = list(search.filling.goal)
        if (after.node_of[goal] < 0).any() or not search.opens(counts):
            return None
        if not check_final(before.cluster, after, search.filling.profile).good:
            return None
        waiting, seeds = self._who_waits(counts)
        bound = min(self._bound, self._found.cost)
        pods = int(self._found.best.pods.sum())
        return PaperSet(counts, self._found.cost, bound, after, pods, waiting, seeds)

    def _placed(self, cluster: Cluster, made: tuple[tuple[int, ...], ...]) -> Cluster:
        """The cluster with pods as the arrangement has them, those that have to run first."""
        assert self._found is not None
        rules, best, goal = self._rules, self._found.best, set(self._search.filling.goal)
        free = {i: list(nodes) for i, nodes in enumerate(made)}
        landing: dict[int, list[int]] = defaultdict(list)
        for node, pods in zip(best.nodes.tolist(), best.pods, strict=True):
            offer = rules.offer_of.get(node)
            name = rules.problem.cluster.nodes[node].name
            home = cluster.node_index[name] if offer is None else free[offer].pop(0)
            for g in np.flatnonzero(pods).tolist():
                landing[rules.groups[g]] += [home] * int(pods[g])
        placement: dict[int, int] = {}
        for group, homes in landing.items():
            queue = sorted(rules.problem.waiting[group], key=lambda pod: pod not in goal)
            placement.update(zip(queue, homes, strict=False))
        return cluster.with_placement(placement)

    def _who_waits(self, counts: Counts) -> tuple[tuple[Waiting, ...], int]:
        """Whom kube-scheduler leaves waiting when the nodes come at once; how many seeds."""
        search, filling = self._search, self._search.filling
        if search.many is None:
            seeds = range(search.seeds)
            search.charge(counts, len(seeds))
            added = filling.add(counts)
            worst = max((filling.fill(added, seed) for seed in seeds), key=lambda f: len(f.waiting))
        else:
            seeds = range(max(search.seeds, SURE_SEEDS))
            found = search.waiting(search.many, [(counts, seed) for seed in seeds])
            left = found[:, search.many.wanted].sum(axis=1)
            worst = filling.fill(filling.add(counts), int(np.argmax(left)))
        return waiting_pods(worst.cluster, worst.waiting, filling.profile), len(seeds)
