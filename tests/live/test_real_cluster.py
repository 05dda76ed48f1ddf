"""What planner promises, carried out by the real scheduler and the real controllers.

They run where KUBEBUILDER_ASSETS has a whole control plane (`make test-live`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import planner
from tests.live.clusters import example_objects
from tests.live.real_cluster import RealCluster, missing, real_cluster

Json = dict[str, Any]

pytestmark = [
    pytest.mark.envtest,
    pytest.mark.skipif(missing() is not None, reason=f"{missing()}"),
]
APPLIED = ("Deployment", "PodDisruptionBudget", "Service", "PriorityClass")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RealCluster]:
    with real_cluster(tmp_path) as found:
        yield found


def shop(zones: str = "abc", tolerated: int | None = None) -> list[Json]:
    """Nodes of these zones, and all workloads of the zone outage, as they would be applied.

    `tolerated` are the seconds after which pods leave a node that does not answer (300 by default).
    """
    found = []
    for item in example_objects("zone-outage-before"):
        name = item["metadata"]["name"]
        if item["kind"] in APPLIED or (item["kind"] == "Node" and name[0] in zones):
            found.append(item)
        if item["kind"] == "Deployment" and tolerated is not None:
            item["spec"]["template"]["spec"]["tolerations"] = [
                {
                    "key": f"node.kubernetes.io/{key}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": tolerated,
                }
                for key in ("unreachable", "not-ready")
            ]
    return found


def per_zone(cluster: RealCluster, app: str) -> list[int]:
    """Pods that run, those that are leaving left out."""
    zones = Counter(
        pod["spec"]["nodeName"][0]
        for pod in cluster.pods(app=app)
        if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]
    )
    return [zones[zone] for zone in "abc"]


@contextmanager
def budgets_watched(cluster: RealCluster) -> Iterator[list[str]]:
    """What the disruption controller ever saw below its budget."""
    seen: list[str] = []
    end = threading.Event()

    def look() -> None:
        while not end.wait(0.1):
            _, found = cluster.api.request("GET", "/apis/policy/v1/poddisruptionbudgets")
            for budget in found.get("items", ()):
                status = budget.get("status", {})
                if status.get("currentHealthy", 0) < status.get("desiredHealthy", 0):
                    seen.append(f"{budget['metadata']['name']}: {status}")

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        end.set()
        watcher.join(10)


def environment(cluster: RealCluster) -> dict[str, str]:
    kubectl = cluster.api.kubectl.strip("'")
    path = f"{Path(kubectl).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "KUBECONFIG": cluster.api.kubeconfig,
        "PLANNER_KUBECTL": cluster.api.kubectl,
        "PATH": path,
    }


def ask(cluster: RealCluster, *words: str, code: int = 0) -> str:
    """A command of planner on the running cluster."""
    done = subprocess.run(
        [sys.executable, "-m", "planner", *words],
        env=environment(cluster),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    return done.stdout


def carry_out(cluster: RealCluster, script: str) -> None:
    done = subprocess.run(
        ["bash", "-s", "--", "--run"],
        input=script,
        env=environment(cluster),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_script_of_evict_fills_a_zone_that_came_back(cluster: RealCluster) -> None:
    cluster.add(shop("ab"))
    cluster.wait_until_ready(51)
    cluster.add(nodes_of("c"))
    script = ask(cluster, "evict", "-A", "-o", "script")
    with budgets_watched(cluster) as broken:
        carry_out(cluster, script)
    assert [per_zone(cluster, app) for app in ("api", "auth", "web")] == [[4] * 3, [1] * 3, [3] * 3]
    assert broken == []


def test_the_script_of_drain_empties_a_node_within_budgets(cluster: RealCluster) -> None:
    cluster.add(shop())
    cluster.wait_until_ready(51)
    script = ask(cluster, "drain", "c1", "-o", "script")
    with budgets_watched(cluster) as broken:
        carry_out(cluster, script)
    assert "c1" not in cluster.ready()
    cluster.wait_until_ready(51)
    assert broken == []


def test_a_zone_that_stops_answering_leaves_waiting_what_whatif_says(tmp_path: Path) -> None:
    with real_cluster(tmp_path, grace=8) as cluster:
        cluster.add(shop(tolerated=15))
        cluster.wait_until_ready(51)
        found = planner.load(cluster.dump(tmp_path / "before.json"))
        said = found.whatif(lose=["zone/eu-1c"], manner="unreachable").manners[0]
        told = {each.workload.rpartition("/")[2]: each for each in said.workloads}
        cluster.kubelets.dead |= {"c1", "c2", "c3", "c4"}
        lost = sum(each.lost for each in said.workloads)
        cluster.wait("all pods of the zone are driven off", lambda: leaving(cluster) == lost)
        time.sleep(3)
        waits = Counter(p["metadata"]["labels"]["app"] for p in cluster.pods() if waiting(p))
    # Of search, 2 or 3 wait: which node is given up first decides, and nobody knows that.
    certain = ("api", "auth", "batch", "cart", "feed", "web")
    assert {app: waits[app] for app in certain} == {app: told[app].waiting for app in certain}


def leaving(cluster: RealCluster) -> int:
    return sum("deletionTimestamp" in pod["metadata"] for pod in cluster.pods())


def waiting(pod: Json) -> bool:
    return not pod["spec"].get("nodeName")


def test_a_rollout_that_check_calls_locked_never_ends(cluster: RealCluster, tmp_path: Path) -> None:
    nginx = locked()
    cluster.add([*nodes_of("a")[:3], nginx])
    cluster.wait_until_ready(3)
    nginx["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/nginx:2"
    manifest = tmp_path / "nginx.yaml"
    manifest.write_text(json.dumps(nginx))
    dump = cluster.dump(tmp_path / "cluster.json")
    told = ask(cluster, "check", "-f", str(manifest), "--against", str(dump), code=3)
    kubectl(cluster, "apply", "-f", str(manifest))
    time.sleep(15)
    assert "rollout-deadlock" in told
    assert sorted(Counter(waiting(pod) for pod in cluster.pods()).values()) == [1, 3]


def test_what_check_proposes_ends_the_rollout(cluster: RealCluster, tmp_path: Path) -> None:
    nginx = locked()
    cluster.add([*nodes_of("a")[:3], nginx])
    cluster.wait_until_ready(3)
    nginx["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/nginx:2"
    nginx["spec"]["strategy"] = {"rollingUpdate": {"maxUnavailable": 1}}
    manifest = tmp_path / "nginx.yaml"
    manifest.write_text(json.dumps(nginx))
    kubectl(cluster, "apply", "-f", str(manifest))
    kubectl(cluster, "rollout", "status", "-n", "default", "deploy/nginx", "--timeout=60s")


def locked() -> Json:
    """Three replicas on three nodes that keep off each other, with the default strategy."""
    labels = {"app": "nginx"}
    apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nginx", "namespace": "default"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [{"name": "nginx", "image": "example.com/nginx:1"}],
                    "affinity": {"podAntiAffinity": terms},
                },
            },
        },
    }


def nodes_of(zone: str) -> list[Json]:
    return [item for item in shop(zone) if item["kind"] == "Node"]


def kubectl(cluster: RealCluster, *words: str) -> None:
    subprocess.run(
        ["kubectl", *words], env=environment(cluster), check=True, capture_output=True, timeout=120
    )
