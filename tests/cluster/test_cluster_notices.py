"""What does not fit together is said once, with names; what is usual is not said at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.objects import HOSTNAME, Json, cluster_of, node, pod

SPREAD = {
    "maxSkew": 1,
    "topologyKey": HOSTNAME,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {},
}


def codes(*objects: Json) -> dict[str, tuple[str, ...]]:
    return {notice.code: notice.objects for notice in cluster_of(*objects).notices}


def bare_node(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def selecting_namespaces(**labels: str) -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    selector = {"matchLabels": labels}
    term: Json = {"topologyKey": HOSTNAME, "labelSelector": {}, "namespaceSelector": selector}
    return {"affinity": {"podAntiAffinity": {required: [term]}}}


def test_an_ordinary_cluster_gives_no_notice() -> None:
    assert codes(node("n1"), pod("a", "n1"), pod("b")) == {}


def test_pods_on_unknown_nodes_are_counted_per_node() -> None:
    cluster = cluster_of(node("n1"), pod("a", "c1"), pod("b", "c1"), pod("c", "c2"), pod("d", "n1"))
    (notice,) = cluster.notices
    assert notice.text == (
        "3 pods run on nodes that are not in the input (c1: 2, c2: 1); they use no room and count "
        "in no domain. Was the node list filtered?"
    )
    assert notice.objects == ("default/a", "default/b", "default/c")


def test_a_missing_hostname_label_is_noticed_where_pods_spread_by_it() -> None:
    assert codes(bare_node("n1"), pod("a")) == {}
    spreading = pod("a", spec={"topologySpreadConstraints": [SPREAD]})
    assert codes(bare_node("n1"), node("n2"), spreading) == {"noHostname": ("n1",)}


def test_unknown_namespaces_are_noticed_where_namespaces_matter() -> None:
    other = pod("a", metadata={"namespace": "other"})
    selecting = pod("b", spec=selecting_namespaces(team="x"))
    assert codes(other, namespace("default")) == {}
    assert codes(other, selecting, namespace("default")) == {"unknownNamespace": ("other",)}
    assert codes(selecting, namespace("default")) == {}
    by_name = selecting_namespaces(**{"kubernetes.io/metadata.name": "default"})
    assert codes(pod("a", spec=by_name)) == {}


def test_pending_pods_of_other_schedulers_are_noticed() -> None:
    foreign = {"schedulerName": "mine"}
    assert codes(node("n1"), pod("a", "n1", spec=foreign)) == {}
    assert codes(pod("a", spec=foreign)) == {"otherScheduler": ("default/a",)}


def test_resource_claims_are_noticed() -> None:
    claims = {"resourceClaims": [{"name": "gpu"}]}
    assert codes(pod("a", spec=claims)) == {"resourceClaims": ("default/a",)}


def test_namespaces_have_their_name_as_a_label_with_or_without_an_object() -> None:
    found = cluster_of(namespace("team"), pod("a")).namespaces
    assert found["team"] == {"kubernetes.io/metadata.name": "team"}
    assert found["default"] == {"kubernetes.io/metadata.name": "default"}


def claim(name: str, **spec: Any) -> Json:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def with_claim(name: str, node_name: str = "") -> Json:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
    return pod("db", node_name, spec={"volumes": [volume]})


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([], {"unknownPersistentVolumeClaim": ("default/data",)}),
        ([claim("data", volumeName="pv-1")], {"unknownPersistentVolume": ("pv-1",)}),
        ([claim("data", storageClassName="fast")], {"unknownStorageClass": ("fast",)}),
        ([claim("data")], {"unknownStorageClass": ("the default StorageClass",)}),
        ([claim("data", storageClassName="")], {}),
    ],
)
def test_storage_that_is_not_in_the_input_is_named(
    claims: list[Json], expected: dict[str, tuple[str, ...]]
) -> None:
    assert codes(node("n1"), with_claim("data"), *claims) == expected
    assert codes(node("n1"), with_claim("data", "n1"), *claims) == {}


def test_the_notice_about_a_storage_class_says_how_to_get_it() -> None:
    cluster = cluster_of(node("n1"), with_claim("data"), claim("data", storageClassName="fast"))
    assert [notice.text for notice in cluster.notices] == [
        "1 StorageClass object that pending pods need is not in the input, so nothing is proven "
        "about them. Add: kubectl get sc -A -o json"
    ]


def test_a_number_that_is_none_in_a_node_affinity_is_noticed() -> None:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = [{"matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["4.5"]}]}]
    affinity = {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": terms}}}}
    assert codes(node("n1"), pod("a", spec=affinity)) == {"notAnInteger": ("default/a",)}


def test_pods_without_containers_are_noticed() -> None:
    assert codes(node("n1"), pod("a", spec={"containers": []})) == {"noContainers": ("default/a",)}


def test_who_else_decides_how_many_pods_there_are_is_named() -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team"}}
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 9},
    }
    template = {"spec": {"containers": [{"name": "main"}]}}
    nightly = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}},
    }
    assert codes(node("n1"), quota, autoscaler, nightly) == {
        "quota": ("default/team",),
        "autoscaler": ("default/web",),
        "cronJob": ("default/nightly",),
    }


def test_a_node_that_is_being_deleted_is_named() -> None:
    leaving = node("n1", metadata={"deletionTimestamp": "2026-11-17T10:00:00Z"})
    (notice,) = cluster_of(leaving, node("n2")).notices
    assert notice.code == "nodeBeingDeleted"
    assert notice.objects == ("n1",)
    assert notice.text.startswith("1 node is being deleted, and pods on it will go, too;")
