"""A small generated dump is a plausible cluster."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, object_texts, write_dump

SMALL = Parameters(nodes=20, pods=300, seed=7)
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def milli(quantity: str) -> int:
    return int(quantity[:-1]) if quantity.endswith("m") else int(quantity) * 1000


def kibi(quantity: str) -> int:
    return int(quantity[:-2]) * {"Ki": 1, "Mi": 1024}[quantity[-2:]]


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("dump") / "small.json"
    write_dump(random_cluster(SMALL), path, Style())
    loaded: list[dict[str, Any]] = json.loads(path.read_text())["items"]
    return loaded


def of_kind(items: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [item for item in items if item["kind"] == kind]


def test_a_dump_has_the_nodes_and_pods_asked_for(items: list[dict[str, Any]]) -> None:
    kinds = Counter(item["kind"] for item in items)
    assert (kinds["Node"], kinds["Pod"]) == (20, 300)
    assert kinds["DaemonSet"] == 3
    assert kinds["PriorityClass"] == 5


def test_every_kind_of_the_command_line_is_there(items: list[dict[str, Any]]) -> None:
    workloads = {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Service"}
    volumes = {"PersistentVolume", "PersistentVolumeClaim"}
    rest = {"Node", "Pod", "PodDisruptionBudget", "PriorityClass", "Namespace"}
    assert {item["kind"] for item in items} == workloads | volumes | rest


def test_pods_wait_run_end_and_have_completed(items: list[dict[str, Any]]) -> None:
    pods = of_kind(items, "Pod")
    assert {pod["status"]["phase"] for pod in pods} == {"Pending", "Running", "Succeeded"}
    assert any("deletionTimestamp" in pod["metadata"] for pod in pods)
    waiting = [pod for pod in pods if pod["status"]["phase"] == "Pending"]
    assert all("nodeName" not in pod["spec"] for pod in waiting)
    assert all(pod["status"]["conditions"][0]["status"] == "False" for pod in waiting)


def test_names_and_uids_are_unique(items: list[dict[str, Any]]) -> None:
    keys = [(i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) for i in items]
    assert len(set(keys)) == len(keys)
    assert len({item["metadata"]["uid"] for item in items}) == len(items)


@pytest.mark.parametrize("seed", range(4))
def test_no_node_is_overcommitted(seed: int) -> None:
    cluster = random_cluster(Parameters(nodes=20, pods=300, seed=seed))
    used: dict[str, Counter[str]] = defaultdict(Counter)
    nodes = {}
    for text in object_texts(cluster, Style(managed_fields=False)):
        item = json.loads(text)
        if item["kind"] == "Node":
            nodes[item["metadata"]["name"]] = item["status"]["allocatable"]
        elif item["kind"] == "Pod" and item["status"]["phase"] == "Running":
            requests = item["spec"]["containers"][0]["resources"]["requests"]
            on_node = used[item["spec"]["nodeName"]]
            on_node["cpu"] += milli(requests["cpu"])
            on_node["memory"] += kibi(requests["memory"])
            on_node["pods"] += 1
            on_node["gpu"] += int(requests.get("nvidia.com/gpu", "0"))
    for name, allocatable in nodes.items():
        assert used[name]["cpu"] <= milli(allocatable["cpu"])
        assert used[name]["memory"] <= kibi(allocatable["memory"])
        assert used[name]["pods"] <= int(allocatable["pods"])
        assert used[name]["gpu"] <= int(allocatable.get("nvidia.com/gpu", "0"))


def test_hard_spread_holds_for_running_pods(items: list[dict[str, Any]]) -> None:
    labels = {
        node["metadata"]["name"]: node["metadata"]["labels"] for node in of_kind(items, "Node")
    }
    counts: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    for pod in of_kind(items, "Pod"):
        if pod["status"]["phase"] != "Running" or "deletionTimestamp" in pod["metadata"]:
            continue
        for constraint in pod["spec"].get("topologySpreadConstraints", []):
            if constraint["whenUnsatisfiable"] == "DoNotSchedule":
                key = constraint["topologyKey"]
                owner = pod["metadata"]["ownerReferences"][0]["uid"]
                domain = labels[pod["spec"]["nodeName"]][key]
                counts[owner, key, constraint["maxSkew"]][domain] += 1
    assert {key for _, key, _ in counts} == {ZONE, HOST}
    for (_, key, skew), domains in counts.items():
        every = {node[key] for node in labels.values()}
        smallest = min(domains[domain] for domain in every)
        assert max(domains.values()) - smallest <= skew


def test_bound_pods_carry_the_zone_of_their_node(items: list[dict[str, Any]]) -> None:
    zones = {
        node["metadata"]["name"]: node["metadata"]["labels"][ZONE]
        for node in of_kind(items, "Node")
    }
    bound = [pod for pod in of_kind(items, "Pod") if "nodeName" in pod["spec"]]
    assert all(pod["metadata"]["labels"][ZONE] == zones[pod["spec"]["nodeName"]] for pod in bound)


def test_replicas_agree_with_the_pods_that_exist(items: list[dict[str, Any]]) -> None:
    living = Counter(
        pod["metadata"]["ownerReferences"][0]["uid"]
        for pod in of_kind(items, "Pod")
        if "deletionTimestamp" not in pod["metadata"]
    )
    for kind in ("ReplicaSet", "StatefulSet"):
        for owner in of_kind(items, kind):
            assert living[owner["metadata"]["uid"]] == owner["spec"]["replicas"]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first.json", "second.json", "first.json.gz", "second.json.gz"):
        write_dump(random_cluster(SMALL), tmp_path / name, Style())
    for end in ("json", "json.gz"):
        first, second = tmp_path / f"first.{end}", tmp_path / f"second.{end}"
        assert first.read_bytes() == second.read_bytes()


def test_another_seed_gives_another_cluster() -> None:
    other = Parameters(nodes=20, pods=300, seed=8)
    assert random_cluster(SMALL).pods != random_cluster(other).pods


def test_the_text_is_indented_and_sorted_as_kubectl_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    write_dump(random_cluster(SMALL), path, Style())
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=4, sort_keys=True) + "\n"


def test_pods_average_five_to_seven_kilobytes_before_indentation() -> None:
    texts = object_texts(random_cluster(SMALL), Style(compact=True))
    sizes = [len(text) for text in texts if '"kind":"Pod","metadata"' in text]
    assert len(sizes) == 300
    assert 5_000 <= sum(sizes) / len(sizes) <= 7_000


def test_too_few_pods_for_the_daemons_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        random_cluster(Parameters(nodes=20, pods=50))
