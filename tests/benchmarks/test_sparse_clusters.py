from __future__ import annotations

from pathlib import Path

from benchmarks import consolidate, rolling
from benchmarks.case import Case
from benchmarks.sparse_cluster import sparse_cluster
from planner.replay.violations import violations
from planner.scheduler.profile import default_profile

POINT = {"nodes": 120, "load": 0.45}


def test_sparse_clusters_are_at_rest() -> None:
    cluster = sparse_cluster(120, 0.45, 0)
    assert not len(cluster.pending)
    assert not violations(cluster, default_profile())


def test_many_nodes_are_emptied_close_to_the_bound(tmp_path: Path) -> None:
    measured = consolidate.measure(Case("consolidate", "planner", POINT, 0), tmp_path)
    assert not measured.wrong
    assert float(measured.values["gap"]) < 0.05


def test_the_first_two_rounds_are_planned_in_full(tmp_path: Path) -> None:
    measured = rolling.measure(
        Case("rolling", "planner", {"nodes": 300, "load": 0.45}, 0), tmp_path
    )
    assert not measured.wrong
    assert measured.values["planned"] == 2


def test_a_consolidation_that_goes_in_circles_ends(tmp_path: Path) -> None:
    """Pods that kube-scheduler leaves waiting get nodes again, which are consolidated again."""
    measured = consolidate.measure(Case("consolidate", "Karpenter", POINT, 1), tmp_path)
    assert float(measured.values["saved"]) > 0
