"""Rules that read and count: each names what is wrong, says what helps, and is silent otherwise."""

from __future__ import annotations

import pytest

from tests.checks.manifests import NODES, budget, deployment, findings, of_rule, spread
from tests.objects import HOSTNAME, ZONE, Json, manifest, node, pod, template, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TAINT = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}


def beside(**labels: str) -> Json:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": labels}}
    return {"affinity": {"podAffinity": {REQUIRED: [term]}}}


def asking(cpu: str) -> Json:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}


BROKEN: dict[str, list[tuple[str, tuple[Json, ...], tuple[Json, ...], str | None]]] = {
    "label-unknown": [
        ("a value", (deployment(spec={"nodeSelector": {ZONE: "c"}}),), NODES, None),
        (
            "a value with a lookalike",
            (deployment(spec={"nodeSelector": {ZONE: "eu-1d"}}),),
            (node("n1", "eu-1a"),),
            f"{ZONE}: eu-1a",
        ),
        ("a key", (deployment(spec={"nodeSelector": {"disk": "ssd"}}),), NODES, None),
    ],
    "request-too-large": [("cpu", (deployment(spec=asking("5")),), NODES, None)],
    "priority-unknown": [
        ("a class", (deployment(spec={"priorityClassName": "high"}),), NODES, None)
    ],
    "spread-key-unknown": [
        (
            "kubernetes#135797",
            (deployment(spec=spread("topology.kubernetes.io/hostname")),),
            NODES,
            f"topologyKey: {HOSTNAME}",
        )
    ],
    "spread-key-partial": [
        (
            "one node lacks the zone",
            (deployment(spec=spread()),),
            (*NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n4"}}),
            None,
        )
    ],
    "spread-no-selector": [
        (
            "kubernetes#135797",
            (deployment(spec=spread(labelSelector=None)),),
            (),
            "labelSelector: {matchLabels: {app: web}}",
        ),
        (
            "kubernetes#141339",
            (deployment(spec=spread(labelSelector={})),),
            (),
            "labelSelector: {matchLabels: {app: web}}",
        ),
    ],
    "selector-misses-itself": [
        (
            "another app",
            (deployment(spec=spread(labels={"app": "wbe"})),),
            NODES,
            "labelSelector: {matchLabels: {app: web}}",
        )
    ],
    "selector-counts-others": [
        (
            "a label of several workloads",
            (
                workload(
                    "Deployment",
                    "web",
                    {
                        "template": template(
                            {"app": "web", "team": "shop"}, spread(labels={"team": "shop"})
                        )
                    },
                ),
            ),
            (*NODES, pod("other", "n1", metadata={"labels": {"team": "shop"}})),
            "labelSelector: {matchLabels: {app: web, team: shop}}",
        )
    ],
    "match-label-keys-void": [
        (
            "a label that nobody has",
            (deployment(spec=spread(matchLabelKeys=["revision"])),),
            (),
            "matchLabelKeys: [pod-template-hash] instead of revision",
        )
    ],
    "min-domains-above": [
        (
            "three zones wanted, two there",
            (deployment(spec=spread(minDomains=3)),),
            NODES,
            "minDomains 3 -> 2",
        )
    ],
    "domain-out-of-reach": [
        (
            "a tainted zone counts",
            (deployment(spec=spread()),),
            (*NODES, node("n4", "c", spec=TAINT)),
            "nodeTaintsPolicy: Honor",
        )
    ],
    "affinity-nobody": [
        ("pods that don't exist", (deployment(spec=beside(app="cache")),), NODES, None)
    ],
    "pdb-blocks": [
        ("all replicas", (deployment(2), budget(minAvailable=2)), (), "maxUnavailable: 1"),
        ("none may go", (deployment(2), budget(maxUnavailable=0)), (), "maxUnavailable: 1"),
        ("all of them", (deployment(2), budget(minAvailable="100%")), (), "maxUnavailable: 1"),
    ],
    "pdb-several": [
        (
            "two budgets",
            (deployment(3), budget("one", maxUnavailable=1), budget("two", maxUnavailable=1)),
            (),
            "only one of one and two",
        )
    ],
    "pdb-selects-nothing": [
        (
            "a misspelt label",
            (deployment(3), budget(selector={"matchLabels": {"app": "wbe"}}, maxUnavailable=1)),
            (),
            "selector: {matchLabels: {app: web}}",
        )
    ],
    "no-budget": [("three replicas", (deployment(3),), (), None)],
    "bare-pod": [("a pod", (manifest("single"),), (), None)],
    "local-storage": [
        (
            "emptyDir",
            (deployment(spec={"volumes": [{"name": "scratch", "emptyDir": {}}]}),),
            (),
            None,
        )
    ],
    "defaults-only": [
        ("nobody knows where they go", (deployment(3),), (), None),
        ("all in one zone", (deployment(3, {"nodeSelector": {ZONE: "a"}}),), NODES, None),
    ],
    "pdb-unhealthy-stuck": [
        (
            "pods that never ran",
            (deployment(3), budget(maxUnavailable=1)),
            (),
            "unhealthyPodEvictionPolicy: AlwaysAllow",
        )
    ],
    "api-refuses": [
        (
            "a misspelt field",
            (deployment(spec={"topologySpreadConstraint": []}),),
            (),
            "topologySpreadConstraints instead of topologySpreadConstraint",
        ),
        ("a refused value", (deployment(spec=spread(maxSkew=0)),), (), None),
    ],
}
CASES = [
    pytest.param(rule, manifests, cluster, fix, id=f"{rule}: {name}")
    for rule, cases in BROKEN.items()
    for name, manifests, cluster, fix in cases
]


@pytest.mark.parametrize(("rule", "manifests", "cluster", "fix"), CASES)
def test_what_is_wrong_is_found_once_with_what_helps(
    rule: str, manifests: tuple[Json, ...], cluster: tuple[Json, ...], fix: str | None
) -> None:
    (found,) = of_rule(rule, *manifests, cluster=cluster)
    assert fix is None or fix in [each.text for each in found.fixes if each.helps]


GOOD: dict[str, tuple[tuple[Json, ...], tuple[Json, ...]]] = {
    "label-unknown": ((deployment(spec={"nodeSelector": {ZONE: "b"}}),), NODES),
    "request-too-large": ((deployment(spec=asking("4")),), NODES),
    "priority-unknown": (
        (deployment(spec={"priorityClassName": "system-node-critical"}),),
        NODES,
    ),
    "spread-key-unknown": ((deployment(spec=spread(HOSTNAME)),), NODES),
    "spread-key-partial": ((deployment(spec=spread()),), NODES),
    "spread-no-selector": ((deployment(spec=spread()),), NODES),
    "selector-misses-itself": ((deployment(spec=spread()),), NODES),
    "selector-counts-others": ((deployment(spec=spread()),), (*NODES, pod("other", "n1"))),
    "match-label-keys-void": (
        (deployment(spec=spread(matchLabelKeys=["pod-template-hash"])),),
        NODES,
    ),
    "min-domains-above": ((deployment(spec=spread(minDomains=2)),), NODES),
    "domain-out-of-reach": (
        (deployment(spec=spread(nodeTaintsPolicy="Honor")),),
        (*NODES, node("n4", "c", spec=TAINT)),
    ),
    "affinity-nobody": ((deployment(spec=beside(app="web")),), NODES),
    "pdb-blocks": ((deployment(3), budget(minAvailable=2)), NODES),
    "pdb-several": ((deployment(3), budget(maxUnavailable=1)), NODES),
    "pdb-selects-nothing": ((deployment(3), budget(maxUnavailable=1)), NODES),
    "no-budget": ((deployment(3), budget(maxUnavailable=1)), NODES),
    "bare-pod": ((deployment(3),), NODES),
    "local-storage": ((deployment(3),), NODES),
    "defaults-only": ((deployment(3),), NODES),
    "pdb-unhealthy-stuck": (
        (deployment(3), budget(maxUnavailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")),
        (),
    ),
    "api-refuses": ((deployment(3, spread()),), NODES),
}


@pytest.mark.parametrize("rule", GOOD)
def test_what_is_right_gets_no_finding(rule: str) -> None:
    manifests, cluster = GOOD[rule]
    assert not of_rule(rule, *manifests, cluster=cluster)


def test_rules_that_need_nodes_are_not_asked_without_any() -> None:
    assert {each.rule for each in findings(deployment(3, spread()), cluster=())} == {"no-budget"}


def test_an_annotation_silences_a_rule_on_its_object() -> None:
    silent = deployment(3, metadata={"annotations": {"planner/ignore": "no-budget, other"}})
    assert not of_rule("no-budget", silent)


def test_objects_of_the_cluster_that_were_not_given_are_not_judged() -> None:
    given = budget(maxUnavailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert not findings(given, cluster=(*NODES, deployment(3)))


def test_a_cron_job_is_judged_by_the_pods_it_will_make() -> None:
    spec = {"template": template(spec={"nodeSelector": {ZONE: "c"}, "restartPolicy": "Never"})}
    nightly = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": spec}},
    }
    (found,) = of_rule("label-unknown", nightly)
    assert found.field == "spec.jobTemplate.spec.template.spec.nodeSelector"


def test_replicas_are_those_that_an_autoscaler_may_ask_for() -> None:
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 9},
    }
    few = deployment(2, spread(minDomains=3))
    assert of_rule("min-domains-above", few)[0].severity == "warning"
    assert of_rule("min-domains-above", few, autoscaler)[0].severity == "error"


@pytest.mark.parametrize(("pods", "refused"), [("0", 3), ("1", 2), ("3", 0)])
def test_a_quota_refuses_what_is_beyond_it(pods: str, refused: int) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"pods": pods}},
    }
    found = findings(deployment(3), quota, cluster=(), only=frozenset(("over-quota",)))
    titles = [f"{refused} of 3 web pods are refused by a quota"] if refused else []
    assert [each.title for each in found] == titles
