"""`planner apply` and `planner run` on a real control plane (`make test-live`)."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.real_cluster import RealCluster, missing, real_cluster
from tests.live.test_real_cluster import (
    ask,
    budgets_watched,
    environment,
    kubectl,
    nodes_of,
    per_zone,
    shop,
)

Json = dict[str, Any]

pytestmark = [
    pytest.mark.envtest,
    pytest.mark.skipif(missing() is not None, reason=f"{missing()}"),
]
EVEN = {"api": [4, 4, 4], "auth": [1, 1, 1], "cart": [2, 2, 2], "web": [3, 3, 3]}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RealCluster]:
    with real_cluster(tmp_path, grace=8) as found:
        yield found


@pytest.fixture
def drifted(cluster: RealCluster) -> RealCluster:
    """A zone has come back, and is empty."""
    cluster.add(shop("ab", tolerated=5))
    cluster.wait_until_ready(51)
    cluster.add(nodes_of("c"))
    return cluster


def workload(kind: str, name: str, replicas: int) -> Json:
    labels = {"app": name}
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    container = {"name": "main", "image": "example.com/x:1"}
    spec: Json = {"containers": [container], "topologySpreadConstraints": [spread]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template,
            **({"serviceName": name} if kind == "StatefulSet" else {}),
        },
    }


def budget(name: str) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}},
    }


def planned(cluster: RealCluster, folder: Path, *words: str, code: int = 0) -> str:
    file = folder / "plan.json"
    file.write_text(ask(cluster, *words, "-o", "json", code=code))
    return str(file)


def cordoned(cluster: RealCluster) -> list[str]:
    _, nodes = cluster.api.request("GET", "/api/v1/nodes")
    return [n["metadata"]["name"] for n in nodes["items"] if n["spec"].get("unschedulable")]


def evictions(journal: Path) -> int:
    """How many there were; the last line may be half written."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    return sum('"event":"evicted"' in line.replace(" ", "") for line in lines)


@pytest.mark.parametrize("command", [("evict", "-A"), ("solve", "-A", "--rebalance")], ids=str)
def test_a_zone_that_came_back_is_filled_within_budgets(
    drifted: RealCluster, tmp_path: Path, command: tuple[str, ...]
) -> None:
    plan = planned(drifted, tmp_path, *command)
    with budgets_watched(drifted) as broken:
        told = ask(drifted, "apply", plan, "--yes")
    assert "Done: 12 evicted, 12 landed as promised. Excess 27 -> 0" in told
    assert {app: per_zone(drifted, app) for app in EVEN} == EVEN
    assert (broken, cordoned(drifted)) == ([], [])


def test_controllers_of_all_kinds_make_drained_pods_anew(
    cluster: RealCluster, tmp_path: Path
) -> None:
    cluster.add(nodes_of("abc"))
    cluster.add([workload("StatefulSet", "db", 6), workload("ReplicaSet", "bare", 6)])
    cluster.add([workload("Deployment", "web", 9), budget("db"), budget("web")])
    cluster.wait_until_ready(21)
    plan = planned(cluster, tmp_path, "drain", "a1", "b1", "c1")
    with budgets_watched(cluster) as broken:
        told = ask(cluster, "apply", plan, "--yes")
    assert {"a1", "b1", "c1"}.isdisjoint(cluster.ready())
    assert "Still cordoned: a1, b1, c1." in told
    assert [per_zone(cluster, app) for app in ("db", "bare", "web")] == [[2] * 3, [2] * 3, [3] * 3]
    assert broken == []
    ask(cluster, "apply", plan, "--undo")
    assert cordoned(cluster) == []


def test_apply_goes_on_after_it_was_killed(drifted: RealCluster, tmp_path: Path) -> None:
    plan = planned(drifted, tmp_path, "evict", "-A")
    before = {pod["metadata"]["uid"] for pod in drifted.pods()}
    with subprocess.Popen(
        [sys.executable, "-m", "planner", "apply", plan, "--yes"],
        env=environment(drifted),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    ) as first:
        journal = Path(f"{plan}.journal")
        drifted.wait("the third eviction", lambda: evictions(journal) >= 3)
        first.kill()
    told = ask(drifted, "apply", plan, "--yes")
    assert told.startswith("Resuming plan ")
    assert {app: per_zone(drifted, app) for app in EVEN} == EVEN
    assert len(before - {pod["metadata"]["uid"] for pod in drifted.pods()}) == 12


def test_apply_stops_where_nodes_die_meanwhile(drifted: RealCluster, tmp_path: Path) -> None:
    plan = planned(drifted, tmp_path, "evict", "-A")
    drifted.kubelets.ready_after = 5.0
    journal = Path(f"{plan}.journal")

    def zone_dies() -> None:
        drifted.wait(
            "the first eviction", lambda: journal.exists() and "evicted" in journal.read_text()
        )
        drifted.kubelets.dead |= {"c1", "c2", "c3", "c4"}

    failure = threading.Thread(target=zone_dies, daemon=True)
    failure.start()
    told = ask(drifted, "apply", plan, "--yes", "--wave-timeout", "2m", code=3)
    failure.join(10)
    assert "Stopped" in told
    assert evictions(journal) < 12
    assert cordoned(drifted) == []


def test_rounds_repair_a_cluster_bit_by_bit(drifted: RealCluster, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "apiVersion: planner/v1\nkind: RunPolicy\nmode: Apply\n"
        "limits: {perRound: 8, perNode: 4, perNamespace: 8}\n"
    )
    kubectl(drifted, "create", "namespace", "planner-system")
    rounds = ("run", "--policy", str(policy), "--once", "-n", "planner-system")
    with budgets_watched(drifted) as broken:
        ask(drifted, *rounds, code=3)
        time.sleep(1)
        ask(drifted, *rounds)
    assert {app: per_zone(drifted, app) for app in EVEN} == EVEN
    assert broken == []
