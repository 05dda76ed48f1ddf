"""What kube-scheduler makes of new nodes: who of the waiting pods runs then, seed by seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from planner.cluster import GONE, PENDING, Cluster
from planner.pools.pool import Offer
from planner.scenario import AddNodes, Settled, apply_changes, settle
from planner.scheduler.profile import Profile

Counts = tuple[int, ...]
"""How many nodes of each offer."""


@dataclass(frozen=True, eq=False)
class Added:
    """The cluster with new nodes and the DaemonSets' pods on them; everybody else waits."""

    cluster: Cluster
    counts: Counts
    nodes: tuple[tuple[int, ...], ...]
    """By offer: the new nodes, as indexes of the cluster."""


@dataclass(frozen=True, eq=False)
class Fill:
    """New nodes, and what became of the pods that were to run under one seed."""

    added: Added
    settled: Settled
    waiting: tuple[int, ...]
    """Pods of the goal that still wait, as indexes of the given cluster, too."""

    @property
    def cluster(self) -> Cluster:
        """The cluster with the nodes, when nothing happens any more."""
        return self.settled.cluster


@dataclass(frozen=True, eq=False)
class Filling:
    """Simulations from one settled cluster, in which all waiting pods take part.

    `goal` are those that have to run. Pods of DaemonSets come to a new node before any other: their
    controller makes them while the node is not ready yet.
    """

    cluster: Cluster
    goal: tuple[int, ...]
    offers: Sequence[Offer]
    profile: Profile
    batches: tuple[int, ...] = ()
    """By offer: in which batch its nodes come, from 0 on; empty if all come at once."""

    def allowed(self, counts: Counts) -> bool:
        """Whether the set is within what pools may have, each alone and all that share a limit."""
        limits = zip(self.offers, counts, strict=True)
        if any(offer.pool.most is not None and n > offer.pool.most for offer, n in limits):
            return False
        return all(
            sum(n * each for n, each in zip(counts, row, strict=True)) <= most
            for most, row in self.shared_limits
        )

    @cached_property
    def shared_limits(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """What may be reached in all, and what a node of each offer adds."""
        most = {limit.name: limit.most for o in self.offers for limit in o.pool.shared}
        rows = {name: [0] * len(self.offers) for name in most}
        for i, offer in enumerate(self.offers):
            for limit in offer.pool.shared:
                rows[limit.name][i] = limit.each
        return tuple((most[name], tuple(row)) for name, row in rows.items())

    def add(self, counts: Counts) -> Added:
        """The cluster with these nodes, before kube-scheduler looks at those who wait."""
        waiting = self.cluster.pending.tolist()
        changes = [
            AddNodes(offer.template, count)
            for offer, count in zip(self.offers, counts, strict=True)
            if count
        ]
        alone = self.cluster.with_placement(dict.fromkeys(waiting, GONE))
        changed = apply_changes(alone, changes)
        names = iter(fact.objects for fact in changed.facts)
        ready = settle(changed, self.profile).cluster
        index = ready.node_index
        nodes = tuple(
            tuple(index[name] for name in next(names)) if count else () for count in counts
        )
        return Added(ready.with_placement(dict.fromkeys(waiting, PENDING)), counts, nodes)

    def fill(self, added: Added, seed: int = 0) -> Fill:
        """What kube-scheduler does with these nodes under one seed of ties.

        Pods that wait stand in its queue already: they come in this order under every seed.
        """
        if self.batches:
            return self._in_batches(added, seed)
        changed = apply_changes(added.cluster, [])
        settled = settle(changed, self.profile, seed=seed, in_order=True)
        waiting = tuple(pod for pod in self.goal if settled.cluster.node_of[pod] < 0)
        return Fill(added, settled, waiting)

    def _in_batches(self, added: Added, seed: int) -> Fill:
        """Each batch is filled before the next one comes; then everybody is where he would be.

        Nodes have the same names as if all came at once, and stand in the order of their names.
        """
        here, fills = replace(self, batches=()), list[Fill]()
        for batch in range(max(self.batches) + 1):
            chosen = zip(added.counts, self.batches, strict=True)
            counts = tuple(n if own == batch else 0 for n, own in chosen)
            fills.append(here.fill(here.add(counts), seed))
            here = replace(here, cluster=fills[-1].cluster)
        return replace(fills[-1], added=added)

    def worst(self, counts: Counts, seeds: int) -> Fill:
        """The first seed that leaves somebody waiting; the first of all if none does."""
        added = self.add(counts)
        first = self.fill(added)
        if first.waiting:
            return first
        others = (self.fill(added, seed) for seed in range(1, seeds))
        return next((fill for fill in others if fill.waiting), first)

    def by_priority(self, fill: Fill) -> tuple[int, ...]:
        """How many pods of the goal run, highest priority first: what is maximised before cost."""
        pods = self.cluster.pods
        running: Mapping[int, int] = Counter(
            pods[pod].priority for pod in set(self.goal).difference(fill.waiting)
        )
        every = sorted({pods[pod].priority for pod in self.goal}, reverse=True)
        return tuple(running.get(priority, 0) for priority in every)
