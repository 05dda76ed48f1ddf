"""One sentence about a pod that has no node."""

from __future__ import annotations

from typing import Any

import pytest

from planner.documents.plan import make_plan
from planner.explain.one_sentence import ShortExplainer
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from tests.objects import HOSTNAME, ZONE, cluster_of, node, owned, pod

LABELS = {"labels": {"app": "web"}, **owned("ReplicaSet", "web")}
SELECTOR = {"matchLabels": {"app": "web"}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TAINT = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}


def cpu(amount: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": amount}}}]}


def spread(key: str) -> dict[str, Any]:
    rule = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**rule, "labelSelector": SELECTOR}]}


def apart(key: str) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": SELECTOR}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def near(app: str) -> dict[str, Any]:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAffinity": {REQUIRED: [term]}}}


@pytest.mark.parametrize(
    ("objects", "sentence"),
    [
        ([node("a"), pod("new", spec=cpu("6"))], "needs 6 CPU; the largest node has 4"),
        (
            [node("a"), pod("x", "a", spec=cpu("3")), pod("new", spec=cpu("2"))],
            "no node has 2 CPU free",
        ),
        (
            [node("a", spec=TAINT), pod("new")],
            "it does not tolerate the taints of every node",
        ),
        (
            [node("a"), pod("new", spec={"nodeSelector": {"disk": "ssd"}})],
            "node affinity excludes every node",
        ),
        (
            [
                node("a"),
                node("b", "b"),
                pod("full", "b", spec=cpu("4")),
                pod("web-1", "a", metadata=LABELS),
                pod("new", spec={**spread(ZONE), **cpu("1")}, metadata=LABELS),
            ],
            "only b is allowed, and no node there has 1 CPU free",
        ),
        (
            [
                node("a"),
                pod("web-1", "a", spec=apart(HOSTNAME), metadata=LABELS),
                pod("new", spec=apart(HOSTNAME), metadata=LABELS),
            ],
            "at most 1 web per hostname, and every hostname has one",
        ),
        (
            [node("a"), pod("new", spec=near("db"))],
            "no pod that it has to be near runs where it may go",
        ),
        (
            [
                node("a", spec=TAINT),
                node("b"),
                pod("full", "b", spec=cpu("4")),
                pod("new", spec=cpu("1")),
            ],
            "taints leave b, and no node there has 1 CPU free",
        ),
    ],
)
def test_one_sentence_says_why_no_node_takes_a_pod(objects: list[Any], sentence: str) -> None:
    cluster = cluster_of(*objects)
    told = ShortExplainer(cluster, default_profile()).sentence(cluster.pod_index["default/new"])
    assert told == sentence


def test_a_plan_says_it_about_the_final_state() -> None:
    cluster = cluster_of(node("a"), *(pod(f"p{i}", spec=cpu("3")) for i in range(2)))
    plan = make_plan(cluster, SolveOptions(), default_profile())
    assert [each.diagnosis for each in plan.unplaced] == ["no node has 3 CPU free"]
