from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.replay import Step, check_steps
from planner.scheduler.profile import default_profile
from planner.sequences.wave_state import WaveState
from planner.sequences.waves import Waves, guess_waves, plan_waves
from tests.objects import ZONE, cluster_of, node, owned, pod, workload


def web(name: str, node_name: str = "", cpu: str = "500m") -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    labels = {"labels": {"app": "web"}, **owned("ReplicaSet", "web")}
    return pod(name, node_name, spec={"containers": containers}, metadata=labels)


def budget(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def waves(cluster: Cluster, steps: list[Step]) -> Waves:
    found = plan_waves(cluster, steps, allowances(cluster), default_profile())
    assert check_steps(cluster, found.steps, default_profile()).good
    return found


def sizes(found: Waves) -> list[int]:
    return [len(wave) for wave in found.waves]


def test_without_a_budget_a_quarter_of_a_workload_is_down_at_once() -> None:
    cluster = cluster_of(node("a"), node("b"), *(web(f"w{i}", "a") for i in range(5)))
    assert sizes(waves(cluster, [Step.move(i, 1) for i in range(5)])) == [2, 2, 1]


def test_a_budget_limits_how_many_are_down() -> None:
    cluster = cluster_of(
        node("a"), node("b"), budget(maxUnavailable=1), *(web(f"w{i}", "a") for i in range(3))
    )
    assert sizes(waves(cluster, [Step.move(i, 1) for i in range(3)])) == [1, 1, 1]


def test_pods_that_wait_are_down_already() -> None:
    pods = [web("new"), *(web(f"w{i}", "a") for i in range(3))]
    cluster = cluster_of(node("a"), node("b"), budget(minAvailable=3), *pods)
    found = waves(cluster, [Step.move(1, 1), Step.place(0, 1)])
    assert [step.action for step in found.steps] == ["place", "move"]
    assert sizes(found) == [1, 1]
    assert not found.beyond


def test_a_budget_that_allows_nothing_is_named() -> None:
    cluster = cluster_of(node("a"), node("b"), budget(minAvailable="100%"), web("w", "a"))
    assert waves(cluster, [Step.move(0, 1)]).beyond == ("default/web",)


def test_what_needs_the_room_of_a_departure_waits_for_the_next_wave() -> None:
    cluster = cluster_of(
        node("a"), node("b"), pod("x", "a"), web("big", "a", cpu="3"), pod("next", "b")
    )
    big = cluster.pod_index["default/big"]
    follower = cluster_of(
        node("a"), node("b"), web("big", "a", cpu="3"), pod("huge", spec=_cpu("3500m"))
    )
    assert big == 1
    found = waves(follower, [Step.evict(0, 0), Step.place(0, 1), Step.place(1, 0)])
    assert [[step.action for step in wave] for wave in found.waves] == [["move"], ["place"]]


def _cpu(amount: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": amount}}}]}


def test_no_steps_are_no_waves() -> None:
    assert waves(cluster_of(node("a")), []).waves == ()


def deployment(replicas: int) -> dict[str, Any]:
    """What the controller wants, beyond the pods that are there."""
    return workload("ReplicaSet", "web", {"replicas": replicas})


def test_parts_of_a_budget_are_parts_of_what_the_controller_wants() -> None:
    pods = [web(f"w{i}", "a") for i in range(8)]
    cluster = cluster_of(node("a"), node("b"), deployment(10), budget(maxUnavailable="30%"), *pods)
    (allowance,) = (each for each in allowances(cluster).each if each.budget)
    assert (len(cluster.pods), allowance.down, allowance.left) == (10, 2, 1)


def test_an_unready_pod_is_down_and_may_go_if_the_budget_is_met() -> None:
    ill = web("ill", "a")
    ill["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    pods = [ill, *(web(f"w{i}", "a") for i in range(2))]
    cluster = cluster_of(node("a"), node("b"), budget(minAvailable=2), *pods)
    limits = allowances(cluster)
    number = cluster.pod_index["default/ill"]
    assert limits.of_pod(number) == ()
    assert limits.each[0].left == 0
    assert not waves(cluster, [Step.move(number, 1)]).beyond


def test_an_unready_pod_under_a_budget_that_is_not_met_may_go_only_if_always_allowed() -> None:
    ill = web("ill", "a")
    ill["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    for policy, numbers in (("IfHealthyBudget", (0,)), ("AlwaysAllow", ())):
        limit = budget(minAvailable=3, unhealthyPodEvictionPolicy=policy)
        cluster = cluster_of(node("a"), node("b"), limit, ill, web("w", "a"))
        assert allowances(cluster).of_pod(cluster.pod_index["default/ill"]) == numbers


def test_of_overlapping_budgets_the_tightest_holds() -> None:
    wide = budget(maxUnavailable=3)
    wide["metadata"] = {"name": "wide", "namespace": "default"}
    pods = [web(f"w{i}", "a") for i in range(4)]
    cluster = cluster_of(node("a"), node("b"), wide, budget(maxUnavailable=1), *pods)
    assert allowances(cluster).contested == {0}
    assert sizes(waves(cluster, [Step.move(i, 1) for i in range(4)])) == [1, 1, 1, 1]


def test_no_more_pods_are_down_at_once_than_asked_for() -> None:
    pods = [pod(f"p{i}", "a", metadata=owned("ReplicaSet", f"r{i}")) for i in range(5)]
    cluster = cluster_of(node("a"), node("b"), *pods)
    steps = [Step.move(i, 1) for i in range(5)]
    found = plan_waves(cluster, steps, allowances(cluster, most=2), default_profile())
    assert sizes(found) == [2, 2, 1]


def test_with_surge_new_pods_start_first_and_nothing_is_down() -> None:
    pods = [web(f"w{i}", "a") for i in range(3)]
    cluster = cluster_of(node("a"), node("b"), budget(maxUnavailable=1), *pods)
    steps = [Step.move(i, 1) for i in range(3)]
    surge = frozenset({0, 1, 2})
    found = plan_waves(cluster, steps, allowances(cluster), default_profile(), surge=surge)
    assert sizes(found) == [3]
    assert found.surging == set(steps)


def test_a_pod_that_the_filters_refuse_beside_its_old_self_does_not_surge() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    alone = web("w", "a")
    alone["spec"]["affinity"] = {"podAntiAffinity": required}
    cluster = cluster_of(node("a"), node("b"), alone)
    steps, surge = [Step.move(0, 1)], frozenset({0})
    found = plan_waves(cluster, steps, allowances(cluster), default_profile(), surge=surge)
    assert (sizes(found), found.surging) == ([1], frozenset())


def test_fifteen_thousand_moves_are_looked_at_a_few_times_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The work grows with moves, not with moves times waves: counted, for clocks differ."""
    nodes = [node(f"n{i}", status={"allocatable": {"pods": "1000"}}) for i in range(60)]
    pods = [web(f"w{i}", f"n{i % 30}", cpu="1m") for i in range(15_000)]
    cluster = cluster_of(*nodes, budget(maxUnavailable=10), *pods)
    steps = [Step.move(i, 30 + i % 30) for i in range(15_000)]
    looks = 0
    ask = WaveState.obstacle

    def counted(state: WaveState, unit: Step) -> object:
        nonlocal looks
        looks += 1
        return ask(state, unit)

    monkeypatch.setattr(WaveState, "obstacle", counted)
    found = guess_waves(cluster, steps, allowances(cluster))
    assert found is not None
    assert sizes(found) == [10] * 1_500
    assert looks <= 3 * len(steps)
