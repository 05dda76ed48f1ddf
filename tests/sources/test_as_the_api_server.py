"""What the API server takes is taken, and means what it means there."""

from __future__ import annotations

from typing import Any

import pytest

from planner.sources.errors import SourceError
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from planner_models.pod import Pod
from tests.objects import Json, inventory_of, manifest, node, pod, template, workload


def spec_with(**container: Any) -> Json:
    return {"containers": [{"name": "c", **container}]}


def read_pod(**spec: Any) -> Pod:
    return inventory_of(manifest("p", spec=spec)).pods[0]


def refused(text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        load_documents([RawDocument(file="web.json", data=text.encode(), line=1)])
    return caught.value


def test_a_null_request_is_an_explicit_0() -> None:
    found = read_pod(**spec_with(resources={"requests": {"memory": "64Mi", "cpu": None}}))
    assert found.spec.requests == {"cpu": 0, "memory": 64 << 20}


def test_a_null_label_is_empty() -> None:
    service: Json = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "labels": {"tier": None}},
        "spec": {"selector": {"app": None}},
    }
    (found,) = inventory_of(service).services
    assert (found.metadata.labels, found.spec.selector) == ({"tier": ""}, {"app": ""})
    labelled = inventory_of(pod("a", metadata={"labels": {"app": None}})).pods[0]
    assert labelled.labels == {"app": ""}


def test_a_priority_class_without_a_value_is_0() -> None:
    plain = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    (found,) = inventory_of({**plain, "metadata": {"name": "plain"}}).priority_classes
    assert found.value == 0


def test_a_spread_constraint_may_name_what_is_no_label_key() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "rack name",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {},
    }
    found = read_pod(topologySpreadConstraints=[constraint]).spec.topology_spread_constraints[0]
    assert found.topology_key == "rack name"


def test_blanks_around_a_request_and_an_empty_protocol() -> None:
    ports = [{"containerPort": 80, "hostPort": 80, "protocol": ""}]
    found = read_pod(**spec_with(resources={"requests": {"cpu": "1 "}}, ports=ports)).spec
    assert found.requests == {"cpu": 1000}
    assert found.host_ports == (("0.0.0.0", "TCP", 80),)


def test_a_pod_in_an_unknown_phase_is_not_finished() -> None:
    found = inventory_of(pod("a", "n1", status={"phase": "CrashLoopBackOff", "qosClass": "Best"}))
    assert (found.pods[0].phase, found.pods[0].finished) == ("Unknown", False)
    assert found.pods[0].qos_class is None


REPEATED = (
    '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"%s},'
    ' "spec": {"containers": [{"name": "c", "image": "a", "image": "b"}]}}'
)


def test_a_key_that_json_sets_twice_is_refused_with_its_place() -> None:
    error = refused(REPEATED % "")
    assert error.render() == (
        'error: the key "image" is set twice\n'
        "  --> web.json: Pod default/p spec.containers[0].image"
    )


def test_a_repeated_key_in_an_item_of_a_list_is_found() -> None:
    namespace = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "name": "b"}}'
    error = refused(f'{{"apiVersion": "v1", "kind": "List", "items": [{namespace}]}}')
    assert (error.object, error.field) == ("Namespace b", "metadata.name")


def test_what_the_api_server_stored_is_not_searched_for_repeated_keys() -> None:
    stored = (REPEATED % ', "uid": "u"').encode()
    assert len(load_documents([RawDocument(file="", data=stored, line=1)]).pods) == 1


def test_texts_that_planner_passes_over_need_not_be_utf_8() -> None:
    data = (REPEATED % "").replace('"image": "b"', '"x": "\\u00ff"').encode()
    data = data.replace(b"\\u00ff", b"\xff")
    assert len(load_documents([RawDocument(file="", data=data, line=1)]).pods) == 1


@pytest.mark.parametrize(
    ("api_version", "kind", "right"),
    [
        ("extensions/v1beta1", "Deployment", "apps/v1"),
        ("v1", "Deployment", "apps/v1"),
        ("apps/v1", "Pod", "v1"),
        ("apps/v1", "Service", "v1"),
        ("", "PodDisruptionBudget", "policy/v1"),
        ("storage.k8s.io/v1", "PriorityClass", "scheduling.k8s.io/v1"),
    ],
)
def test_a_kind_in_a_wrong_group_is_refused_with_the_right_one(
    api_version: str, kind: str, right: str
) -> None:
    with pytest.raises(SourceError) as caught:
        inventory_of({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}})
    assert caught.value.message == f"{api_version or 'an empty apiVersion'} has no {kind}"
    assert caught.value.field == "apiVersion"
    assert caught.value.help == f"apiVersion: {right} is right"


def test_kinds_of_other_groups_may_have_the_same_name() -> None:
    names = ("serving.knative.dev/v1", "Service"), ("batch.volcano.sh/v1alpha1", "Job")
    objects = [{"apiVersion": a, "kind": k, "metadata": {"name": "x"}} for a, k in names]
    (notice,) = inventory_of(node("n1"), *objects).notices
    assert notice.text == "2 objects are of kinds that planner does not use: 1 Job, 1 Service"


@pytest.mark.parametrize(
    "value",
    [
        workload("Deployment", "web", {"template": {"spec": None}}),
        workload("DaemonSet", "web", {"template": None}),
        workload("Job", "web", {"template": template(spec={"containers": []})}),
    ],
)
def test_a_workload_without_containers_is_said_to_be_a_patch(value: Json) -> None:
    with pytest.raises(SourceError) as caught:
        inventory_of(value)
    error = caught.value
    assert error.message == "it has no containers, so it seems to be a kustomize patch"
    assert error.field == "spec.template.spec.containers"
    assert error.help == "kubectl kustomize DIR | planner ... -f - reads the result"
