from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

import planner
from planner.errors import PlannerError

ZONE = "topology.kubernetes.io/zone"
Ask = Callable[[planner.Cluster], Any]


def node(name: str, zone: str) -> dict[str, Any]:
    room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {ZONE: zone, "kubernetes.io/hostname": name}},
        "status": {"allocatable": room, "capacity": room},
    }


def pod(namespace: str, app: str, number: int, on: str | None) -> dict[str, Any]:
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    spec: dict[str, Any] = {
        "containers": [{"name": app, "resources": {"requests": {"cpu": "100m"}}}],
        "topologySpreadConstraints": [spread],
    }
    if on is not None:
        spec["nodeName"] = on
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-{number}",
            "namespace": namespace,
            "labels": {"app": app},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": spec,
        "status": {"phase": "Pending" if on is None else "Running"},
    }


@pytest.fixture
def cluster() -> planner.Cluster:
    """Two zones; `web` of shop and `api` of prod are uneven, 3 to 0, and each has a pod waiting."""
    objects = [
        node("a", "left"),
        node("b", "right"),
        *(pod("shop", "web", number, "a") for number in range(3)),
        *(pod("prod", "api", number, "a") for number in range(3)),
        pod("shop", "web", 3, None),
        pod("prod", "api", 3, None),
    ]
    return planner.load(io.StringIO(json.dumps({"kind": "List", "items": objects})))


def about(answer: Any) -> set[str]:
    """The namespaces that an answer speaks of."""
    match answer:
        case planner.Inspection():
            return {each.namespace for each in answer.workloads}
        case planner.Diagnosis():
            return {target.partition("/")[0] for target in answer.targets}
        case planner.Simulation():
            return {each.pod.partition("/")[0] for each in answer.pods}
        case planner.Plan():
            return {each.pod.partition("/")[0] for each in answer.placements}
        case _:
            return {each.pod.partition("/")[0] for each in answer.evictions}


COMMANDS: dict[str, Callable[..., Any]] = {
    "inspect": planner.Cluster.inspect,
    "explain": planner.Cluster.explain_pending,
    "simulate": planner.Cluster.simulate,
    "solve": lambda cluster, **part: cluster.solve(rebalance=True, **part),
    "evict": planner.Cluster.evict,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_namespace(cluster: planner.Cluster, command: str) -> None:
    assert about(COMMANDS[command](cluster, namespace="shop")) == {"shop"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_labels(cluster: planner.Cluster, command: str) -> None:
    assert about(COMMANDS[command](cluster, selector="app=api")) == {"prod"}


@pytest.mark.parametrize("command", COMMANDS)
def test_without_any_all_namespaces_count(cluster: planner.Cluster, command: str) -> None:
    assert about(COMMANDS[command](cluster)) == {"prod", "shop"}
    assert about(COMMANDS[command](cluster, all_namespaces=True)) == {"prod", "shop"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_namespace_that_is_not_there_is_an_error(cluster: planner.Cluster, command: str) -> None:
    with pytest.raises(PlannerError, match="the input has no namespace shops") as error:
        COMMANDS[command](cluster, namespace="shops")
    assert error.value.help == "did you mean shop?"


@pytest.mark.parametrize("command", ["simulate", "solve", "evict", "inspect"])
def test_targets_of_all_namespaces(cluster: planner.Cluster, command: str) -> None:
    ask = getattr(cluster, command)
    options = {"rebalance": True} if command == "solve" else {}
    assert about(ask("rs/web", all_namespaces=True, **options)) == {"shop"}
    assert about(ask("rs/api", namespace="prod", **options)) == {"prod"}


def test_solve_leaves_the_pending_pods_of_others_pending(cluster: planner.Cluster) -> None:
    plan = cluster.solve(namespace="shop")
    assert [each.pod for each in plan.placements] == ["shop/web-3"]
    assert plan.unplaced == ()


def test_rules_that_others_break_are_not_told(cluster: planner.Cluster) -> None:
    plan = cluster.solve(namespace="shop", rebalance=True)
    assert (plan.violations, plan.excess_after) == ((), 0)
    assert {each.namespace for each in plan.workloads} == {"shop"}
    evictions = cluster.evict(namespace="shop")
    assert evictions.converges
    assert evictions.after.violations == ()


def test_answers_about_a_part_say_so(cluster: planner.Cluster) -> None:
    assert "asked about 4 of 8 pods" in cluster.solve(namespace="shop").to_text()


def test_the_descheduler_takes_no_part(cluster: planner.Cluster) -> None:
    with pytest.raises(PlannerError, match="goes without a part of the pods"):
        cluster.evict(namespace="shop", like_descheduler=True)


@pytest.mark.parametrize(
    "words",
    [("rs/web",), ("rs", "web"), ("replicasets.apps", "web"), ("rs",), ("pods",), ("po", "web-3")],
)
def test_targets_have_kubectl_s_forms(cluster: planner.Cluster, words: tuple[str, ...]) -> None:
    assert cluster.explain(*words, namespace="shop").targets == ("shop/web-3",)


@pytest.mark.parametrize(
    ("ask", "message", "help_text"),
    [
        (lambda c: c.explain("web"), "no pod web in", "did you mean rs/web with `namespace=shop`?"),
        (lambda c: c.explain("we", namespace="shop"), "no pod we in", "did you mean rs/web?"),
        (lambda c: c.explain("rs/wep", namespace="shop"), "no ReplicaSet wep", "did you mean web?"),
        (lambda c: c.explain("web-3"), "no pod web-3 in", "in namespace shop: `namespace=shop`"),
        (lambda c: c.explain("rs", "rs/web"), "mixes kubectl's two forms", "explain rs NAME ..."),
        (lambda c: c.inspect(selector="app=x"), "no pod has labels", None),
        (
            lambda c: c.inspect(namespace="shop", all_namespaces=True),
            "contradict each other",
            "leave one of them out",
        ),
    ],
)
def test_names_that_nothing_has_lead_to_the_right_ones(
    cluster: planner.Cluster, ask: Ask, message: str, help_text: str | None
) -> None:
    with pytest.raises(PlannerError, match=message) as error:
        ask(cluster)
    assert (help_text or "") in (error.value.help or "")


def test_a_workload_that_runs_is_told_with_its_numbers() -> None:
    found = planner.load(example="zone-outage").explain("deploy", "api")
    assert found.headline == "no pod is pending: deploy/api has 12 of 12 running"
