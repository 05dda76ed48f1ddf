"""Commands are run as kubectl would, on the objects of the input, which are then read again."""

from __future__ import annotations

import copy
import json
import shlex
from typing import Any

import pytest

from planner.cluster.owners import WorkloadRef
from planner.explain.diagnose import ExplainOptions
from planner.explain.repairs.commands import Op, diff_of, in_order, kubectl, patched, scale_command
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Repair
from planner_models.pod import Pod
from tests.explain.changes import passes
from tests.explain.situations import REQUIRED, nodes, requests, spread, workload
from tests.objects import HOSTNAME, ZONE, cluster_of, pod

Json = dict[str, Any]
TWO = {"eu-1a": ["a1"], "eu-1b": ["b1"]}
TAINT = {"key": "example.com/gpu", "value": "yes", "effect": "NoSchedule"}
OWN = {"matchLabels": {"app": "web"}}


def patch(value: Any, ops: list[Json]) -> Any:
    """RFC 6902, as far as add, remove and replace go."""
    result = copy.deepcopy(value)
    for op in ops:
        *steps, last = (
            step.replace("~1", "/").replace("~0", "~") for step in op["path"].split("/")[1:]
        )
        at = result
        for step in steps:
            at = at[int(step)] if isinstance(at, list) else at[step]
        if isinstance(at, list) and op["op"] == "add":
            at.insert(len(at) if last == "-" else int(last), op["value"])
        elif op["op"] == "remove":
            del at[int(last) if isinstance(at, list) else last]
        else:
            assert op["op"] == "add" or last in at
            at[last] = op["value"]
    return result


def run(objects: list[Json], command: str, waiting: str, *, rollout: bool) -> list[Json]:
    """The objects after a command; pods of a patched template get its spec.

    Dry runs change nothing, and pods that are deleted after a patch come back from the template.
    """
    result = copy.deepcopy(objects)
    parts = [part for part in command.split(" && ") if "--dry-run=server" not in part]
    came_back = [part for part in parts if " patch sts " in parts[0] and " delete pod " in part]
    for part in parts:
        if part not in came_back:
            result = _run(result, part, waiting, rollout=rollout)
    return result


def _run(objects: list[Json], command: str, waiting: str, *, rollout: bool) -> list[Json]:
    words = shlex.split(command)
    by_name = {(item["kind"], item["metadata"]["name"]): item for item in objects}
    if "replace" in words:
        ops = json.loads(words[words.index("-p") + 1])
        old = by_name["Pod", waiting]
        return [patch(item, ops) if item is old else item for item in objects]
    if "patch" in words:
        ops = json.loads(words[words.index("-p") + 1])
        kind = {"deploy": "Deployment", "sts": "StatefulSet"}[words[4]]
        owner = by_name[kind, words[5]]
        changed = patch(owner, ops)
        spec = changed["spec"]["template"]["spec"]
        result = []
        for item in objects:
            labels = item["metadata"].get("labels", {})
            mine = item["kind"] == "Pod" and labels == changed["spec"]["selector"]["matchLabels"]
            if mine and (rollout or item["metadata"]["name"] == waiting):
                node = item["spec"].get("nodeName")
                bound = {"nodeName": node} if node else {}
                result.append({**item, "spec": {**spec, **bound}})
            else:
                result.append(changed if item is owner else item)
        return result
    if words[1] == "label":
        key, _, value = words[4].partition("=")
        by_name["Node", words[3]]["metadata"]["labels"][key] = value
    elif words[1] == "uncordon":
        by_name["Node", words[2]]["spec"] = {}
    elif "delete" in words:
        return [item for item in objects if item is not by_name["Pod", words[-1]]]
    return objects


def blocked_by(**spec: Any) -> list[Json]:
    """A web pod waits on two nodes of two zones, one web pod runs on a1."""
    body = {**requests("1"), **spec}
    return [*nodes(TWO), *workload("web", ["a1"], 1, spec=body)]


def full(names: list[str]) -> list[Json]:
    return workload("batch", names, spec=requests("3500m"))


ports = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 8080}]}
SITUATIONS: dict[str, list[Json]] = {
    "skew": [*blocked_by(topologySpreadConstraints=[spread("web")]), *full(["b1"])],
    "minDomains": [
        *nodes({"eu-1a": ["a1"]}),
        *workload(
            "web", ["a1"], 1, spec={"topologySpreadConstraints": [spread("web", minDomains=2)]}
        ),
    ],
    "two policies": [
        *nodes(TWO),
        *nodes({"eu-1c": ["c1"]}, spec={"taints": [TAINT]}),
        *workload(
            "web",
            ["a1", "b1"],
            1,
            spec={"topologySpreadConstraints": [spread("web"), spread("web", HOSTNAME)]},
        ),
    ],
    "taint": [*nodes(TWO, spec={"taints": [TAINT]}), *workload("web", pending=1)],
    "taint beside a toleration": [
        *nodes(TWO, spec={"taints": [TAINT]}),
        *workload("web", pending=1, spec={"tolerations": [{"key": "other", "operator": "Exists"}]}),
    ],
    "request": [
        *nodes(TWO),
        *full(["a1", "b1"]),
        *workload(
            "web",
            pending=1,
            spec={
                "containers": [
                    {"name": "side", "resources": {"requests": {"cpu": "100m"}}},
                    {"name": "main", "resources": {"requests": {"cpu": "1"}}},
                ]
            },
        ),
    ],
    "nodeSelector": blocked_by(nodeSelector={"example.com/disk-type": "ssd"}),
    "two expressions": blocked_by(
        affinity={
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": ZONE, "operator": "Exists"},
                                {"key": "disk", "operator": "In", "values": ["ssd"]},
                            ]
                        }
                    ]
                }
            }
        }
    ),
    "a mistyped topologyKey": blocked_by(
        topologySpreadConstraints=[spread("web", "topology.kubernetes.io/zones")]
    ),
    "a mistyped topologyKey of pod affinity": blocked_by(
        affinity={
            "podAffinity": {
                REQUIRED: [{"topologyKey": "topology.kubernetes.io/hostname", "labelSelector": OWN}]
            }
        }
    ),
    "pod affinity": blocked_by(
        affinity={
            "podAffinity": {
                REQUIRED: [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}}]
            }
        }
    ),
    "anti-affinity": [
        *nodes({"eu-1a": ["a1", "a2"]}),
        *workload(
            "web",
            ["a1"],
            1,
            spec={
                "affinity": {
                    "podAntiAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": OWN}]}
                }
            },
        ),
    ],
    "anti-affinity of others": [
        *nodes(TWO),
        *workload(
            "shy",
            ["a1", "b1"],
            spec={
                "affinity": {
                    "podAntiAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": OWN}]}
                }
            },
        ),
        *workload("web", pending=1),
    ],
    "ports": [*nodes(TWO), *workload("web", ["a1", "b1"], 1, spec={"containers": [ports]})],
    "cordon and taint": [
        *nodes({"eu-1a": ["a1"]}, spec={"unschedulable": True, "taints": [TAINT]}),
        *workload("web", pending=1),
    ],
    "a bare pod": [
        *nodes(TWO),
        pod("x", "a1", metadata={"labels": {"app": "web"}}),
        *full(["b1"]),
        pod(
            "web",
            spec={**requests("1"), "topologySpreadConstraints": [spread("web")]},
            metadata={"labels": {"app": "web"}},
        ),
    ],
}


def repairs_of(objects: list[Json]) -> tuple[str, list[Repair]]:
    cluster = cluster_of(*objects)
    waiting = int(cluster.pending[0])
    found = explain_pods(cluster, [waiting], default_profile(), ExplainOptions())
    return cluster.pods[waiting].name, [repair for repair in found.repairs if repair.command]


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_command_lets_the_pod_run(name: str) -> None:
    objects = SITUATIONS[name]
    waiting, repairs = repairs_of(objects)
    assert repairs
    for repair in repairs:
        assert repair.command is not None
        if repair.kind in ("scale", "preemptionPolicy", "movePods"):
            continue
        rollout = repair.judged_for == "rollout"
        after = cluster_of(*run(objects, repair.command, waiting, rollout=rollout))
        assert passes(after, after.pod_index[f"default/{waiting}"]), repair.command


def test_all_kinds_of_patches_were_tried() -> None:
    kinds = {repair.kind for objects in SITUATIONS.values() for repair in repairs_of(objects)[1]}
    assert kinds >= {
        "raiseMaxSkew",
        "scheduleAnyway",
        "lowerMinDomains",
        "nodeTaintsPolicy",
        "addNodeAffinity",
        "addToleration",
        "lowerRequest",
        "relaxAffinity",
        "relaxAntiAffinity",
        "dropHostPort",
        "topologyKey",
        "combined",
    }


def test_a_template_that_differs_from_the_pod_is_not_patched_by_position() -> None:
    objects = copy.deepcopy(SITUATIONS["skew"])
    for item in objects:
        if item["kind"] == "Deployment":
            item["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    _, repairs = repairs_of(objects)
    assert not [repair for repair in repairs if repair.kind in ("raiseMaxSkew", "scheduleAnyway")]


WEB = Pod(namespace="default", name="web-1", spec=cluster_of(pod("x")).pods[0].spec)


def test_the_deployment_behind_a_replica_set_is_what_to_change() -> None:
    labelled = Pod(
        namespace="default", name="web-7d9f-1", spec=WEB.spec, labels={"pod-template-hash": "7d9f"}
    )
    ref = WorkloadRef("default", "ReplicaSet", "web-7d9f")
    command = patched(ref, labelled, [Op("add", ("preemptionPolicy",), "Never")])
    assert command is not None
    assert shlex.split(command)[4:6] == ["deploy", "web"]


def test_names_can_never_become_commands() -> None:
    name = "x'; reboot #"
    ref = WorkloadRef(name, "Deployment", name)
    command = patched(ref, WEB, [Op("remove", ("nodeSelector", name))])
    assert command is not None
    words = shlex.split(command)
    assert words[:6] == ["kubectl", "-n", name, "patch", "deploy", name]
    assert json.loads(words[-1])[0]["path"].endswith(name)
    assert shlex.split(kubectl("label", "node", name, f"zone={name}"))[3] == name
    assert shlex.split(scale_command(ref, 1))[2] == name


def test_what_is_removed_from_a_list_goes_from_its_end() -> None:
    ops = [Op("remove", ("a", 0)), Op("remove", ("a", 2)), Op("add", ("b",), 1)]
    assert [op.path for op in in_order(ops)] == [("b",), ("a", 2), ("a", 0)]


def test_a_job_gets_a_diff_because_it_can_t_be_patched() -> None:
    ref = WorkloadRef("default", "Job", "report")
    ops = [Op("replace", ("topologySpreadConstraints", 0, "maxSkew"), 2, 1)]
    assert patched(ref, WEB, ops) is None
    assert diff_of(ref, WEB, ops).splitlines() == [
        "--- job/report",
        "+++ job/report",
        " spec:",
        "   template:",
        "     spec:",
        "       topologySpreadConstraints:",
        "         - # [0]",
        "-          maxSkew: 1",
        "+          maxSkew: 2",
    ]


APART = {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": OWN}]}}}


def dropping(objects: list[Json]) -> Repair:
    _, repairs = repairs_of(objects)
    return next(repair for repair in repairs if repair.text.startswith("drop zone anti-affinity"))


def test_a_rollout_that_old_pods_would_block_stops_them_first() -> None:
    """Old pods keep the new ones out of every zone by the rule that they still carry."""
    found = dropping([*nodes(TWO), *workload("web", ["a1", "b1"], 1, spec=APART)])
    assert found.notes == ("strategy Recreate: 3 pods stop before the new ones start",)
    assert found.command is not None
    patch_of = json.loads(shlex.split(found.command)[-1])
    assert {"op": "add", "path": "/spec/strategy", "value": {"type": "Recreate"}} in patch_of


def test_all_pods_of_a_stateful_set_go_where_old_ones_keep_new_ones_out() -> None:
    names = ["web-0", "web-1", "web-2"]
    body = workload("web", ["a1", "b1"], 1, spec=APART, kind="StatefulSet", names=names)
    found = dropping([*nodes(TWO), *body])
    assert found.command is not None
    assert found.command.endswith("&& kubectl -n default delete pod web-0 web-1 web-2")


def test_a_rollout_that_finds_a_node_beside_the_old_pods_goes_on_as_usual() -> None:
    """Only its selector is about other pods: no replica carries a rule against the new one."""
    other = {"matchLabels": {"app": "db"}}
    term = {"topologyKey": ZONE, "labelSelector": other}
    spec = {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
    db = workload("db", ["a1", "b1"])
    found = dropping([*nodes(TWO), *db, *workload("web", [], 1, spec=spec)])
    assert found.notes == ("rolls out 1 pod",)


def test_a_new_pod_is_tried_under_another_name_before_the_old_one_goes() -> None:
    _, repairs = repairs_of(SITUATIONS["a bare pod"])
    found = next(repair for repair in repairs if repair.kind == "raiseMaxSkew")
    assert found.command is not None
    first, second = found.command.split(" && ")
    assert first.endswith("| kubectl create --dry-run=server -f -")
    assert '"value":"web-dry-run"' in first
    assert second.endswith("| kubectl replace --force -f -")
    assert "dry-run" not in second


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a mistyped topologyKey", f"topologyKey topology.kubernetes.io/zones -> {ZONE}"),
        (
            "a mistyped topologyKey of pod affinity",
            f"topologyKey topology.kubernetes.io/hostname -> {HOSTNAME}",
        ),
    ],
)
def test_a_mistyped_topology_key_is_corrected_and_no_node_gets_it(name: str, text: str) -> None:
    _, repairs = repairs_of(SITUATIONS[name])
    assert repairs[0].text == text
    assert not {"labelNode", "addNode"} & {repair.kind for repair in repairs}


def test_pods_of_another_replica_set_are_deleted_after_its_patch() -> None:
    """A ReplicaSet that no Deployment made leaves the pods that it has alone."""
    shy = workload("shy", ["a1", "b1"], spec=APART, kind="ReplicaSet", names=["shy-0", "shy-1"])
    _, repairs = repairs_of([*nodes(TWO), *shy, *workload("web", pending=1)])
    found = next(r for r in repairs if r.text == "drop the anti-affinity of shy")
    assert found.notes == ("delete its 2 pods",)
    assert found.command is not None
    assert found.command.endswith("&& kubectl -n default delete pod shy-0 shy-1")
