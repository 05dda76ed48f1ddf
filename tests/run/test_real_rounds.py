"""Rounds on a real control plane, with the rights of the manifests and no others.

They run where KUBEBUILDER_ASSETS has a whole control plane (`make test-live`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.real_cluster import RealCluster, missing, real_cluster
from tests.live.test_real_cluster import budgets_watched, environment, kubectl, per_zone, shop
from tests.objects import pod
from tests.run.world import OWN, POLICY

pytestmark = [
    pytest.mark.envtest,
    pytest.mark.skipif(missing() is not None, reason=f"{missing()}"),
]
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ACCOUNT = f"system:serviceaccount:{OWN}:planner"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RealCluster]:
    """A zone came back; every workload is uneven."""
    with real_cluster(tmp_path) as found:
        found.add(shop("ab"))
        found.wait_until_ready(51)
        found.add([item for item in shop("c") if item["kind"] == "Node"])
        yield found


def run(cluster: RealCluster, folder: Path, *words: str) -> tuple[int, str]:
    (folder / "policy.yaml").write_text(POLICY)
    command = ("run", "--policy", "policy.yaml", "--once", "--as", ACCOUNT, "-n", OWN, *words)
    done = subprocess.run(
        [sys.executable, "-m", "planner", *command, "--log-format", "text"],
        env={**environment(cluster), "PYTHONPATH": os.pathsep.join(sys.path), "POD_NAME": "p-0"},
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stderr


def events(cluster: RealCluster, reason: str) -> list[dict[str, Any]]:
    _, found = cluster.api.request("GET", "/apis/events.k8s.io/v1/events")
    return [each for each in found["items"] if each["reason"] == reason]


def uids(cluster: RealCluster) -> set[str]:
    return {each["metadata"]["uid"] for each in cluster.pods()}


def test_a_dry_run_explains_and_evicts_nothing(cluster: RealCluster, tmp_path: Path) -> None:
    kubectl(cluster, "apply", "-k", str(DEPLOY / "base"))
    main = {"name": "main", "image": "example.com/web:1"}
    waits = pod("waits", spec={"nodeSelector": {"disk": "none"}, "containers": [main]})
    cluster.add([waits])
    before = uids(cluster)
    policy = "explain: {pendingFor: 0s}"
    (tmp_path / "more.yaml").write_text(POLICY + policy)
    code, said = run(cluster, tmp_path, "--policy", "more.yaml")
    assert code == 3, said
    assert "round 1: would evict 10 of 12 (limit perRound 10)" in said
    assert uids(cluster) >= before
    (told,) = events(cluster, "Explained")
    assert told["regarding"]["name"] == "waits"
    assert told["note"].startswith("impossible: ")
    status = subprocess.run(
        [sys.executable, "-m", "planner", "status", "-o", "json"],
        env={**environment(cluster), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(status.stdout)["state"]["round"] == 1


def test_rounds_fill_a_zone_that_came_back(cluster: RealCluster, tmp_path: Path) -> None:
    kubectl(cluster, "apply", "-k", str(DEPLOY / "overlays/apply"))
    with budgets_watched(cluster) as broken:
        ended = [run(cluster, tmp_path, "--mode", "Apply") for _ in range(2)]
    assert [code for code, _ in ended] == [3, 0], ended
    assert "round 1: evicted 10 of 10, excess 27 -> 2" in ended[0][1]
    assert "round 2: evicted 2 of 2, excess 2 -> 0" in ended[1][1]
    assert [per_zone(cluster, app) for app in ("api", "auth", "web")] == [[4] * 3, [1] * 3, [3] * 3]
    assert broken == []
    assert len(events(cluster, "EvictedByPlanner")) == 24  # on each pod, and on its Deployment


def test_a_dry_run_has_no_right_to_evict(cluster: RealCluster, tmp_path: Path) -> None:
    kubectl(cluster, "apply", "-k", str(DEPLOY / "base"))
    before = uids(cluster)
    code, said = run(cluster, tmp_path, "--mode", "Apply")
    assert code == 1, said
    assert "the plan was not carried out" in said
    assert uids(cluster) >= before
