from __future__ import annotations

import pytest

from planner.disruption.node_lifecycle import with_condition_taints
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.evictions.suggestion import EvictOptions
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from tests.objects import Json, cluster_of, node, pod


def conditioned(name: str, kind: str, status: str, zone: str = "a") -> Json:
    return node(name, zone, status={"conditions": [{"type": kind, "status": status}]})


@pytest.mark.parametrize(
    ("kind", "status", "taint"),
    [
        ("Ready", "False", "not-ready"),
        ("Ready", "Unknown", "unreachable"),
        ("MemoryPressure", "True", "memory-pressure"),
        ("DiskPressure", "True", "disk-pressure"),
        ("PIDPressure", "True", "pid-pressure"),
        ("NetworkUnavailable", "True", "network-unavailable"),
    ],
)
def test_a_condition_becomes_a_taint_once(kind: str, status: str, taint: str) -> None:
    tainted = with_condition_taints(cluster_of(conditioned("n1", kind, status)))
    found = [(each.key, each.effect) for each in tainted.nodes[0].spec.taints]
    assert found == [(f"node.kubernetes.io/{taint}", "NoSchedule")]
    assert with_condition_taints(tainted) is tainted


def test_healthy_nodes_stay_as_they_are() -> None:
    cluster = cluster_of(conditioned("n1", "Ready", "True"), node("n2"))
    assert with_condition_taints(cluster) is cluster


def test_plans_put_nothing_on_a_node_that_is_not_ready() -> None:
    cluster = cluster_of(conditioned("n1", "Ready", "Unknown"), pod("waits"))
    assert not make_plan(cluster, SolveOptions(time_limit=5.0), default_profile()).placements
    assert make_eviction_plan(cluster, EvictOptions(seeds=1), default_profile()).after.pending == 1
