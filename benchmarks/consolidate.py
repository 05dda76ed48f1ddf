"""`planner drain --most` on clusters with more nodes than their pods need.

The bound is by counting: with fewer nodes something would not fit. Every pod is placed by
kube-scheduler's own choice, and the end is checked here by hand. The peer is the greedy way of
`planner evict --for consolidate`: least used nodes first, until one can't be emptied.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.case import Case, Measured, Stopwatch
from benchmarks.sparse_cluster import sparse_cluster
from planner.cluster import Cluster
from planner.drain.empty_nodes import state_after
from planner.drain.most import Most, MostNodes, MostOptions
from planner.drain.options import DrainOptions
from planner.evictions.goals import nodes_to_empty
from planner.replay.violations import total, violations
from planner.scheduler.profile import default_profile


def measure(case: Case, _cache: Path) -> Measured:
    """One cluster, by one method."""
    cluster = sparse_cluster(case.integer("nodes"), case.number("load"), case.seed)
    if case.method == "greedy":
        with Stopwatch() as watch:
            emptied = nodes_to_empty(cluster, default_profile(), (), ())
        return Measured(watch.seconds, watch.cpu, {"emptied": len(emptied.chosen)})
    asked = MostOptions(
        tuple(range(len(cluster.nodes))), dict.fromkeys(range(len(cluster.nodes)), 1)
    )
    with Stopwatch() as watch:
        most = MostNodes(cluster, default_profile(), asked, DrainOptions(())).best()
    values = {
        "emptied": most.price,
        "bound": most.bound,
        "gap": round(1 - most.price / max(1, most.bound), 4),
        "evictions": len(most.drain.evicted),
        "waves": len(most.drain.tried.waves),
    }
    return Measured(watch.seconds, watch.cpu, values, tuple(_wrong(cluster, most)))


def _wrong(cluster: Cluster, most: Most) -> Iterator[str]:
    after, emptied = state_after(most.drain), most.drain.aim.drained
    if (after.node_of < 0).any():
        yield "a pod has no node"
    if np.isin(after.node_of, emptied).any():
        yield "a node is not empty"
    if (after.used > cluster.resources.allocatable).any():
        yield "a node is overcommitted"
    if total(violations(after, default_profile())):
        yield "a rule is broken"
