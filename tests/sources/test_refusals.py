"""What the API server would refuse is refused, with the place to look at and in plain words."""

from __future__ import annotations

from typing import Any

import pytest

from planner.sources.errors import SourceError
from tests.objects import Json, inventory_of, manifest, merged, node, pod, template, workload

SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}


def refusal(value: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        inventory_of(value)
    return caught.value


def spread(**changes: Any) -> Json:
    return {"topologySpreadConstraints": [merged(SPREAD, changes)]}


def anti_affinity(**changes: Any) -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"podAntiAffinity": {required: [merged(TERM, changes)]}}}


def node_affinity(**requirement: Any) -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    return {"affinity": {"nodeAffinity": {required: terms}}}


IN_SPREAD = "spec.topologySpreadConstraints[0]"
IN_ANTI = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
IN_NODE = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms[0].matchExpressions[0]"
)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (spread(maxSkew=0), f"{IN_SPREAD}.maxSkew", "maxSkew is 0; it must be at least 1"),
        (spread(maxSkew="1"), f"{IN_SPREAD}.maxSkew", '"1": a whole number is expected'),
        (spread(maxSkew=2**40), f"{IN_SPREAD}.maxSkew", "1099511627776: it must be less than"),
        (
            spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
            f"{IN_SPREAD}.minDomains",
            "minDomains is allowed with whenUnsatisfiable: DoNotSchedule only",
        ),
        (spread(topologyKey=""), f"{IN_SPREAD}.topologyKey", "topologyKey must not be empty"),
        (spread(minDomains=0), f"{IN_SPREAD}.minDomains", "minDomains is 0; it must be at least 1"),
        (
            spread(matchLabelKeys=["rev"], labelSelector=None),
            f"{IN_SPREAD}.matchLabelKeys",
            "matchLabelKeys needs a labelSelector",
        ),
        (
            spread(matchLabelKeys=["app"]),
            f"{IN_SPREAD}.matchLabelKeys[0]",
            "app is in both matchLabelKeys and labelSelector",
        ),
        (
            {"topologySpreadConstraints": [SPREAD, SPREAD]},
            "spec.topologySpreadConstraints[1]",
            "a second constraint for topologyKey zone and DoNotSchedule",
        ),
        (
            spread(whenUnsatisfiable="Never"),
            f"{IN_SPREAD}.whenUnsatisfiable",
            '"Never": DoNotSchedule or ScheduleAnyway is expected',
        ),
        (
            spread(labelSelector={"matchExpressions": [{"key": "app", "operator": "Like"}]}),
            f"{IN_SPREAD}.labelSelector.matchExpressions[0].operator",
            '"Like": In, NotIn, Exists or DoesNotExist is expected',
        ),
        (
            spread(labelSelector={"matchLabels": {"bad key!": "x"}}),
            f"{IN_SPREAD}.labelSelector.matchLabels[bad key!]",
            '"bad key!" is not a label key',
        ),
        ({"topologySpreadConstraints": [{}]}, f"{IN_SPREAD}.maxSkew", "the field is required"),
        (
            node_affinity(key="cores", operator="Gt", values=["4", "8"]),
            f"{IN_NODE}.values",
            "must be exactly one value with operator Gt",
        ),
        (
            anti_affinity(matchLabelKeys=["app"]),
            f"{IN_ANTI}.matchLabelKeys[0]",
            "app is in both matchLabelKeys and labelSelector",
        ),
        (
            anti_affinity(matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
            f"{IN_ANTI}.matchLabelKeys",
            "a is in both matchLabelKeys and mismatchLabelKeys",
        ),
        (
            anti_affinity(matchLabelKeys=["a"], labelSelector=None),
            f"{IN_ANTI}.matchLabelKeys",
            "matchLabelKeys and mismatchLabelKeys need a labelSelector",
        ),
        (anti_affinity(topologyKey=""), f"{IN_ANTI}.topologyKey", '"" is not a label key'),
        ({"priority": "5"}, "spec.priority", '"5": a whole number is expected'),
        ({"priority": 2**31}, "spec.priority", "2147483648: it must be less than 2147483648"),
        ({"nodeName": 5}, "spec.nodeName", "5: a string is expected"),
        ({"containers": {}}, "spec.containers", "{}: a list is expected"),
        ({"containers": [5]}, "spec.containers[0]", "5: an object is expected"),
        ({"hostNetwork": "yes"}, "spec.hostNetwork", '"yes": true or false is expected'),
        ({"nodeSelector": []}, "spec.nodeSelector", "[]: an object is expected"),
        ({"overhead": {"cpu": "-1"}}, "spec.overhead.cpu", "must be greater than or equal to 0"),
        (
            {"containers": [{"name": "a", "ports": [{"hostPort": 70000}]}]},
            "spec.containers[0].ports[0].hostPort",
            "hostPort is 70000; it must be between 1 and 65535",
        ),
        (
            {"containers": [{"resources": {"requests": {"cpu": True}}}]},
            "spec.containers[0].resources.requests.cpu",
            '"true" is not a quantity',
        ),
        ({"tolerations": [{"key": ""}]}, "spec.tolerations[0].operator", "must be Exists"),
        ({"preemptionPolicy": "No"}, "spec.preemptionPolicy", '"No": PreemptLowerPriority or'),
        ({"volumes": [{"name": 1}]}, "spec.volumes[0].name", "1: a string is expected"),
    ],
)
def test_a_refused_value_in_a_pod_is_named_with_its_field(
    spec: Json, field: str, message: str
) -> None:
    error = refusal(manifest("web-1", spec=spec))
    assert (error.file, error.object, error.field) == ("web.yaml", "Pod default/web-1", field)
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"labels": []}, "metadata.labels"),
        ({"labels": {"app": 1}}, "metadata.labels.app"),
        ({"labels": {"app": "has space"}}, "metadata.labels.app"),
        ({"labels": {"example.com/-": "x"}}, "metadata.labels[example.com/-]"),
        ({"creationTimestamp": "yesterday"}, "metadata.creationTimestamp"),
        ({"creationTimestamp": "0000-01-01T00:00:00Z"}, "metadata.creationTimestamp"),
        ({"deletionTimestamp": "2026-05-01T12:00:00"}, "metadata.deletionTimestamp"),
        ({"ownerReferences": [{"kind": "ReplicaSet"}]}, "metadata.ownerReferences[0].name"),
    ],
)
def test_refused_metadata_is_named_with_its_field(metadata: Json, field: str) -> None:
    error = refusal(pod("web-1", metadata=metadata))
    assert (error.object, error.field) == ("Pod default/web-1", field)


def test_the_mockup_of_a_refused_max_skew_reads_as_designed() -> None:
    assert refusal(manifest("web-1", spec=spread(maxSkew=0))).render() == (
        "error: maxSkew is 0; it must be at least 1\n"
        "  --> web.yaml: Pod default/web-1 spec.topologySpreadConstraints[0].maxSkew"
    )


def test_a_malformed_quantity_in_a_template_reads_as_designed() -> None:
    wrong = template(spec={"containers": [{"resources": {"requests": {"cpu": "500mm"}}}]})
    assert refusal(workload("Deployment", "web", {"template": wrong})).render() == (
        'error: "500mm" is not a quantity\n'
        "  --> web.yaml: Deployment default/web\n"
        "      spec.template.spec.containers[0].resources.requests.cpu\n"
        "help: a number with an optional suffix, such as 500m, 0.5, 2 or 1Gi"
    )


@pytest.mark.parametrize(
    ("value", "name", "field"),
    [
        (workload("Deployment", "web", {"replicas": -1}), "Deployment default/web", "replicas"),
        (workload("StatefulSet", "db", {"replicas": "3"}), "StatefulSet default/db", "replicas"),
        (workload("Job", "once", {"parallelism": 2**31}), "Job default/once", "parallelism"),
        (workload("DaemonSet", "log", {"template": []}), "DaemonSet default/log", "template"),
        (
            workload("ReplicaSet", "web", {"template": template(spec=spread(maxSkew=0))}),
            "ReplicaSet default/web",
            "template.spec.topologySpreadConstraints[0].maxSkew",
        ),
        (
            workload(
                "Deployment", "web", {"template": template(spec=spread(matchLabelKeys=["app"]))}
            ),
            "Deployment default/web",
            "template.spec.topologySpreadConstraints[0].matchLabelKeys[0]",
        ),
        (node("n1", spec={"unschedulable": "no"}), "Node n1", "unschedulable"),
        (node("n1", spec={"taints": [{"key": "a"}]}), "Node n1", "taints[0].effect"),
    ],
)
def test_other_kinds_name_their_fields_too(value: Json, name: str, field: str) -> None:
    error = refusal(value)
    assert (error.object, error.field) == (name, f"spec.{field}")


def test_messages_are_free_of_library_jargon() -> None:
    wrong: list[Json] = [{"priority": 1.5}, {"containers": "x"}, {"affinity": 3}]
    for spec in wrong:
        text = str(refusal(manifest("web-1", spec=spec))).lower()
        for word in ("pydantic", "input should", "instance", "tuple", "dict", "model", "`"):
            assert word not in text


def test_a_stored_pod_may_have_its_label_keys_merged_into_the_selector() -> None:
    merged_in = {"matchExpressions": [{"key": "rev", "operator": "In", "values": ["1"]}]}
    stored = pod(
        "web-1",
        spec=spread(matchLabelKeys=["rev"], labelSelector=merged_in),
        metadata={"labels": {"app": "web", "rev": "1"}},
    )
    assert inventory_of(stored).pods[0].name == "web-1"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, "a Pod has no name"),
        ({"kind": "Node", "apiVersion": "v1", "metadata": {}}, "a Node has no name"),
        ({"metadata": {"name": "x"}}, "an object has no kind"),
        (5, "this is not a Kubernetes object"),
        ([5], "an item of the list is not a Kubernetes object"),
        ({"kind": "List", "items": ["x"]}, "an item of the list is not a Kubernetes object"),
        ({"kind": ["Pod"]}, "this is not a Kubernetes object"),
    ],
)
def test_what_is_no_object_is_said_to_be_none(value: Any, message: str) -> None:
    assert refusal(value).message == message
