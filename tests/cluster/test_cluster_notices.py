"""What does not fit together is said once, with names; what is usual is not said at all."""

from __future__ import annotations

from typing import Any

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


def selecting_namespaces() -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    term: dict[str, Any] = {"topologyKey": HOSTNAME, "labelSelector": {}, "namespaceSelector": {}}
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
    assert codes(other) == {}
    assert codes(other, namespace("default")) == {"unknownNamespace": ("other",)}
    assert codes(pod("a", spec=selecting_namespaces())) == {"unknownNamespace": ("default",)}
    assert codes(pod("a"), namespace("default")) == {}


def test_pending_pods_of_other_schedulers_are_noticed() -> None:
    foreign = {"schedulerName": "mine"}
    assert codes(node("n1"), pod("a", "n1", spec=foreign)) == {}
    assert codes(pod("a", spec=foreign)) == {"otherScheduler": ("default/a",)}


def test_resource_claims_are_noticed() -> None:
    claims = {"resourceClaims": [{"name": "gpu"}]}
    assert codes(pod("a", spec=claims)) == {"resourceClaims": ("default/a",)}


def test_namespaces_have_their_name_as_a_label() -> None:
    labels = cluster_of(namespace("team")).namespaces["team"]
    assert labels == {"kubernetes.io/metadata.name": "team"}
