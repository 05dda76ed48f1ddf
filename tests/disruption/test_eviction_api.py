from __future__ import annotations

from typing import Any

from planner.cluster import Cluster
from planner.disruption.eviction_api import REFUSED, TWO_BUDGETS, BudgetedEvictions
from planner_models.pod import Pod
from tests.descheduler.strategy_examples import owned_pod
from tests.objects import Json, cluster_of, node, workload

NOT_READY: Json = {"conditions": [{"type": "Ready", "status": "False"}]}


def budget(name: str = "web", status: Json | None = None, **spec: Any) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
        "status": status or {},
    }


def three_pods(*others: Json, last: Json | None = None) -> Cluster:
    pods = [owned_pod(f"web-{i}", "a") for i in range(2)]
    return cluster_of(node("a"), *pods, owned_pod("web-2", "a", status=last or {}), *others)


def answers(cluster: Cluster, **options: bool) -> list[str | None]:
    ask = BudgetedEvictions(cluster, **options)
    return [ask(pod) for pod in cluster.pods]


def test_without_a_budget_all_may_go() -> None:
    assert answers(three_pods()) == [None, None, None]


def test_min_available_keeps_as_many() -> None:
    assert answers(three_pods(budget(minAvailable=2))) == [None, REFUSED, REFUSED]
    assert answers(three_pods(budget(minAvailable="50%"))) == [None, REFUSED, REFUSED]


def test_max_unavailable_is_a_part_of_what_the_controller_wants() -> None:
    three = workload("ReplicaSet", "web", {"replicas": 3})
    assert answers(three_pods(three, budget(maxUnavailable=1))) == [None, REFUSED, REFUSED]


def test_a_pod_that_waits_uses_up_what_may_be_unavailable() -> None:
    waiting = owned_pod("web-3", "")
    assert answers(three_pods(waiting, budget(maxUnavailable=1)))[:3] == [REFUSED] * 3


def test_the_status_holds_as_long_as_it_is_trusted() -> None:
    cluster = three_pods(budget(minAvailable=2, status={"disruptionsAllowed": 0}))
    assert answers(cluster) == [REFUSED, REFUSED, REFUSED]
    assert answers(cluster, trust_status=False) == [None, REFUSED, REFUSED]


def test_a_status_of_an_older_budget_is_counted_anew() -> None:
    changed = budget(minAvailable=2, status={"disruptionsAllowed": 0, "observedGeneration": 1})
    changed["metadata"]["generation"] = 2
    assert answers(three_pods(changed)) == [None, REFUSED, REFUSED]


def test_an_unhealthy_pod_may_go_if_the_budget_is_met_without_it() -> None:
    cluster = three_pods(budget(minAvailable=2), last=NOT_READY)
    assert answers(cluster) == [REFUSED, REFUSED, None]


def test_an_unhealthy_pod_of_a_broken_budget_may_go_if_that_is_always_allowed() -> None:
    strict = three_pods(budget(minAvailable=3), last=NOT_READY)
    assert answers(strict) == [REFUSED, REFUSED, REFUSED]
    generous = budget(minAvailable=3, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert answers(three_pods(generous, last=NOT_READY)) == [REFUSED, REFUSED, None]


def test_a_pod_with_two_budgets_can_not_be_evicted() -> None:
    cluster = three_pods(budget("one", minAvailable=0), budget("two", minAvailable=0))
    assert answers(cluster)[0] == TWO_BUDGETS


def test_pods_that_do_not_run_go_unasked() -> None:
    cluster = three_pods(budget(minAvailable=3), last={"phase": "Pending"})
    assert answers(cluster)[2] is None


def test_a_second_eviction_of_the_same_pod_uses_up_nothing() -> None:
    cluster = three_pods(budget(minAvailable=2))
    ask = BudgetedEvictions(cluster)
    first: Pod = cluster.pods[0]
    assert [ask(first), ask(first), ask(cluster.pods[1])] == [None, None, REFUSED]
