"""LimitRanges default and refuse new pods as the admission plugin does."""

from __future__ import annotations

from typing import Any

import pytest

from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.load import load_documents
from planner.sources.options import ReadOptions
from tests.objects import Json, document, inventory_of, manifest, pod, template, workload


def limits(*items: Json, name: str = "limits", namespace: str = "default") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"limits": list(items)},
    }


def container(**item: Any) -> Json:
    return limits({"type": "Container", **item})


def asking(**resources: Any) -> Json:
    return {"containers": [{"name": "c", "resources": resources}]}


def requests_of(limit_range: Json, spec: Json) -> dict[str, int]:
    return dict(inventory_of(limit_range, manifest("p", spec=spec)).pods[0].spec.requests)


def codes(found: Inventory) -> dict[str, tuple[str, ...]]:
    return {notice.code: notice.objects for notice in found.notices}


@pytest.mark.parametrize(
    ("item", "cpu"),
    [
        ({"default": {"cpu": 1}, "defaultRequest": {"cpu": 0.5}}, 500),
        ({"default": {"cpu": "1"}}, 1000),
        ({"max": {"cpu": "2"}}, 2000),
        ({"min": {"cpu": "200m"}}, 200),
        ({"min": {"cpu": "200m"}, "max": {"cpu": "2"}}, 2000),
    ],
)
def test_a_silent_container_gets_the_default_request(item: Json, cpu: int) -> None:
    assert requests_of(container(**item), asking()) == {"cpu": cpu}


def test_what_a_container_says_itself_stays() -> None:
    given = container(default={"cpu": "1", "memory": "1Gi"}, defaultRequest={"cpu": "500m"})
    assert requests_of(given, asking(requests={"cpu": "100m"})) == {"cpu": 100, "memory": 1 << 30}
    assert requests_of(given, asking(limits={"cpu": "300m"})) == {"cpu": 300, "memory": 1 << 30}


def test_init_containers_are_defaulted_too() -> None:
    spec = {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}
    assert requests_of(container(default={"cpu": "1"}), spec) == {"cpu": 1000}


def test_of_two_limit_ranges_the_first_by_name_wins() -> None:
    second = limits({"type": "Container", "default": {"cpu": "2"}}, name="b")
    first = limits({"type": "Container", "default": {"cpu": "1"}}, name="a")
    found = inventory_of(second, first, manifest("p", spec=asking()))
    assert found.pods[0].spec.requests == {"cpu": 1000}


def test_replicas_made_from_a_template_are_defaulted_and_noted() -> None:
    given = container(default={"cpu": "1"})
    silent = workload("Deployment", "web", {"template": template(spec=asking())})
    found = inventory_of(given, silent)
    assert found.pods[0].spec.requests == {"cpu": 1000}
    assert codes(found)["limitRange"] == (found.pods[0].key,)


def test_stored_pods_and_other_namespaces_are_left_alone() -> None:
    elsewhere = limits({"type": "Container", "default": {"cpu": "1"}}, namespace="other")
    assert requests_of(elsewhere, asking()) == {}
    stored = pod("p", spec=asking())
    assert inventory_of(container(default={"cpu": "1"}), stored).pods[0].spec.requests == {}


@pytest.mark.parametrize(
    ("item", "spec", "message"),
    [
        (
            {"type": "Container", "max": {"cpu": "1"}},
            asking(requests={"cpu": "2"}, limits={"cpu": "2"}),
            "a LimitRange allows at most 1 of cpu",
        ),
        (
            {"type": "Container", "min": {"memory": "1Gi"}},
            asking(requests={"memory": "512Mi"}),
            "a LimitRange asks for at least 1Gi of memory",
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            asking(requests={"cpu": "1"}, limits={"cpu": "3"}),
            "a LimitRange allows a cpu limit of at most 2 times the request",
        ),
        (
            {"type": "Container", "default": {"cpu": "500m"}},
            asking(requests={"cpu": "700m"}),
            "a LimitRange sets a cpu limit of 500m, below the request",
        ),
        (
            {"type": "Pod", "max": {"cpu": "1"}},
            {
                "containers": [
                    {"name": name, "resources": {"limits": {"cpu": "600m"}}} for name in "ab"
                ]
            },
            "a LimitRange allows at most 1 of cpu in a pod",
        ),
        (
            {"type": "Pod", "max": {"memory": "1Gi"}},
            asking(),
            "a LimitRange allows at most 1Gi of memory in a pod",
        ),
    ],
)
def test_a_manifest_that_admission_refuses_is_an_error_with_its_place(
    item: Json, spec: Json, message: str
) -> None:
    with pytest.raises(SourceError) as caught:
        inventory_of(limits(item), manifest("p", spec=spec))
    error = caught.value
    assert (error.message, error.file, error.object) == (message, "web.yaml", "Pod default/p")


def test_a_refused_manifest_can_be_skipped() -> None:
    given = container(max={"cpu": "1"})
    big = manifest("big", spec=asking(limits={"cpu": "2"}))
    small = manifest("small", spec=asking(limits={"cpu": "1"}))
    found = load_documents([document(given, big, small)], ReadOptions(skip_invalid=True))
    assert [each.name for each in found.pods] == ["small"]
    assert codes(found)["invalid"] == (
        "a LimitRange allows at most 1 of cpu "
        "(web.yaml: Pod default/big spec.containers[0].resources)",
    )


def test_replicas_that_admission_refuses_are_not_made_and_named() -> None:
    big = template(spec=asking(limits={"cpu": "2"}))
    found = inventory_of(container(max={"cpu": "1"}), workload("Job", "once", {"template": big}))
    assert found.pods == ()
    assert codes(found) == {"refusedByLimitRange": ("Job default/once",)}


def test_a_pod_with_a_status_was_admitted_though_its_uid_is_gone() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    known = {**manifest("p", spec=asking()), "status": {"conditions": [condition]}}
    assert inventory_of(container(default={"cpu": "1"}), known).pods[0].spec.requests == {}


def test_a_pod_that_runs_was_admitted() -> None:
    running = manifest("p", spec={**asking(limits={"cpu": "2"}), "nodeName": "n1"})
    assert len(inventory_of(container(max={"cpu": "1"}), running).pods) == 1
