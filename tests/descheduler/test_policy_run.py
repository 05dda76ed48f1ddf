from __future__ import annotations

from typing import Any

from planner.cluster.times import latest
from planner.descheduler.policy import PolicyRun, run_policy, strategies
from planner_models.descheduler_policy import DeschedulerPolicy
from tests.descheduler.strategy_examples import owned_pod, policy
from tests.objects import Json, cluster_of, node

TAINTS: Json = {"RemovePodsViolatingNodeTaints": {}}
DUPLICATES: Json = {"RemoveDuplicates": {}}
TAINTED: Json = {"spec": {"taints": [{"key": "old", "effect": "NoSchedule"}]}}


def names(run: PolicyRun) -> list[tuple[str, str]]:
    return [(eviction.pod.name, eviction.strategy) for eviction in run.evictions]


def run(wanted: DeschedulerPolicy, *objects: Json, **options: Any) -> PolicyRun:
    return run_policy(cluster_of(*objects), wanted, **options)


def test_deschedule_strategies_of_all_profiles_run_before_balance_strategies() -> None:
    one = policy(deschedule=TAINTS, balance=DUPLICATES).profiles[0]
    two = policy(deschedule={"PodLifeTime": {"maxPodLifeTimeSeconds": 1}}).profiles[0]
    both = policy().replace(profiles=(one, two))
    assert [each.name for each in strategies(both)] == [
        "RemovePodsViolatingNodeTaints",
        "PodLifeTime",
        "RemoveDuplicates",
    ]


def test_later_strategies_see_evicted_pods_as_terminating() -> None:
    """Both replicas leave the tainted node once, not again as duplicates."""
    found = run(
        policy(deschedule=TAINTS, balance=DUPLICATES),
        node("a", **TAINTED),
        node("b"),
        node("c"),
        owned_pod("web-1", "a"),
        owned_pod("web-2", "a"),
        owned_pod("db-1", "b", owner="db"),
        owned_pod("db-2", "b", owner="db"),
    )
    assert names(found) == [
        ("web-1", "RemovePodsViolatingNodeTaints"),
        ("web-2", "RemovePodsViolatingNodeTaints"),
        ("db-2", "RemoveDuplicates"),
    ]


def test_limits_hold_over_all_strategies() -> None:
    found = run(
        policy(deschedule=TAINTS, balance=DUPLICATES, maxNoOfPodsToEvictTotal=1),
        node("a", **TAINTED),
        node("b"),
        owned_pod("web-1", "a"),
        owned_pod("db-1", "b", owner="db"),
        owned_pod("db-2", "b", owner="db"),
    )
    assert names(found) == [("web-1", "RemovePodsViolatingNodeTaints")]


def test_budgets_refuse() -> None:
    budget: Json = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    pods = [owned_pod(f"web-{i}", "a") for i in (1, 2)]
    found = run(policy(deschedule=TAINTS), node("a", **TAINTED), node("b"), *pods, budget)
    assert [eviction.pod.name for eviction in found.evictions] == ["web-1"]
    assert [refusal.pod.name for refusal in found.refusals] == ["web-2"]


def test_only_ready_nodes_of_the_selector_are_worked_on() -> None:
    old: Json = {"metadata": {"labels": {"pool": "old"}}, **TAINTED}
    broken: Json = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    found = run(
        policy(deschedule=TAINTS, nodeSelector="pool=old"),
        node("a", **old),
        node("b", **old),
        node("c", **TAINTED),
        node("d", **old, **broken),
        *(owned_pod(f"on-{name}", name) for name in "abcd"),
    )
    assert [eviction.pod.name for eviction in found.evictions] == ["on-a", "on-b"]


def test_with_a_single_ready_node_nothing_is_done() -> None:
    assert not run(policy(deschedule=TAINTS), node("a", **TAINTED), owned_pod("w", "a")).evictions


def test_a_snapshot_is_as_old_as_the_newest_time_in_it() -> None:
    created = owned_pod("w", "a", metadata={"creationTimestamp": "1970-01-01T00:01:00Z"})
    started = owned_pod("x", "a", status={"startTime": "1970-01-01T00:02:00Z"})
    assert latest(cluster_of(node("a"), created, started)) == 120
    assert latest(cluster_of(node("a"))) == 0
