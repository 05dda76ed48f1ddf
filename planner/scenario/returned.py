"""Lost nodes come back, empty, and nothing moves by itself."""

from __future__ import annotations

from planner.cluster import GONE, Cluster
from planner.scenario.settle import Settled


def returned(settled: Settled) -> Cluster:
    """The cluster with its lost nodes as they were before.

    What was terminating on them is gone. Pods that found another node stay there; those that wait
    for the end of an old pod are not made yet.
    """
    old = {e.twin: GONE for e in settled.changed.departures if e.twin is not None}
    return settled.cluster.with_nodes_of(settled.changed.intact).with_placement(old)
