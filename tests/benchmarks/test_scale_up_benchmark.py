"""What autoscalers are compared on, and how."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

from benchmarks import autoscaler_demand as demand
from benchmarks import scale_up
from benchmarks.case import Case


def test_the_generic_table_has_36_types_with_prices_of_cores_and_memory() -> None:
    pools = demand.generic_pools()
    assert len(pools) == 36
    by_name = {pool.name: pool for pool in pools}
    assert by_name["s-4x"].template.allocatable == {"cpu": 4000, "memory": 16 << 30, "pods": 64}
    assert by_name["s-4x"].price == Decimal("0.117180")


def test_the_mix_has_five_parts_and_no_node_takes_a_pod() -> None:
    cluster = demand.diverse(200, 0)
    assert len(cluster.pending) == 200
    kinds = Counter(
        (
            bool(group.spec.topology_spread_constraints),
            bool(group.spec.affinity.pod_affinity.required),
            bool(group.spec.affinity.pod_anti_affinity.required),
        )
        for group in cluster.groups
    )
    assert len(kinds) == 4
    sizes = Counter(cluster.group_of.tolist()).values()
    assert all(size <= demand.MOST for size in sizes)


def test_many_pools_and_workloads_are_50_types_and_a_workload_for_each_10_pods() -> None:
    assert len(demand.many_pools()) == 50
    cluster = demand.diverse(1000, 0, demand.SMALLER)
    assert len(cluster.pending) == 1000
    assert 90 <= len({int(group) for group in cluster.group_of}) <= 110


def test_growth_begins_with_pods_that_run() -> None:
    cluster, full = demand.running(60, 0)
    assert not len(cluster.pending)
    assert len(cluster.running) < sum(full.values())


def test_in_the_trace_all_pods_wait_and_no_node_is_left() -> None:
    cluster, pools = demand.openb("every-40")
    assert (len(cluster.pending), len(cluster.pods)) == (204, 204)
    assert len(cluster.ghosts) == len(cluster.nodes)
    assert pools


def test_each_method_has_nodes_a_cost_and_nobody_who_waits(tmp_path: Path) -> None:
    for method in ("planner", *scale_up.PEERS):
        case = Case("scale_up", method, {"class": "outage", "limit": 5}, 1)
        measured = scale_up.measure(case, tmp_path)
        assert not measured.wrong
        assert measured.values["waiting"] == 0
        assert float(measured.values["ratio"]) >= 1
