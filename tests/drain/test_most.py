from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planner
from benchmarks.sparse_cluster import sparse_cluster
from planner.cluster import PENDING, Cluster
from planner.drain import most
from planner.drain.empty_nodes import EmptyingNodes, is_possible, state_after
from planner.drain.most import Most, MostNodes, MostOptions
from planner.drain.options import DrainOptions
from planner.evictions.goals import aim_of
from planner.replay.violations import total, violations
from planner.scenario.single_failures import Failing, Failures, without_nodes
from planner.scheduler.profile import default_profile
from planner.sequences.plan import plan_outcome
from planner.solver.problem.options import SolveOptions
from tests.drain.small_clusters import small_cluster
from tests.objects import Json, cluster_of, node, owned, pod

PROFILE = default_profile()
USUAL = settings().max_examples
LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
OPTIONS = DrainOptions((), seeds=4, time_limit=20.0)


def most_of(cluster: Cluster, **prices: int) -> Most:
    nodes = range(len(cluster.nodes))
    worth = {node: prices.get(cluster.nodes[node].name, 1) for node in nodes}
    asked = MostOptions(tuple(nodes), worth)
    return MostNodes(cluster, PROFILE, asked, OPTIONS).best()


def emptied_by_solve(cluster: Cluster, nodes: tuple[int, ...]) -> bool:
    """Whether a plan of `solve` empties exactly these nodes, and the rules hold without them."""
    aim = aim_of(cluster, (), nodes)
    spared = np.flatnonzero(~np.isin(cluster.node_of, nodes)).tolist()
    options = SolveOptions(rebalance=True, spared=frozenset(spared), hops=False, time_limit=5.0)
    after = plan_outcome(aim.wanted, options, PROFILE).after
    if np.isin(after.node_of, nodes).any() or (after.node_of == PENDING).any():
        return False
    later = without_nodes(aim.real.with_placement(dict(enumerate(after.node_of.tolist()))), nodes)
    before = total(violations(cluster, PROFILE))
    return max(total(violations(each, PROFILE)) for each in (after, later)) <= before


def most_by_all_sets(cluster: Cluster) -> tuple[int, int]:
    """Nodes and evictions of the best set, by going through all of them."""
    for size in range(len(cluster.nodes), -1, -1):
        evictions = [
            int(np.isin(cluster.node_of, nodes).sum())
            for nodes in combinations(range(len(cluster.nodes)), size)
            if emptied_by_solve(cluster, nodes)
        ]
        if evictions:
            return size, min(evictions)
    raise AssertionError("no node is a set that can be emptied, too")


@given(st.integers(0, 10_000))
@settings(max_examples=USUAL // 20, suppress_health_check=[HealthCheck.too_slow])
def test_no_set_of_nodes_is_larger_or_takes_fewer_evictions(seed: int) -> None:
    cluster = small_cluster(seed, most_nodes=5)
    found = most_of(cluster)
    assert found.proven
    assert (len(found.drain.aim.drained), len(found.drain.evicted)) == most_by_all_sets(cluster)


def test_where_all_sets_that_were_tried_fail_nodes_are_added_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 60 sparse nodes none were given up, since each of 500 sets of nearly all failed."""
    cluster = sparse_cluster(9, 0.45, 1)
    best = most_of(cluster)
    monkeypatch.setattr(most, "MOST_SETS", 1)
    monkeypatch.setattr(MostNodes, "_held", lambda _self, _found: None)
    found = most_of(cluster)
    assert 0 < found.price <= best.price <= found.bound
    assert is_possible(found.drain)


@pytest.mark.skipif(not LONG, reason="PLANNER_HYPOTHESIS_PROFILE=long: minutes for each cluster")
@pytest.mark.parametrize("seed", range(6))
def test_no_set_of_up_to_12_nodes_is_larger(seed: int) -> None:
    cluster = small_cluster(seed, most_nodes=12)
    found = most_of(cluster)
    assert found.proven
    sizes = range(len(found.drain.aim.drained) + 1, len(cluster.nodes) + 1)
    larger = (each for size in sizes for each in combinations(range(len(cluster.nodes)), size))
    assert not any(emptied_by_solve(cluster, each) for each in larger)


@given(st.integers(0, 10_000), st.sampled_from(["zone", "node"]))
@settings(max_examples=USUAL // 25, suppress_health_check=[HealthCheck.too_slow])
def test_no_larger_set_stands_every_failure(seed: int, kind: Failing) -> None:
    cluster = small_cluster(seed, most_nodes=5)
    nodes = range(len(cluster.nodes))
    found = MostNodes(
        cluster, PROFILE, MostOptions(tuple(nodes), dict.fromkeys(nodes, 1), kind), OPTIONS
    ).best()
    assert found.proven
    sizes = range(len(nodes), found.price, -1)
    larger = (each for size in sizes for each in combinations(nodes, size))
    assert not any(stands_failures(cluster, each, kind) for each in larger)


def stands_failures(cluster: Cluster, nodes: tuple[int, ...], kind: Failing) -> bool:
    emptying = EmptyingNodes(cluster, PROFILE, OPTIONS)
    drain = emptying.empty(nodes)
    if not is_possible(drain):
        drain = emptying.empty_thoroughly(nodes)
    if not is_possible(drain):
        return False
    left = without_nodes(state_after(drain), nodes)
    steady = total(violations(left, PROFILE)) <= emptying.broken
    return steady and Failures(left, (), PROFILE).survived((kind,), seeds=4)


def names(cluster: Cluster, nodes: tuple[int, ...]) -> Iterator[str]:
    return (cluster.nodes[node].name for node in nodes)


def test_half_of_the_nodes_can_go_before_the_outage() -> None:
    cluster = planner.load(example="zone-outage-before").snapshot
    found = most_of(cluster)
    assert found.proven
    zones = [name[0] for name in names(cluster, found.drain.aim.drained)]
    assert sorted(zones) == ["a", "a", "b", "b", "c", "c"]
    assert (len(found.drain.evicted), len(found.drain.tried.waves)) == (24, 6)


def test_without_half_of_the_nodes_every_single_failure_leaves_pods_waiting() -> None:
    cluster = planner.load(example="zone-outage-before").snapshot
    drain = most_of(cluster).drain
    failures = Failures(state_after(drain), drain.aim.drained, PROFILE)
    lost = {
        kind: [failures.waiting(each) for each in failures.all(kind)] for kind in ("node", "zone")
    }
    assert all(3 <= waiting <= 6 for waiting in lost["node"])
    assert all(waiting in (9, 10) for waiting in lost["zone"])


@pytest.mark.parametrize("kind", ["zone", "node"])
def test_whoever_has_to_stand_a_failure_gives_up_fewer_nodes(kind: Failing) -> None:
    cluster = planner.load(example="zone-outage-before").snapshot
    asked = MostOptions(tuple(range(12)), dict.fromkeys(range(12), 1), kind)
    found = MostNodes(cluster, PROFILE, asked, OPTIONS).one_of_each_kind().drain
    assert (len(found.aim.drained), len(found.evicted), len(found.tried.waves)) == (3, 12, 3)
    failures = Failures(state_after(found), found.aim.drained, PROFILE)
    assert failures.survived((kind,), seeds=4)


def test_a_pod_whose_claim_no_node_can_serve_keeps_its_node() -> None:
    """It runs, but its claim is not bound: evicted it would wait for ever."""
    claimed = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}
    storage: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "disk"},
            "status": {"phase": "Pending"},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "disk"},
            "provisioner": "disk.example.com",
            "volumeBindingMode": "Immediate",
        },
    ]
    owner = owned("ReplicaSet", "w")
    cluster = cluster_of(
        *(node("a"), node("b"), node("c"), *storage),
        pod("w0", "a", spec=claimed, metadata=owner),
        pod("w1", "b", metadata=owner),
    )
    found = most_of(cluster)
    assert set(names(cluster, found.drain.aim.drained)) == {"b", "c"}
    assert found.proven


def test_a_node_of_the_control_plane_is_no_spare(tmp_path: Path) -> None:
    """It often looks empty: its pods are mirrors of files."""
    leader = node("n3")
    leader["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
    items = [node("n1"), node("n2"), leader, pod("web", "n1")]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "items": items}))
    found = planner.load(file).drain(most=True)
    assert found.nodes == ("n2",)
    assert [each.code for each in found.notices if "n3" in each.objects] == ["controlPlaneKept"]
