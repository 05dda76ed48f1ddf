"""Manifests become what the API server would store; stored pods stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from planner_models.pod import Pod
from tests.objects import Json, inventory_of, manifest, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def stored(spec: Json, *others: Json, labels: dict[str, str] | None = None) -> Pod:
    made = manifest("web-1", spec=spec, metadata={"labels": labels or {}})
    return inventory_of(made, *others).pods[0]


def priority_class(name: str, value: int, **changes: Any) -> Json:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **changes,
    }


def with_limits(**limits: str) -> Json:
    return {"containers": [{"resources": {"limits": limits, "requests": {"cpu": "100m"}}}]}


def test_requests_that_are_not_given_are_the_limits() -> None:
    assert stored(with_limits(cpu="1", memory="1Gi")).spec.requests == {
        "cpu": 100,
        "memory": 1 << 30,
    }


def test_a_stored_pod_is_left_as_it_is() -> None:
    found = inventory_of(pod("web-1", spec=with_limits(memory="1Gi"))).pods[0]
    assert found.spec.requests == {"cpu": 100}


def test_pod_level_requests_come_from_containers_then_from_pod_level_limits() -> None:
    spec = stored({"resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}).spec
    assert spec.requests == {"cpu": 500, "memory": 1 << 30}


def test_without_pod_level_limits_nothing_is_added_at_pod_level() -> None:
    spec = stored({"resources": {"requests": {"memory": "1Gi"}}}).spec
    assert spec.resources.requests == {"memory": 10**9 << 30}


def test_pod_level_huge_pages_come_from_the_containers_limits() -> None:
    containers = [{"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}] * 2
    spec = stored({"containers": containers, "resources": {"limits": {"cpu": "1"}}}).spec
    assert spec.requests["hugepages-2Mi"] == 8 << 20


def test_under_host_network_container_ports_are_host_ports() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]
    containers = [{"name": "a", "ports": ports}]
    host = stored({"hostNetwork": True, "containers": containers}).spec.host_ports
    assert host == (("0.0.0.0", "TCP", 80), ("0.0.0.0", "TCP", 8081))
    assert len(stored({"containers": containers}).spec.host_ports) == 1


def test_label_keys_are_merged_into_spread_selectors_as_far_as_the_pod_has_them() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["rev", "absent"],
    }
    found = stored({"topologySpreadConstraints": [constraint]}, labels={"rev": "7"})
    selector = found.spec.topology_spread_constraints[0].label_selector
    assert selector is not None
    assert selector.canonical() == (("rev", "In", ("7",)),)


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_label_keys_are_merged_into_affinity_terms(kind: str) -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["rev"],
        "mismatchLabelKeys": ["tenant"],
    }
    terms = {REQUIRED: [term], PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}
    labels = {"rev": "7", "tenant": "x"}
    affinity = stored({"affinity": {kind: terms}}, labels=labels).spec.affinity
    found = affinity.pod_affinity if kind == "podAffinity" else affinity.pod_anti_affinity
    for each in (found.required[0], found.preferred[0].pod_affinity_term):
        assert each.label_selector is not None
        assert each.label_selector.canonical() == (
            ("app", "In", ("web",)),
            ("rev", "In", ("7",)),
            ("tenant", "NotIn", ("x",)),
        )


def test_priority_comes_from_the_class() -> None:
    found = stored(
        {"priorityClassName": "high"}, priority_class("high", 9, preemptionPolicy="Never")
    )
    assert (found.priority, found.spec.preemption_policy) == (9, "Never")


def test_the_lowest_global_default_is_for_pods_without_a_class() -> None:
    classes = [priority_class(n, v, globalDefault=True) for n, v in (("b", 7), ("a", 5))]
    found = stored({}, *classes, priority_class("c", 1))
    assert (found.priority, found.spec.priority_class_name) == (5, "a")


@pytest.mark.parametrize(
    ("name", "value"),
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)],
)
def test_the_two_system_classes_need_not_be_in_the_input(name: str, value: int) -> None:
    assert stored({"priorityClassName": name}).priority == value


def test_a_priority_that_is_given_stays() -> None:
    assert stored({"priority": 3}, priority_class("d", 5, globalDefault=True)).priority == 3


def test_an_unknown_class_is_noticed_once_with_all_its_pods() -> None:
    pods = [manifest(f"web-{i}", spec={"priorityClassName": "gone"}) for i in (1, 2)]
    found = inventory_of(*pods)
    (notice,) = found.notices
    assert (notice.code, notice.objects) == (
        "unknownPriorityClass",
        ("default/web-1", "default/web-2"),
    )
    assert found.pods[0].priority == 0


def test_an_empty_scheduler_name_means_the_default_one() -> None:
    assert stored({"schedulerName": ""}).spec.scheduler_name == "default-scheduler"


def storage_class(name: str, default: str = "true", created: str = "2026-05-01T12:00:00Z") -> Json:
    annotations = {"storageclass.kubernetes.io/is-default-class": default}
    metadata = {"name": name, "annotations": annotations, "creationTimestamp": created}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}


def class_of_a_claim(*classes: Json, uid: str = "", **spec: Any) -> str | None:
    metadata = {"name": "data", "uid": uid}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}
    return inventory_of({**claim, "spec": spec}, *classes).claims[0].storage_class


def test_a_new_claim_without_a_class_gets_the_newest_default_one() -> None:
    old, new = storage_class("a"), storage_class("z", created="2026-06-01T12:00:00Z")
    assert class_of_a_claim(old, new) == "z"
    assert class_of_a_claim(old, storage_class("b")) == "a"
    assert class_of_a_claim(storage_class("a", default="false")) is None


def test_a_claim_that_names_a_class_or_is_stored_keeps_what_it_has() -> None:
    assert class_of_a_claim(storage_class("a"), storageClassName="") == ""
    assert class_of_a_claim(storage_class("a"), uid="u") is None
