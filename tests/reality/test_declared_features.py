"""NodeDeclaredFeatures, on by default in v1.36: pods that ask for what a kubelet must declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cluster import Cluster, build_cluster
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.rules import Event
from planner.scheduler.plugins.node_declared_features import REASON
from planner.scheduler.profile import default_profile
from planner.scheduler.queue import could_help
from planner.scheduler.simulate import simulate
from planner.solver.large.plain_groups import Places
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.sources.load import load_paths
from planner_models.declared_features import RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK
from tests.objects import Json, cluster_of, inventory_of, node, pod, template, workload

DATA = Path(__file__).parent / "data"

OWN_USERS = {"hostNetwork": True, "hostUsers": False}


def restarting(*actions: str, field: str = "containers") -> Json:
    rules = [
        {"action": action, "exitCodes": {"operator": "In", "values": [42]}} for action in actions
    ]
    container = {"name": "c", "restartPolicy": "Never", "restartPolicyRules": rules}
    return {"containers": [{"name": "main"}], field: [container]}


def declaring(name: str, *features: str) -> Json:
    return node(name, status={"declaredFeatures": list(features)})


def outcome(cluster: Cluster) -> tuple[str, str]:
    (result,) = simulate(cluster).results
    found = "" if result.node is None else cluster.nodes[result.node].name
    return found, result.event_message


@pytest.mark.parametrize(
    "dump", ["live-declared-features", "declared-features", "declared-features2"]
)
def test_a_pod_that_needs_an_undeclared_feature_waits_as_it_did_in_reality(dump: str) -> None:
    assert outcome(build_cluster(load_paths([str(DATA / f"{dump}.json")]))) == (
        "",
        f"0/1 nodes are available: 1 {REASON}. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    )


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        (OWN_USERS, (USER_NAMESPACES_HOST_NETWORK,)),
        ({"hostUsers": False}, ()),
        ({"hostNetwork": True}, ()),
        ({"hostNetwork": True, "hostUsers": True}, ()),
        (restarting("RestartAllContainers"), (RESTART_ALL_CONTAINERS,)),
        (restarting("Restart", "RestartAllContainers"), (RESTART_ALL_CONTAINERS,)),
        (restarting("Restart"), ()),
        (restarting("RestartAllContainers", field="initContainers"), (RESTART_ALL_CONTAINERS,)),
        (
            {**OWN_USERS, **restarting("RestartAllContainers")},
            (RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK),
        ),
    ],
)
def test_features_are_inferred_from_the_spec(spec: Json, features: tuple[str, ...]) -> None:
    (read,) = inventory_of(pod("web", spec=spec)).pods
    assert read.spec.required_features == features


def test_pods_made_from_a_template_need_what_it_says() -> None:
    made = inventory_of(
        node("n1"), workload("Deployment", "web", {"template": template(spec=OWN_USERS)})
    )
    assert made.pods[0].spec.required_features == (USER_NAMESPACES_HOST_NETWORK,)


def test_a_pod_goes_to_the_node_that_declares_all_that_it_needs() -> None:
    both = {**OWN_USERS, **restarting("RestartAllContainers")}
    cluster = cluster_of(
        declaring("n1", RESTART_ALL_CONTAINERS),
        declaring("n2", "Other", RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK),
        pod("web", spec=both),
    )
    assert outcome(cluster)[0] == "n2"


def test_filters_before_it_have_the_first_word() -> None:
    full = node("n1", status={"allocatable": {"cpu": "0"}})
    _, message = outcome(cluster_of(full, declaring("n2"), pod("web", spec=OWN_USERS)))
    assert message.startswith(f"0/2 nodes are available: 1 Insufficient cpu, 1 {REASON}.")


@pytest.mark.parametrize("event", Event)
def test_a_refused_pod_is_tried_again_when_a_node_comes_or_declares_more(event: Event) -> None:
    helpful = event in (Event.NODE_ADDED, Event.NODE_FEATURES_CHANGED)
    assert could_help(["NodeDeclaredFeatures"], event) == helpful


def test_groups_that_differ_in_features_alone_land_on_different_nodes() -> None:
    cluster = cluster_of(
        node("n1"),
        declaring("n2", USER_NAMESPACES_HOST_NETWORK),
        pod("a"),
        pod("b", spec=OWN_USERS),
    )
    places = Places(build_problem(cluster, SolveOptions()))
    landing = [places.landing(group.index).tolist() for group in cluster.groups]
    assert landing == [[True, True], [False, True]]


def test_explain_names_the_feature_the_field_and_the_node_that_would_do() -> None:
    cluster = cluster_of(node("n1"), node("n2"), pod("web", spec=OWN_USERS))
    found = explain_pods(cluster, [0], default_profile(), ExplainOptions())
    assert found.verdict == "impossible"
    assert found.headline == "no node declares the features that pod/web needs"
    assert found.narrative[0] == (
        f"No node declares the feature {USER_NAMESPACES_HOST_NETWORK}, which spec.hostUsers asks "
        "for. So no node is left."
    )
    (repair,) = found.repairs
    assert repair.change is not None
    assert repair.change.to == {
        "domains": [{}],
        "labels": {},
        "size": {"cpu": "500m"},
        "declaredFeatures": [USER_NAMESPACES_HOST_NETWORK],
    }
    assert repair.text == f"add a node, 500m CPU, that declares {USER_NAMESPACES_HOST_NETWORK}"
