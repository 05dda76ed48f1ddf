"""`planner drain --most` on clusters with more nodes than their pods need.

The bound is by counting: with fewer nodes something would not fit. Every pod is placed by
kube-scheduler's own choice, and the end is checked here by hand. The peers are the greedy way of
`planner evict --for consolidate`, least used nodes first until one can't be emptied, and
Karpenter's consolidation by its published rules. That saves money, and a node costs what it has
in cores; it may put one cheaper node in the place of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.case import Case, Measured, Scalar, Stopwatch
from benchmarks.sparse_cluster import SIZES, ZONES, sparse_cluster
from planner.cluster import Cluster
from planner.drain.empty_nodes import state_after
from planner.drain.most import Most, MostNodes, MostOptions
from planner.drain.options import DrainOptions
from planner.evictions.goals import nodes_to_empty
from planner.pools.fill import Filling
from planner.pools.peers.compare import Emulated
from planner.pools.peers.consolidation import consolidated
from planner.pools.pool import Offer, Pool
from planner.replay.violations import total, violations
from planner.scenario import apply_changes, settle
from planner.scenario.changes import LoseNodes
from planner.scheduler.profile import default_profile
from planner_models.node import INSTANCE_TYPE, ZONE, Node

PROFILE = default_profile()
PRICES = {kind: milli // SIZES[0][1] for kind, milli in SIZES}
"""By instance type: in units of the smallest."""
FAILURES_UP_TO = 200
"""Nodes up to which single failures are tried."""


def measure(case: Case, _cache: Path) -> Measured:
    """One cluster, by one method."""
    cluster = sparse_cluster(case.integer("nodes"), case.number("load"), case.seed)
    prices = [PRICES[node.labels[INSTANCE_TYPE]] for node in cluster.nodes]
    if case.method == "greedy":
        with Stopwatch() as watch:
            chosen = nodes_to_empty(cluster, PROFILE, (), ()).chosen
        saved = sum(prices[node] for node in chosen)
        return Measured(watch.seconds, watch.cpu, {"emptied": len(chosen), "saved": saved})
    if case.method == "Karpenter":
        filling, start = _karpenter(cluster)
        with Stopwatch() as watch:
            found, evicted = consolidated(filling, start)
        values = _values(found.cluster, sum(prices) - _cost(filling, found), evicted)
        values["emptied"] = len(prices) - sum(found.counts)
        return Measured(watch.seconds, watch.cpu, values)
    asked = MostOptions(tuple(range(len(prices))), dict.fromkeys(range(len(prices)), 1))
    with Stopwatch() as watch:
        most = MostNodes(cluster, PROFILE, asked, DrainOptions(())).best()
    left = state_after(most.drain).without_nodes(most.drain.aim.drained)
    saved = sum(prices[node] for node in most.drain.aim.drained)
    values = _values(left, saved, len(most.drain.evicted))
    values |= {
        "emptied": most.price,
        "bound": most.bound,
        "gap": round(1 - most.price / max(1, most.bound), 4),
        "waves": len(most.drain.tried.waves),
    }
    return Measured(watch.seconds, watch.cpu, values, tuple(_wrong(cluster, most)))


def _values(left: Cluster, saved: int, evicted: int) -> dict[str, Scalar]:
    """What it saves and takes, and how many single failures the rest no longer stands."""
    values: dict[str, Scalar] = {
        "saved": saved,
        "evictions": evicted,
        "each": round(evicted / max(1, saved), 2),
    }
    if len(left.nodes) <= FAILURES_UP_TO:
        there = [node for node in range(len(left.nodes)) if node not in left.ghosts]
        values["failures"] = sum(_waiting_without(left, node) > 0 for node in there)
    return values


def _waiting_without(cluster: Cluster, node: int) -> int:
    """Pods that wait when a node is gone."""
    changed = apply_changes(cluster, [LoseNodes((node,), "removed")])
    return len(settle(changed, PROFILE).cluster.pending)


def _karpenter(cluster: Cluster) -> tuple[Filling, Emulated]:
    """All nodes are Karpenter's, and their two sizes are what it may add."""
    offers = [_offer(cluster, kind, zone) for kind, _ in SIZES for zone in ZONES]
    index = {(offer.pool.name, offer.zone): i for i, offer in enumerate(offers)}
    added = tuple(
        (node.name, index[node.labels[INSTANCE_TYPE], node.labels[ZONE]]) for node in cluster.nodes
    )
    counts = Counter(offer for _, offer in added)
    start = Emulated(tuple(counts[i] for i in range(len(offers))), 0, 0, cluster, added)
    return Filling(cluster, (), tuple(offers), PROFILE), start


def _offer(cluster: Cluster, kind: str, zone: str) -> Offer:
    example: Node = next(n for n in cluster.nodes if n.labels[INSTANCE_TYPE] == kind)
    labels = {**example.labels, ZONE: zone}
    meta = example.metadata.replace(name=f"new-{kind}-{zone}", labels=labels)
    return Offer(Pool(kind, example, (zone,)), zone, example.replace(metadata=meta), PRICES[kind])


def _cost(filling: Filling, found: Emulated) -> int:
    return sum(n * offer.cost for n, offer in zip(found.counts, filling.offers, strict=True))


def _wrong(cluster: Cluster, most: Most) -> Iterator[str]:
    after, emptied = state_after(most.drain), most.drain.aim.drained
    if (after.node_of < 0).any():
        yield "a pod has no node"
    if np.isin(after.node_of, emptied).any():
        yield "a node is not empty"
    if (after.used > cluster.resources.allocatable).any():
        yield "a node is overcommitted"
    if total(violations(after, PROFILE)):
        yield "a rule is broken"
