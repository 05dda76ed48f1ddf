"""The benchmark of real demand: its clusters, its peer and its verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.case import Case, Measured, Point
from benchmarks.full_clusters import SHAPES, Shape, full_cluster
from benchmarks.one_eviction import one_eviction_each
from benchmarks.openb import cluster_of, measure


def measured(method: str, cluster: str) -> Measured:
    point: Point = {"cluster": cluster, "options": "rebalance", "limit": 1}
    return measure(Case("openb", method, point, 0), Path())


@pytest.mark.parametrize("shape", SHAPES)
def test_full_clusters_are_full_and_their_pods_fit(shape: Shape) -> None:
    cluster = full_cluster(60, shape, 0)
    room = cluster.resources.allocatable
    assert (cluster.used <= room).all()
    assert (cluster.used.sum(axis=0) / np.maximum(room.sum(axis=0), 1)).max() > 0.9
    assert len(cluster.pending)


def test_one_eviction_places_pods_and_overfills_no_node() -> None:
    cluster = cluster_of("every-40", 0)
    node_of = one_eviction_each(cluster)
    used = np.zeros_like(cluster.used)
    running = np.flatnonzero(node_of >= 0)
    np.add.at(used, node_of[running], cluster.resources.requests[cluster.group_of[running]])
    assert (used <= cluster.resources.allocatable).all()
    assert (node_of >= 0).sum() == (cluster.node_of >= 0).sum() + 15


def test_a_plan_is_right_and_better_than_kube_scheduler_alone() -> None:
    """One eviction for each pod places more here, but waiting pods would drive others off."""
    found = measured("planner", "every-40")
    assert found.wrong == ()
    assert int(str(found.values["placed"])) >= 10
