"""Groups: pods that no rule of the scheduler can tell apart."""

from __future__ import annotations

from typing import Any

from planner.cluster import Cluster
from tests.objects import ZONE, Json, cluster_of, node, owned, pod, workload


def web(name: str, zone: str = "a", **changes: Any) -> Json:
    """A replica that kube-scheduler has labelled with the zone of its node."""
    metadata = {"labels": {"app": "web", ZONE: zone}, **owned("ReplicaSet", "web-1")}
    return pod(name, "n1", metadata={**metadata, **changes.pop("metadata", {})}, **changes)


def selecting(**labels: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"selector": labels},
    }


def group_sizes(cluster: Cluster) -> list[int]:
    assert [group.index for group in cluster.groups] == list(range(len(cluster.groups)))
    return [int((cluster.group_of == group.index).sum()) for group in cluster.groups]


def test_zone_labels_that_no_selector_sees_do_not_split_a_group() -> None:
    cluster = cluster_of(web("a", "zone-a"), web("b", "zone-b"), selecting(app="web"))
    assert group_sizes(cluster) == [2]
    assert cluster.groups[0].labels == {"app": "web"}


def test_zone_labels_that_a_selector_sees_do_split_it() -> None:
    cluster = cluster_of(web("a", "zone-a"), web("b", "zone-b"), selecting(**{ZONE: "zone-a"}))
    assert group_sizes(cluster) == [1, 1]


def test_a_key_in_a_spread_selector_or_in_its_label_keys_is_seen() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchExpressions": [{"key": ZONE, "operator": "Exists"}]},
    }
    other = {**constraint, "labelSelector": {}, "matchLabelKeys": [ZONE]}
    for each in (constraint, other):
        watcher = pod("watcher", spec={"topologySpreadConstraints": [each]})
        assert len(cluster_of(web("a", "x"), web("b", "y"), watcher).groups) == 3


def test_owner_namespace_spec_and_volumes_split_groups() -> None:
    cluster = cluster_of(
        web("a"),
        web("b", metadata=owned("ReplicaSet", "web-2")),
        web("c", metadata={"namespace": "other"}),
        web("d", spec={"hostNetwork": True}),
        web("e", spec={"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]}),
        web("f"),
    )
    assert group_sizes(cluster) == [2, 1, 1, 1, 1]
    assert cluster.group_of.tolist() == [0, 1, 2, 3, 4, 0]


def test_pods_with_the_same_volume_are_one_group_unless_each_makes_its_own_claim() -> None:
    shared = {"volumes": [{"name": "tmp", "emptyDir": {}}]}
    own = {"volumes": [{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}
    assert group_sizes(cluster_of(web("a", spec=shared), web("b", spec=shared))) == [2]
    assert group_sizes(cluster_of(web("a", spec=own), web("b", spec=own))) == [1, 1]


def test_bare_pods_stand_alone() -> None:
    assert group_sizes(cluster_of(pod("a"), pod("b"))) == [1, 1]


def test_a_new_replica_is_in_the_group_of_its_siblings() -> None:
    labels = {"app": "web"}
    sibling = pod("web-1-x", "n1", metadata={"labels": labels, **owned("ReplicaSet", "web-1")})
    cluster = cluster_of(node("n1"), workload("ReplicaSet", "web-1", {"replicas": 2}), sibling)
    assert group_sizes(cluster) == [2]
    assert cluster.groups[0].priority == 0
