"""Drains of whole nodes: what is possible, what blocks, and in which waves."""

from __future__ import annotations

from collections import Counter

import planner
from planner.cluster import Cluster
from planner.documents.drain_plan import drain_plan
from planner.drain.find import Drain, find_drain
from planner.drain.options import DrainOptions
from planner.scheduler.profile import default_profile
from tests.objects import Json, cluster_of, node, owned, pod


def example() -> Cluster:
    return planner.load(example="zone-outage-before").snapshot


def drained(cluster: Cluster, *names: str, **options: object) -> Drain:
    nodes = tuple(cluster.node_index[name] for name in names)
    return find_drain(cluster, DrainOptions(nodes, **options), default_profile())  # type: ignore[arg-type]


def by_workload(cluster: Cluster, pods: tuple[int, ...]) -> Counter[str]:
    return Counter(cluster.workloads[int(cluster.group_of[pod])].name for pod in pods)


def test_one_node_is_empty_after_5_evictions_in_1_wave_whatever_the_ties() -> None:
    plan = drain_plan(drained(example(), "c1"))
    assert (plan.status, len(plan.evictions), len(plan.rounds[0].waves)) == ("possible", 5, 1)
    assert plan.converges
    assert plan.checked_seeds == 20
    assert plan.bounds.evictions == 5
    assert [(each.budget, each.down, each.allowed) for each in plan.budgets] == [
        ("default/api", 1, 1),
        ("default/web", 1, 1),
    ]
    assert plan.kubectl is not None
    assert (plan.kubectl.evicted, plan.kubectl.pending, plan.kubectl.hanging) == (5, (), ())


def test_a_zone_can_not_be_emptied_where_cordoned_nodes_still_count_for_spread() -> None:
    cluster = example()
    found = drained(cluster, "a1", "a2", "a3", "a4")
    assert found.status == "impossible"
    assert by_workload(cluster, found.stuck) == {
        "api": 4,
        "auth": 1,
        "cart": 2,
        "search": 2,
        "web": 3,
    }
    assert found.proof.stuck == 12
    assert len(found.evicted) == 5
    plan = drain_plan(found, helps=False)
    assert {each.by for each in plan.blocked} == {"rule", "ruleBehindBudget"}
    behind = {each.workload for each in plan.blocked if each.by == "ruleBehindBudget"}
    assert behind == {"deploy/api", "deploy/web"}


def test_kubectl_drain_of_the_zone_evicts_12_pods_and_hangs() -> None:
    kubectl = drain_plan(drained(example(), "a1", "a2", "a3", "a4"), helps=False).kubectl
    assert kubectl is not None
    assert (kubectl.evicted, len(kubectl.pending), len(kubectl.hanging)) == (12, 8, 5)
    assert kubectl.agree


def test_two_nodes_of_the_zone_take_8_evictions_in_2_waves_and_three_are_too_many() -> None:
    two = drained(example(), "a1", "a2")
    assert (two.status, len(two.evicted), len(two.tried.waves)) == ("possible", 8, 2)
    assert two.tried.converges
    three = drained(example(), "a1", "a2", "a3")
    assert three.status == "impossible"
    assert three.proof.stuck == len(three.stuck) == 3


def cpu(amount: str, priority: int) -> Json:
    containers = [{"name": "main", "resources": {"requests": {"cpu": amount}}}]
    return {"containers": containers, "priority": priority}


def test_a_pod_that_would_drive_another_off_stays_and_the_text_says_so() -> None:
    cluster = cluster_of(
        node("n1"),
        node("n2"),
        pod("high-1", "n1", spec=cpu("3", 10), metadata=owned("ReplicaSet", "high")),
        pod("small-1", "n1", spec=cpu("500m", 10), metadata=owned("ReplicaSet", "small")),
        pod("low-1", "n2", spec=cpu("3", 0), metadata=owned("ReplicaSet", "low")),
    )
    found = drained(cluster, "n1")
    assert [cluster.pods[pod].name for pod in found.stuck] == ["high-1"]
    assert [cluster.pods[pod].name for pod in found.evicted] == ["small-1"]
    (blocked,) = drain_plan(found, helps=False).blocked
    assert blocked.text.endswith("It would drive off pods of lower priority instead.")
