"""No eviction is planned that the Eviction API would refuse because pods of its budget wait."""

from __future__ import annotations

from typing import Any

from planner.cluster import Cluster
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.evictions.suggestion import EvictOptions
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.plan import Plan
from tests.objects import ZONE, cluster_of, node, owned, pod

TIER = {"tier": "front"}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def member(name: str, app: str, node_name: str = "", cpu: str = "100m") -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    spread = [SPREAD] if app == "web" else []
    labels = {"labels": {"app": app, **TIER}, **owned("ReplicaSet", app)}
    spec = {"containers": containers, "topologySpreadConstraints": spread}
    return pod(name, node_name, spec=spec, metadata=labels)


def budget(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "front", "namespace": "default"},
        "spec": {"selector": {"matchLabels": TIER}, **spec},
    }


def uneven(waiting_cpu: str) -> Cluster:
    """Three pods in zone a, one in b, and a fifth that waits; their budget wants four healthy."""
    web = [member(f"web-{i}", "web", "b" if i == 3 else "a") for i in range(4)]
    waits = member("batch-0", "batch", cpu=waiting_cpu)
    return cluster_of(node("a"), node("b", "b"), budget(minAvailable=4), *web, waits)


def rebalanced(cluster: Cluster) -> Plan:
    return make_plan(cluster, SolveOptions(rebalance=True), default_profile())


def evicted(plan: Plan) -> int:
    return sum(step.action in ("evict", "move") for wave in plan.waves for step in wave.steps)


def test_a_budget_whose_pod_never_runs_keeps_its_pods_in_place() -> None:
    plan = rebalanced(uneven("100"))
    assert evicted(plan) == 0
    assert [each.reason for each in plan.protected] == 3 * [
        "the budget default/front does not allow it: pods of it stay waiting"
    ]


def test_such_a_plan_is_not_called_optimal_where_others_might_be_better() -> None:
    plan = rebalanced(uneven("100"))
    assert plan.status == "feasible"
    assert {each.name: (each.value, each.bound) for each in plan.objectives}["excess"] == (1, 0)


def test_a_budget_allows_more_once_its_waiting_pod_runs() -> None:
    plan = rebalanced(uneven("100m"))
    assert plan.status == "optimal"
    assert evicted(plan) == 1
    assert plan.verification.budgets


def test_evict_leaves_them_alone_as_well_and_says_why() -> None:
    found = make_eviction_plan(uneven("100"), EvictOptions(), default_profile())
    assert found.evictions == ()
    assert [each.pod for each in found.protected] == [f"default/web-{i}" for i in range(3)]
