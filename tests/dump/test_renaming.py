"""What a name becomes, and what stays."""

from __future__ import annotations

import json
from typing import Any

from planner.dump.prune import pruned
from planner.dump.rename import Anonymous, anonymous, translated
from tests.objects import Json, document, node, owned, pod, workload


def renamed(*objects: Json) -> tuple[Anonymous, list[dict[str, Any]]]:
    found = anonymous(pruned([document(*objects)]))
    return found, [json.loads(item.text) for item in found.items]


def test_names_become_numbers_in_their_order() -> None:
    _, (b, a) = renamed(node("prod-b", zone="west"), node("prod-a", zone="east"))
    assert (a["metadata"]["name"], b["metadata"]["name"]) == ("node1", "node2")
    assert a["metadata"]["labels"]["topology.kubernetes.io/zone"] == "value1"
    assert a["metadata"]["labels"]["kubernetes.io/hostname"] == "node1"


def test_references_follow_their_objects() -> None:
    _, (web, first) = renamed(
        workload("StatefulSet", "web-db"),
        pod("web-db-10", "prod-a", metadata=owned("StatefulSet", "web-db")),
    )
    name = web["metadata"]["name"]
    assert first["metadata"]["name"] == f"{name}-10"
    assert first["metadata"]["ownerReferences"][0]["name"] == name
    assert first["spec"]["nodeName"] == "node1"


def test_a_claim_still_ends_with_the_name_of_its_pod() -> None:
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]
    _, (db, first) = renamed(workload("StatefulSet", "db"), pod("db-0", spec={"volumes": claims}))
    volume = first["spec"]["volumes"][0]
    claim = volume["persistentVolumeClaim"]["claimName"]
    assert claim == f"{volume['name']}-{db['metadata']['name']}-0"


def test_a_stateful_set_whose_name_is_that_of_another_ones_pod_keeps_its_pods() -> None:
    _, (_, second, first) = renamed(
        workload("StatefulSet", "web"), workload("StatefulSet", "web-2"), pod("web-2-0")
    )
    assert first["metadata"]["name"] == f"{second['metadata']['name']}-0"


def test_numbers_at_the_end_of_other_names_are_renamed() -> None:
    _, (found,) = renamed(pod("ip-10-0-0-7"))
    assert found["metadata"]["name"] == "n4-n2-n1-n1-n3"


def test_words_of_kubernetes_stay() -> None:
    taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]
    _, (system, away) = renamed(
        pod(
            "x",
            metadata={"namespace": "kube-system"},
            spec={"priorityClassName": "system-node-critical"},
        ),
        node("a", spec={"taints": taints}),
    )
    assert system["metadata"]["namespace"] == "kube-system"
    assert system["spec"]["priorityClassName"] == "system-node-critical"
    assert away["spec"]["taints"] == taints


def test_numbers_that_affinities_compare_stay() -> None:
    asked = {"key": "acme/size", "operator": "Gt", "values": ["4"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [asked]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    _, (big, wants) = renamed(
        node("a", metadata={"labels": {"acme/size": "16", "acme/name": "16"}}),
        pod("x", spec={"affinity": {"nodeAffinity": required}}),
    )
    values = list(big["metadata"]["labels"].values())
    assert "16" in values
    assert values.count("16") == 1
    assert '"values": ["4"]' in json.dumps(wants)


def test_times_move_together() -> None:
    _, (old, new) = renamed(
        pod("a", metadata={"creationTimestamp": "2026-11-16T10:00:00Z"}),
        pod("b", metadata={"creationTimestamp": "2026-11-16T11:30:00Z"}),
    )
    assert old["metadata"]["creationTimestamp"] == "2019-12-31T22:30:00Z"
    assert new["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"


def test_an_extended_resource_stays_one() -> None:
    _, (found,) = renamed(node("a", status={"allocatable": {"nvidia.com/gpu": "2", "cpu": "4"}}))
    (gpu,) = found["status"]["allocatable"].keys() - {"cpu", "memory", "pods"}
    assert "/" in gpu
    assert "nvidia" not in gpu


def test_a_cluster_whose_names_look_like_ours_gets_others() -> None:
    found, (one,) = renamed(node("node1"))
    assert one["metadata"]["name"] == "nodex1"
    assert translated("nodex1 is full", found.table) == "node1 is full"


def test_headings_are_translated_in_capitals() -> None:
    assert translated("NODE1 node1 node12", {"node1": "prod-a"}) == "PROD-A prod-a node12"
