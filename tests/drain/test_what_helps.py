"""Drains that are not possible: what keeps each pod, and changes with which they are."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import planner
from planner.api.drain_plan import DrainPlan
from planner_models.drain import BlockedPod
from tests.drain.ledger import with_ledger
from tests.objects import ZONE, node, owned, pod

Json = dict[str, Any]


def drained(objects: list[Json], *nodes: str, **options: Any) -> DrainPlan:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return planner.load(io.StringIO(text)).drain(*nodes, seeds=3, **options)


def blocked(plan: DrainPlan) -> list[tuple[str, str]]:
    return [(each.pod.partition("/")[2], each.by) for each in plan.blocked]


def replica(name: str, on: str, app: str = "web", **more: Any) -> Json:
    ready = {"conditions": [{"type": "Ready", "status": str(more.pop("ready", True))}]}
    metadata = {"labels": {"app": app}, **owned("ReplicaSet", app)}
    return pod(name, on, metadata={**metadata, **more.pop("metadata", {})}, status=ready, **more)


def budget(name: str = "web", app: str = "web", **spec: Any) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


# The issue that everybody runs into (kubernetes#66811)


def test_a_budget_that_never_allows_it_is_named_and_three_changes_help() -> None:
    plan = drained(with_ledger({"minAvailable": 1}), "c2")
    assert plan.status == "impossible"
    assert blocked(plan) == [("ledger-abc12-00", "budgetNever")]
    (found,) = plan.blocked
    assert (found.object, found.field) == (
        "PodDisruptionBudget default/ledger",
        "spec.minAvailable",
    )
    assert found.text == "minAvailable 1 of 1 replica allows 0 disruptions in every state"
    assert len(plan.evictions) == 4
    assert plan.kubectl is not None
    assert (plan.kubectl.evicted, plan.kubectl.hanging) == (4, ("default/ledger-abc12-00",))
    assert [each.kind for each in plan.helps] == ["rolloutRestart", "scale", "changeBudget"]
    restart, scale, change = plan.helps
    assert restart.notes == ("nothing is down",)
    assert scale.text == "scale ledger to 2 first, then drain"
    assert change.then == "ledger down meanwhile"
    assert plan.proof == ("no order of evictions satisfies the budget",)


def test_no_eviction_is_proposed_that_its_budget_never_allows() -> None:
    plan = drained(with_ledger({"maxUnavailable": 0}), "c2")
    assert "default/ledger-abc12-00" not in {each.pod for each in plan.evictions}
    assert [each.by for each in plan.blocked] == ["budgetNever"]
    assert "scale" not in {each.kind for each in plan.helps}


# What keeps pods


def test_a_budget_that_is_used_up_now_says_who_is_down() -> None:
    objects = [node("a"), node("b"), replica("w0", "a"), replica("w1", "b", ready=False)]
    plan = drained([*objects, budget(maxUnavailable=1)], "a")
    assert blocked(plan) == [("w0", "budgetNow")]
    assert plan.blocked[0].text == "the budget default/web is used up now: w1 is not ready"


def test_two_budgets_over_a_pod_are_both_named() -> None:
    objects = [node("a"), node("b"), replica("w0", "a"), replica("w1", "b")]
    budgets = [budget(maxUnavailable=1), budget("more", maxUnavailable=1)]
    plan = drained([*objects, *budgets], "a")
    assert blocked(plan) == [("w0", "severalBudgets")]
    assert "default/more and default/web" in plan.blocked[0].text
    assert [each.text for each in plan.helps] == ["delete the budget default/web"]


def test_a_pod_that_fits_nowhere_else_is_kept_by_a_rule_with_a_minimal_conflict() -> None:
    small = node("b", status={"allocatable": {"cpu": "100m"}})
    plan = drained([node("a"), small, replica("w0", "a")], "a")
    (found,) = plan.blocked
    assert (found.by, found.proven) == ("rule", True)
    assert found.conflict is not None
    assert found.conflict.minimal
    assert {fact.kind for fact in found.conflict.constraints} == {"capacity", "unschedulable"}


def volume(zone: str) -> list[Json]:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "data",
                "namespace": "default",
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {**claim, "volumeName": "disk", "storageClassName": ""},
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "disk"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "claimRef": {"name": "data", "namespace": "default"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
                "csi": {"driver": "disk.example.com", "volumeHandle": "disk"},
            },
        },
    ]


CLAIMED = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}


def test_a_pod_with_a_claim_leaves_where_its_volume_can_follow() -> None:
    nodes = [node("a1", "a"), node("a2", "a"), node("b1", "b")]
    plan = drained([*nodes, *volume("a"), replica("w0", "a1", spec=CLAIMED)], "a1")
    assert plan.status == "possible"
    assert plan.evictions[0].expected_nodes == ("a2",)


def test_a_pod_whose_volume_can_not_follow_says_so() -> None:
    nodes = [node("a1", "a"), node("b1", "b")]
    plan = drained([*nodes, *volume("a"), replica("w0", "a1", spec=CLAIMED)], "a1")
    assert blocked(plan) == [("w0", "volume")]


def bare(name: str, on: str, **spec: Any) -> Json:
    return pod(name, on, spec=spec)


def test_a_bare_pod_needs_force_and_is_gone_then() -> None:
    objects = [node("a"), node("b"), bare("alone", "a")]
    plan = drained(objects, "a")
    assert blocked(plan) == [("alone", "barePod")]
    assert plan.kubectl is not None
    assert "--force" in plan.kubectl.refuses
    assert [(each.text, each.data_loss) for each in plan.helps] == [("--force", True)]
    forced = drained(objects, "a", force=True)
    assert (forced.status, [each.lost for each in forced.evictions]) == ("possible", [True])
    assert "1 pod does not come back" in " ".join(forced.to_text().split())


def test_an_empty_dir_needs_its_option_and_a_host_path_does_not() -> None:
    scratch = {"volumes": [{"name": "s", "emptyDir": {}}]}
    objects = [node("a"), node("b"), replica("w0", "a", spec=scratch)]
    assert blocked(drained(objects, "a")) == [("w0", "localStorage")]
    assert drained(objects, "a", delete_emptydir_data=True).status == "possible"
    logs = {"volumes": [{"name": "s", "hostPath": {"path": "/var/log"}}]}
    assert drained([node("a"), node("b"), replica("w0", "a", spec=logs)], "a").status == "possible"


def test_an_annotation_that_asks_to_leave_a_pod_alone_is_respected() -> None:
    asks = {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}
    plan = drained([node("a"), node("b"), replica("w0", "a", metadata=asks)], "a")
    assert blocked(plan) == [("w0", "annotation")]


@pytest.mark.parametrize("owner", ["DaemonSet", "Node"])
def test_daemons_and_static_pods_stay_and_are_no_obstacle(owner: str) -> None:
    agent = pod("agent", "a", metadata=owned(owner, "agent" if owner == "DaemonSet" else "a"))
    plan = drained([node("a"), node("b"), agent, replica("w0", "a")], "a")
    assert plan.status == "possible"
    assert [each.pod for each in plan.evictions] == ["default/w0"]
    assert sum(each.pods for each in plan.stays) == 1


def test_a_pod_selector_says_who_has_to_leave() -> None:
    objects = [node("a"), node("b"), replica("w0", "a"), replica("d0", "a", "db")]
    plan = drained(objects, "a", pod_selector="app=web")
    assert [each.pod for each in plan.evictions] == ["default/w0"]
    assert plan.status == "possible"


# Odd questions


def test_a_cluster_of_one_node_has_no_other_place() -> None:
    plan = drained([node("a"), replica("w0", "a")], "a")
    assert plan.status == "impossible"
    assert "no place while a is cordoned" in plan.to_text()


def test_a_node_without_pods_needs_no_eviction() -> None:
    plan = drained([node("a"), node("b"), budget(maxUnavailable=1)], "a")
    assert (plan.status, plan.evictions) == ("possible", ())
    assert plan.to_text().startswith("Drain a: nothing has to leave.")


def test_a_node_that_is_named_twice_counts_once() -> None:
    plan = drained([node("a"), node("b"), replica("w0", "a")], "a", "node/a")
    assert plan.nodes == ("a",)


def test_the_fewest_waves_follow_from_the_budget() -> None:
    pods = [replica(f"w{i}", "a") for i in range(3)]
    plan = drained([node("a"), node("b"), *pods, budget(maxUnavailable=1)], "a")
    assert (len(plan.rounds[0].waves), plan.bounds.waves, plan.bounds.evictions) == (3, 3, 3)


def test_max_unavailable_makes_more_waves() -> None:
    pods = [replica(f"w{i}", "a", f"app{i}") for i in range(4)]
    plan = drained([node("a"), node("b"), *pods], "a", max_unavailable=2)
    assert [len(wave.evictions) for wave in plan.rounds[0].waves] == [2, 2]


def test_every_reason_names_its_pod_and_node() -> None:
    plan = drained(with_ledger({"minAvailable": 1}), "c2")
    found: BlockedPod = plan.blocked[0]
    assert (found.pod, found.node, found.workload) == (
        "default/ledger-abc12-00",
        "c2",
        "deploy/ledger",
    )
