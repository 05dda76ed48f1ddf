"""Files on top of a running cluster: the three-way merge of kubectl apply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.live.three_way_merge import LAST_APPLIED, merged
from tests.live.clusters import many_pods, names, read
from tests.live.fake_api import FakeApi
from tests.objects import document, manifest, owned, pod, workload

Json = dict[str, Any]


def after(cluster: list[Json], *files: Json, namespace: str | None = None) -> Inventory:
    """The cluster with the files on top of it."""
    api = FakeApi(cluster)
    with api.serve() as address:
        given = [document(each) for each in files]
        return read(address, documents=given, namespace=namespace).inventory


def stored(kind: str, name: str, spec: Json, before: Json | None = None) -> Json:
    """A controller that is in the cluster, as it was applied there."""
    annotations = {} if before is None else {LAST_APPLIED: json.dumps(before)}
    metadata = {"uid": f"uid-{name}", "annotations": {"note": "kept", **annotations}}
    return workload(kind, name, spec, metadata=metadata)


def test_a_new_deployment_gets_its_pods() -> None:
    found = after(many_pods(1), workload("Deployment", "web", {"replicas": 2}))
    assert len(found.pods) == 3
    assert [each.code for each in found.notices] == ["synthesised"]


def test_a_deployment_that_asks_for_more_gets_the_difference() -> None:
    replica_set = stored("ReplicaSet", "web-1", {"replicas": 1})
    replica_set["metadata"]["ownerReferences"] = owned("Deployment", "web")["ownerReferences"]
    running = pod("web-1-a", "node-0", metadata=owned("ReplicaSet", "web-1"))
    cluster = [*many_pods(0), stored("Deployment", "web", {"replicas": 1}), replica_set, running]
    found = after(cluster, workload("Deployment", "web", {"replicas": 3}))
    assert len(found.pods) == 3


def test_replicas_that_the_manifest_leaves_to_an_autoscaler_stay() -> None:
    cluster = [*many_pods(0), stored("Deployment", "web", {"replicas": 5})]
    given = workload("Deployment", "web")
    given["spec"].pop("replicas", None)
    found = after(cluster, given)
    assert found.deployments[0].spec.replicas == 5
    assert len(found.pods) == 5


def test_other_controllers_of_the_cluster_are_left_alone() -> None:
    cluster = [*many_pods(0), stored("Deployment", "other", {"replicas": 4})]
    found = after(cluster, workload("Deployment", "web", {"replicas": 1}))
    assert len(found.pods) == 1


def test_manifests_without_a_namespace_go_where_the_user_is() -> None:
    given = manifest("new")
    del given["metadata"]["namespace"]
    found = after(many_pods(0), given, namespace="shop")
    assert [each.key for each in found.pods] == ["shop/new"]


def test_a_pod_that_is_there_already_stays_as_it_is() -> None:
    given = manifest("pod-00000", spec={"nodeSelector": {"disk": "ssd"}})
    found = after(many_pods(1), given)
    assert [(each.name, each.node_name) for each in found.pods] == [("pod-00000", "node-0")]
    (notice,) = found.notices
    assert notice.text == "1 pod of the files is in the cluster already, and left as there"


def test_another_template_is_told_for_nothing_is_rolled_out() -> None:
    cluster = [*many_pods(0), stored("Deployment", "web", {"replicas": 0})]
    given = workload("Deployment", "web", {"replicas": 0})
    given["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    (notice,) = after(cluster, given).notices
    assert notice.objects == ("Deployment default/web",)
    assert notice.text.startswith("1 workload of the files is in the cluster with another template")


def test_a_deployment_that_asks_for_less_keeps_its_pods_and_that_is_told() -> None:
    cluster = [*many_pods(0), stored("Deployment", "web", {"replicas": 5})]
    (notice,) = after(cluster, workload("Deployment", "web", {"replicas": 0})).notices
    assert notice.text == (
        "1 workload of the files wants fewer replicas than the cluster has; the pods there are "
        "counted as they are"
    )


def test_the_same_template_in_other_words_is_none_of_its_own() -> None:
    cluster = [*many_pods(0), stored("Deployment", "web", {"replicas": 0})]
    given = workload("Deployment", "web", {"replicas": 0})
    for container in given["spec"]["template"]["spec"]["containers"]:
        container["resources"] = {"requests": {"cpu": "0.5"}}
    assert after(cluster, given).notices == ()


def test_a_file_that_is_wrong_is_told_of_before_the_cluster_is_asked() -> None:
    api = FakeApi(many_pods(0))
    wrong = workload("Deployment", "web", {"replicas": "three"})
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address, documents=[document(wrong)])
    assert (caught.value.file, caught.value.field) == ("web.yaml", "spec.replicas")
    assert api.requests == []


def test_lists_are_opened() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [manifest("a"), manifest("b")]}
    assert names(after(many_pods(0), listed).pods) == ["a", "b"]


@pytest.mark.parametrize(
    ("before", "given", "live", "expected"),
    [
        pytest.param({}, {"a": 1}, {"a": 2, "b": 3}, {"a": 1, "b": 3}, id="what others set stays"),
        pytest.param({"b": 3}, {"a": 1}, {"a": 2, "b": 3}, {"a": 1}, id="what we set is removed"),
        pytest.param({}, {"a": None}, {"a": 2}, {}, id="null removes"),
        pytest.param({}, {"a": [1]}, {"a": [2, 3]}, {"a": [1]}, id="lists are replaced"),
        pytest.param(
            {},
            {"containers": [{"name": "app", "image": "new"}]},
            {"containers": [{"name": "app", "image": "old", "cpu": 1}, {"name": "sidecar"}]},
            {"containers": [{"name": "app", "image": "new", "cpu": 1}, {"name": "sidecar"}]},
            id="containers are merged by name",
        ),
        pytest.param(
            {},
            {"volumes": [{"name": "data", "emptyDir": {}}]},
            {"volumes": [{"name": "data", "hostPath": {}}, {"name": "token"}]},
            {"volumes": [{"name": "data", "emptyDir": {}}, {"name": "token"}]},
            id="a volume has one source",
        ),
        pytest.param(
            {},
            {"ports": [{"port": 80}, {"port": 81}]},
            {"ports": [{"port": 80}]},
            {"ports": [{"port": 80}, {"port": 81}]},
            id="items that can't be told apart are replaced",
        ),
        pytest.param(
            {"containers": [{"name": "gone"}]},
            {"containers": [{"name": "app"}]},
            {"containers": [{"name": "gone"}, {"name": "app"}]},
            {"containers": [{"name": "app"}]},
            id="a container that we had is removed",
        ),
    ],
)
def test_merging(before: Json, given: Json, live: Json, expected: Json) -> None:
    assert merged(before, given, live) == expected
