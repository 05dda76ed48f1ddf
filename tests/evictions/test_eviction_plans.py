from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planner
from benchmarks.evict import random_cluster
from planner.cluster import GONE, PENDING, Cluster
from planner.descheduler.strategies.limits import Limits
from planner.disruption.budgets import allowances
from planner.disruption.movability import MovePolicy
from planner.documents.eviction_plan import make_eviction_plan
from planner.evictions.protection import Protection
from planner.evictions.repeated_trials import tried_seeds
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions, Suggestion
from planner.replay.trial import Manner, Trial, WavePlan
from planner.report.tables import evict_table
from planner.report.text.blocks import plain_text
from planner.scheduler.profile import default_profile
from planner_models.evictions import EvictionPlan
from tests.objects import HOSTNAME, ZONE, cluster_of, node, owned, pod, template, workload

FEW_SEEDS = EvictOptions(seeds=4, time_limit=5.0)


def example(name: str) -> Cluster:
    return planner.load(example=name).snapshot


def plan_for(cluster: Cluster, options: EvictOptions) -> EvictionPlan:
    return make_eviction_plan(cluster, options, default_profile())


def web(name: str, node_name: str = "", **spec: Any) -> dict[str, Any]:
    """A replica of web, which spreads over zones."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    labels = {"labels": {"app": "web"}, **owned("ReplicaSet", "web")}
    return pod(
        name, node_name, spec={"topologySpreadConstraints": [constraint], **spec}, metadata=labels
    )


def uneven(*extra: Any, pods: int = 4) -> Cluster:
    """All replicas in zone a; zone b is empty."""
    nodes = (node("a1", "a"), node("a2", "a"), node("b1", "b"))
    return cluster_of(*nodes, *(web(f"w{i}", f"a{1 + i % 2}") for i in range(pods)), *extra)


def budget(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def found(cluster: Cluster, options: EvictOptions = FEW_SEEDS) -> Suggestion:
    return find_evictions(cluster, options, default_profile())


def evicted(suggestion: Suggestion) -> list[str]:
    pods = suggestion.aim.real.pods
    return sorted(pods[p].name for wave in suggestion.tried.waves for p in wave.evictions)


def test_a_plan_says_that_it_takes_absent_controllers_on_trust() -> None:
    plan = plan_for(uneven(), FEW_SEEDS)
    (notice,) = (each for each in plan.notices if each.code == "controllerNotInInput")
    assert notice.objects == ("rs/web",)
    spec = {"topologySpreadConstraints": web("w")["spec"]["topologySpreadConstraints"]}
    owner = workload("ReplicaSet", "web", {"replicas": 4, "template": template(spec=spec)})
    plan = plan_for(uneven(owner), FEW_SEEDS)
    assert plan.evictions
    assert not plan.notices


def test_a_budget_is_counted_anew_when_a_waiting_pod_has_found_its_node() -> None:
    """The dump was taken while w4 waited: nothing was allowed then, one pod is by now."""
    counted = budget(maxUnavailable=1)
    counted["status"] = {"disruptionsAllowed": 0, "currentHealthy": 4, "desiredHealthy": 4}
    suggestion = found(uneven(web("w4"), counted))
    assert len(evicted(suggestion)) == 1
    assert suggestion.tried.converges


def test_a_zone_that_came_back_needs_12_evictions_in_4_waves_and_they_converge() -> None:
    plan = plan_for(example("zone-outage"), EvictOptions(seeds=100))
    assert (len(plan.evictions), len(plan.waves)) == (12, 4)
    assert plan.converges
    assert plan.fewest
    assert (plan.before.excess, plan.after.excess) == (27, 0)
    assert plan.convergence.gone == plan.convergence.terminating == 100
    assert plan.budgets == ("default/api", "default/auth", "default/web")
    for wave in plan.waves:
        workloads = [e.workload for e in plan.evictions if e.wave == wave.number]
        for budgeted in ("deploy/api", "deploy/auth", "deploy/web"):
            assert workloads.count(budgeted) <= 1
    assert {n for e in plan.evictions for n in e.expected_nodes} == {"c1", "c2", "c3", "c4"}


def test_the_descheduler_stands_beside_every_plan() -> None:
    plan = plan_for(example("zone-outage"), FEW_SEEDS)
    spread = next(b for b in plan.baselines if b.aim == "spread")
    assert (spread.evictions, spread.rounds, spread.violations_after) == (12, 4, 0)
    assert spread.refused == 5


def test_a_node_is_cordoned_for_a_wave_where_the_pod_could_fall_back() -> None:
    suggestion = found(example("rack-row-grid"), replace(FEW_SEEDS, seeds=20))
    (wave,) = suggestion.tried.waves
    assert suggestion.tried.converges
    assert wave.cordons == tuple(int(suggestion.start.node_of[p]) for p in wave.evictions)


def test_without_that_cordon_some_seeds_end_as_stuck_as_before() -> None:
    suggestion = found(example("rack-row-grid"), replace(FEW_SEEDS, seeds=20))
    bare = tuple(replace(wave, cordons=()) for wave in suggestion.tried.waves)
    pods = [p for wave in bare for p in wave.evictions]
    trial = Trial(suggestion.start, default_profile(), allowances(suggestion.start), pods)
    waiting = [
        int(np.count_nonzero(trial.run(bare, Manner(seed)).node_of == PENDING))
        for seed in range(20)
    ]
    assert set(waiting) == {0, 1}


def test_nothing_broken_is_nothing_to_evict() -> None:
    plan = plan_for(example("zone-outage-before"), FEW_SEEDS)
    assert plan.evictions == ()
    assert plan.converges


def test_bare_pods_stay_unless_asked_for() -> None:
    bare = [{**web(f"w{i}", "a1")} for i in range(3)]
    for each in bare:
        del each["metadata"]["ownerReferences"]
    cluster = cluster_of(node("a1", "a"), node("b1", "b"), *bare)
    plan = plan_for(cluster, FEW_SEEDS)
    assert plan.evictions == ()
    assert {each.reason for each in plan.protected} == {"no controller would bring it back"}
    allowed = replace(FEW_SEEDS, protection=Protection(MovePolicy(bare_pods=True)))
    assert len(plan_for(cluster, allowed).evictions) == 1


def test_pods_with_local_storage_stay_unless_asked_for() -> None:
    scratch = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    nodes = (node("a1", "a"), node("b1", "b"))
    cluster = cluster_of(*nodes, *(web(f"w{i}", "a1", **scratch) for i in range(2)))
    assert evicted(found(cluster)) == []
    allowed = replace(FEW_SEEDS, protection=Protection(MovePolicy(local_storage=True)))
    assert len(evicted(found(cluster, allowed))) == 1


def test_pods_at_the_priority_threshold_stay() -> None:
    cluster = cluster_of(
        node("a1", "a"), node("b1", "b"), *(web(f"w{i}", "a1", priority=10) for i in range(2))
    )
    assert (
        evicted(found(cluster, replace(FEW_SEEDS, protection=Protection(priority_threshold=10))))
        == []
    )
    above = replace(FEW_SEEDS, protection=Protection(priority_threshold=11))
    assert len(evicted(found(cluster, above))) == 1


def test_pods_under_two_budgets_can_not_be_evicted() -> None:
    cluster = uneven(budget(maxUnavailable=1), budget("other", maxUnavailable=1))
    plan = plan_for(cluster, FEW_SEEDS)
    assert plan.evictions == ()
    assert "two PodDisruptionBudgets" in plan.protected[0].reason


@pytest.mark.parametrize(
    ("limits", "most"),
    [(Limits(total=1), 1), (Limits(per_namespace=1), 1), (Limits(per_node=1), 2)],
)
def test_limits_hold(limits: Limits, most: int) -> None:
    suggestion = found(uneven(pods=6), replace(FEW_SEEDS, limits=limits))
    assert 0 < suggestion.evictions <= most


def test_no_more_pods_are_down_at_once_than_asked_for() -> None:
    suggestion = found(example("zone-outage"), replace(FEW_SEEDS, max_unavailable=2))
    assert max(len(wave.evictions) for wave in suggestion.tried.waves) == 2
    assert suggestion.tried.converges


def test_soft_spread_is_repaired_only_if_asked_for() -> None:
    soft = [web(f"w{i}", "a1") for i in range(4)]
    for each in soft:
        each["spec"]["topologySpreadConstraints"][0]["whenUnsatisfiable"] = "ScheduleAnyway"
    cluster = cluster_of(node("a1", "a"), node("b1", "b"), *soft)
    assert evicted(found(cluster)) == []
    suggestion = found(cluster, replace(FEW_SEEDS, goals=("soft",)))
    assert suggestion.evictions == 2
    assert suggestion.tried.converges


def test_a_node_is_emptied_and_stays_cordoned() -> None:
    cluster = example("zone-outage-before")
    name = "a1"
    plan = plan_for(cluster, replace(FEW_SEEDS, goals=(), nodes=(cluster.node_index[name],)))
    there = int(np.count_nonzero(cluster.node_of == cluster.node_index[name]))
    assert len(plan.evictions) == there
    assert {each.node for each in plan.evictions} == {name}
    assert {each.reason for each in plan.evictions} == {"a1 is to be emptied"}
    assert all(name not in each.expected_nodes for each in plan.evictions)
    assert plan.waves[0].drain == (name,)


def test_consolidation_leaves_nodes_alone_that_hold_nothing_but_daemons() -> None:
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    nodes = (node("n0"), node("n1", spec={"taints": [taint]}), node("n2"))
    requests = {
        "n0": ("ReplicaSet", "500m"),
        "n1": ("DaemonSet", "600m"),
        "n2": ("ReplicaSet", "1"),
    }
    pods = [
        pod(
            f"p-{name}",
            name,
            metadata=owned(kind, f"o-{name}"),
            spec={"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
        )
        for name, (kind, cpu) in requests.items()
    ]
    cluster = cluster_of(*nodes, *pods)
    suggestion = found(cluster, replace(FEW_SEEDS, goals=("consolidate",)))
    assert suggestion.aim.drained == (cluster.node_index["n0"],)


def test_consolidation_empties_the_least_used_nodes() -> None:
    small = [pod(f"s{i}", f"n{i}", metadata=owned("ReplicaSet", f"r{i}")) for i in range(3)]
    cluster = cluster_of(*(node(f"n{i}") for i in range(3)), *small)
    suggestion = found(cluster, replace(FEW_SEEDS, goals=("consolidate",)))
    assert len(suggestion.aim.drained) == 2
    assert suggestion.evictions == 2
    assert suggestion.tried.converges


def test_even_load_takes_pods_from_the_fullest_node() -> None:
    pods = [pod(f"p{i}", "n0", metadata=owned("ReplicaSet", f"r{i}")) for i in range(6)]
    cluster = cluster_of(node("n0"), node("n1"), *pods)
    suggestion = found(cluster, replace(FEW_SEEDS, goals=("utilization",)))
    assert suggestion.evictions == 3
    assert suggestion.tried.converges


def test_pods_that_kube_scheduler_places_anyway_come_first() -> None:
    cluster = uneven(web("new1"), web("new2"), pods=3)
    plan = plan_for(cluster, FEW_SEEDS)
    assert plan.evictions == ()
    assert plan.after.pending == 0


@given(number=st.integers(0, 10_000))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_budget_is_broken_and_no_node_overcommitted_at_any_moment(number: int) -> None:
    cluster, _ = random_cluster(number * 10)
    if len(cluster.nodes) > 25:
        return
    suggestion = found(cluster, EvictOptions(seeds=2, time_limit=2.0))
    limits = allowances(suggestion.start)
    for run, manner in zip(suggestion.tried.runs, suggestion.tried.manners, strict=True):
        assert not run.refused or not suggestion.tried.converges, manner
    _replay(suggestion, limits.each)


def _replay(suggestion: Suggestion, limits: Any) -> None:
    """A naive twin of a trial: counts down pods and sums by hand, wave by wave, seed 0."""
    cluster, run = suggestion.start, suggestion.tried.runs[0]
    node_of = cluster.node_of.copy()
    requests, allocatable = cluster.resources.requests, cluster.resources.allocatable
    for number, wave in enumerate(suggestion.tried.waves[: len(run.after)]):
        for allowance in limits:
            if not allowance.budget or run.refused is not None:
                continue
            mine = np.isin(cluster.group_of, allowance.groups)
            waiting = int(np.count_nonzero(mine & (node_of == PENDING)))
            going = sum(bool(mine[p]) for p in wave.evictions)
            assert waiting + going <= allowance.limit or not going
        node_of = run.after[number]
        used = np.zeros_like(allocatable)
        live = np.flatnonzero((node_of >= 0) & (node_of != GONE))
        np.add.at(used, node_of[live], requests[cluster.group_of[live]])
        grown = used > np.maximum(allocatable, cluster.used)
        assert not grown.any()


def test_hostname_and_zone_together_are_repaired() -> None:
    pods = [web(f"w{i}", "a1") for i in range(4)]
    for each in pods:
        constraint = dict(each["spec"]["topologySpreadConstraints"][0], topologyKey=HOSTNAME)
        each["spec"]["topologySpreadConstraints"].append(constraint)
    cluster = cluster_of(node("a1", "a"), node("a2", "a"), node("b1", "b"), node("b2", "b"), *pods)
    suggestion = found(cluster, replace(FEW_SEEDS, seeds=10))
    assert suggestion.evictions == 3
    assert suggestion.tried.converges


def test_very_large_plans_are_tried_with_fewer_seeds_unless_asked() -> None:
    cluster = uneven()
    many = [WavePlan(tuple(range(40_000)))]
    assert tried_seeds(None, cluster, [WavePlan((0, 1))]) == 20
    assert tried_seeds(None, cluster, many) == 1
    assert tried_seeds(7, cluster, many) == 7


def test_a_drain_without_room_says_what_would_make_it() -> None:
    full = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    pods = [pod(f"p{i}", f"n{i}", spec=full, metadata=owned("ReplicaSet", "r")) for i in range(2)]
    cluster = cluster_of(node("n0"), node("n1"), *pods)
    plan = plan_for(cluster, replace(FEW_SEEDS, goals=(), nodes=(0,)))
    assert plan.evictions == ()
    text = plain_text(evict_table.blocks(plan, wide=False))
    assert "Not emptied: n0 (1 pod). With --for spread beside it" in text


def test_a_node_on_which_only_daemons_are_left_is_empty() -> None:
    agent = pod("agent", "a1", metadata=owned("DaemonSet", "agent"))
    static = pod("proxy", "a1", metadata=owned("Node", "a1"))
    cluster = cluster_of(node("a1"), node("a2"), agent, static, web("w0", "a1"))
    plan = plan_for(cluster, replace(FEW_SEEDS, goals=(), nodes=(cluster.node_index["a1"],)))
    assert [each.pod for each in plan.evictions] == ["default/w0"]
    assert (plan.before.excess, plan.after.excess) == (1, 0)
    assert plan.not_emptied == ()


def test_a_node_that_is_not_emptied_names_the_budget_that_keeps_its_pod() -> None:
    cluster = cluster_of(node("a1"), node("a2"), web("w0", "a1"), budget(minAvailable=1))
    plan = plan_for(cluster, replace(FEW_SEEDS, goals=(), nodes=(cluster.node_index["a1"],)))
    (kept,) = plan.not_emptied
    assert (kept.node, kept.pods) == ("a1", ("default/w0",))
    assert kept.reason.startswith("PodDisruptionBudget default/web: minAvailable 1 of 1 replica")
    assert kept.reason in " ".join(plain_text(evict_table.blocks(plan, wide=False)).split())


def test_a_consolidation_goes_on_after_a_node_that_can_not_be_emptied() -> None:
    def sized(name: str, on: str, cpu: str) -> dict[str, Any]:
        containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
        return pod(name, on, spec={"containers": containers}, metadata=owned("ReplicaSet", name))

    large = node("large", status={"allocatable": {"cpu": "16"}})
    small = [node(f"s{i}", status={"allocatable": {"cpu": "2"}}) for i in range(2)]
    pods = [sized("big", "large", "3"), sized("x", "s0", "1"), sized("y", "s1", "1")]
    cluster = cluster_of(large, *small, *pods)
    plan = plan_for(cluster, replace(FEW_SEEDS, goals=("consolidate",)))
    assert plan.options.nodes == ("s0", "s1")
    assert [(each.node, each.pods) for each in plan.not_emptied] == [("large", ("default/big",))]


def test_a_pod_that_evict_leaves_alone_is_why_its_node_is_not_emptied() -> None:
    critical = web("dns", "a1", priority=2_000_000_000)
    cluster = cluster_of(node("a1"), node("a2"), critical)
    plan = plan_for(cluster, replace(FEW_SEEDS, goals=(), nodes=(cluster.node_index["a1"],)))
    assert [each.reason for each in plan.not_emptied] == ["it has a system-critical priority"]
