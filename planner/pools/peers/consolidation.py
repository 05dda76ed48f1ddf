"""Karpenter's consolidation: empty nodes go, then as many as one can replace, then single ones.

Candidates come by price for each pod that has to move. For prefixes of them, the longest that
halving finds, the pods are placed anew by Karpenter's rules. The nodes go if all find a place and
at most one new node is needed, which is cheaper than all of them, and for several also cheaper than
any of its own type among them. Otherwise the first single node goes for which that holds; until
nothing changes. Budgets, timeouts and spot rules take no part. kube-scheduler places the pods; whom
it leaves waiting gets nodes again, so that it may go round in circles: then the cheapest counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.pools.fill import Filling
from planner.pools.peers.compare import Emulated, emulate, karpenter
from planner.pools.peers.karpenter import Claim, Provisioner
from planner.pools.peers.world import World
from planner.pools.room import FreshNodes

AT_ONCE = 100
PRIORITY_PER_POD = 2.0**25
MOST_COST = 10.0
IN_CIRCLES = 20
"""So many commands after which nothing has become cheaper."""


@dataclass(frozen=True)
class Command:
    """Nodes that go, by name, and the offer that takes their place, if one is needed."""

    nodes: tuple[str, ...]
    replacement: int | None = None


def consolidated(filling: Filling, found: Emulated) -> tuple[Emulated, int]:
    """The cluster when nothing is left to consolidate among the added nodes, and the evictions."""
    evicted = idle = 0
    cheapest = found, evicted
    while (command := Candidates(filling, found).command()) is not None:
        before = found.cluster
        found = _applied(filling, found, command)
        evicted += _moving(before, command.nodes)
        if _cost(filling, found) < _cost(filling, cheapest[0]):
            cheapest, idle = (found, evicted), 0
        else:
            idle += 1
        if idle == IN_CIRCLES:
            return cheapest
    return found, evicted


def _cost(filling: Filling, found: Emulated) -> int:
    return sum(n * offer.cost for n, offer in zip(found.counts, filling.offers, strict=True))


def _moving(cluster: Cluster, nodes: Sequence[str]) -> int:
    here = [cluster.node_index[name] for name in nodes]
    pods = np.flatnonzero(np.isin(cluster.node_of, here)).tolist()
    return sum(not _daemon(cluster, pod) for pod in pods)


def _daemon(cluster: Cluster, pod: int) -> bool:
    owner = cluster.pods[pod].owner
    return owner is not None and owner.kind == "DaemonSet"


class Candidates:
    """The added nodes, in the order in which Karpenter would rather lose them."""

    def __init__(self, filling: Filling, found: Emulated) -> None:
        cluster = found.cluster
        self._offers = filling.offers
        self._offer_of = dict(found.added)
        on_added = [
            pod
            for name in self._offer_of
            for pod in cluster.pods_on(cluster.node_index[name]).tolist()
            if not _daemon(cluster, pod)
        ]
        self._fresh = FreshNodes(replace(filling, cluster=cluster, goal=()))
        groups = {int(self._fresh.cluster.group_of[pod]) for pod in on_added}
        self._world = World(self._fresh, sorted(groups))
        pods: Counter[str] = Counter()
        disruption = dict.fromkeys(self._offer_of, 1.0)
        for pod in on_added:
            name = cluster.nodes[int(cluster.node_of[pod])].name
            pods[name] += 1
            share = 1 + cluster.pods[pod].priority / PRIORITY_PER_POD
            disruption[name] += max(0.0, min(MOST_COST, share))
        self._empty = tuple(name for name in self._offer_of if not pods[name])
        ranked = sorted(pods, key=lambda name: (-self._price(name) / disruption[name], name))
        self.names = tuple(ranked)

    def _price(self, name: str) -> int:
        return self._offers[self._offer_of[name]].cost

    def command(self) -> Command | None:
        """What Karpenter would do next."""
        if self._empty:
            return Command(self._empty)
        return self._several() or next(
            (found for name in self.names if (found := self._without((name,))) is not None), None
        )

    def _several(self) -> Command | None:
        """The longest prefix that halving finds."""
        low, high = 1, min(len(self.names) - 1, AT_ONCE)
        best: Command | None = None
        while low <= high:
            middle = (low + high) // 2
            found = self._without(self.names[: middle + 1])
            if found is None:
                high = middle - 1
            else:
                best, low = found, middle + 1
        return best

    def _without(self, names: tuple[str, ...]) -> Command | None:
        """Whether these nodes can go, and for what."""
        world = self._world.fork()
        index = self._fresh.cluster.node_index
        pods: Counter[int] = Counter()
        for name in names:
            pods += world.remove_node(index[name])
        provisioner = Provisioner(world, self._offers)
        solved = provisioner.solve(pods)
        if solved.failed or len(solved.claims) > 1:
            return None
        if not solved.claims:
            return Command(names)
        offer = self._cheaper(solved.claims[0], names)
        return None if offer is None else Command(names, offer)

    def _cheaper(self, claim: Claim, names: Sequence[str]) -> int | None:
        """The cheapest offer that the claim may be and that is worth it."""
        limit = sum(map(self._price, names))
        open_offers = np.flatnonzero(claim.open).tolist()
        options = [i for i in open_offers if self._offers[i].cost < limit]
        if len(names) > 1:
            types = {self._offers[i].pool.name for i in options}
            same = [n for n in names if self._offers[self._offer_of[n]].pool.name in types]
            limit = min(map(self._price, same), default=limit)
            options = [i for i in options if self._offers[i].cost < limit]
        return min(options, key=lambda i: (self._offers[i].cost, i), default=None)


def _applied(filling: Filling, found: Emulated, command: Command) -> Emulated:
    """The nodes go, the replacement comes, and kube-scheduler places the pods that were there.

    Whoever waits then is a matter of provisioning again.
    """
    cluster = found.cluster
    leaving = [cluster.node_index[name] for name in command.nodes]
    pods = np.flatnonzero(np.isin(cluster.node_of, leaving)).tolist()
    moving = [pod for pod in pods if not _daemon(cluster, pod)]
    asked = set(filling.goal)
    waiting = tuple(sorted({*asked.intersection(cluster.pending.tolist()), *moving}))
    emptied = cluster.with_placement(dict.fromkeys(pods, GONE)).without_nodes(leaving)
    here = replace(
        filling, cluster=emptied.with_placement(dict.fromkeys(moving, PENDING)), goal=waiting
    )
    more = [0] * len(filling.offers)
    if command.replacement is not None:
        more[command.replacement] = 1
    fill = here.fill(here.add(tuple(more)))
    kept = [(name, offer) for name, offer in found.added if name not in command.nodes]
    for offer, nodes in enumerate(fill.added.nodes):
        kept += [(fill.cluster.nodes[node].name, offer) for node in nodes]
    again = replace(filling, cluster=fill.cluster, goal=fill.waiting)
    rest = emulate(again, karpenter)
    kept += rest.added
    counts = Counter(offer for _, offer in kept)
    return Emulated(
        tuple(counts[i] for i in range(len(filling.offers))),
        found.rounds + 1 + rest.rounds,
        rest.waiting,
        rest.cluster,
        tuple(kept),
    )
