"""Plans that drive nobody off: never below what is simpler, whatever the time limit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.full_clusters import SHAPES, Shape, full_cluster
from benchmarks.openb import cluster_of
from benchmarks.pressure import Instance, snapshot
from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.documents.plan import make_plan
from planner.replay import check_steps
from planner.replay.trial import Trial
from planner.replay.trial_work import USUAL_SEEDS
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.plan import problem_of
from planner.sequences.scheduler_replay import (
    FEWEST_SEEDS,
    departing,
    judging_seeds,
    manner,
)
from planner.sequences.waves import guess_waves
from planner.solver.problem.options import SolveOptions
from planner_models.plan import Plan

PROFILE = default_profile()


@pytest.fixture(autouse=True)
def _work_alone_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are about what is done: how busy the machine is makes no difference."""
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)


def planned(built: Cluster, limit: float) -> Plan:
    return make_plan(built, SolveOptions(rebalance=True, time_limit=limit), PROFILE)


def placed(built: Cluster, plan: Plan) -> tuple[int, ...]:
    """Pods that waited and get a node, by priority from the top."""
    newly = (built.pod_index[each.pod] for each in plan.placements if each.from_ is None)
    counts = Counter(built.pods[pod].priority for pod in newly)
    return tuple(counts[priority] for priority in priorities(built))


def priorities(built: Cluster) -> list[int]:
    return sorted({built.pods[pod].priority for pod in built.pending.tolist()}, reverse=True)


def floor(built: Cluster) -> tuple[int, ...]:
    """kube-scheduler alone, or few evictions for each pod if these drive nobody off."""
    budgets = allowances(built)
    problem = problem_of(built, SolveOptions(rebalance=True), PROFILE)
    found = [_counts(built, simulate(built).final)]
    for steps in few_evictions_each(problem, PROFILE, budgets):
        waves = guess_waves(built, steps, budgets)
        assert waves is not None
        going = departing(waves)
        evicted = sorted(chain.from_iterable(wave.evictions for wave in going))
        trial = Trial(built, PROFILE, budgets, evicted)
        seeds = range(judging_seeds(built, len(evicted)))
        runs = (trial.run(going, manner(seed), unlimited=True) for seed in seeds)
        if not any(run.driven for run in runs):
            found.append(_counts(built, check_steps(built, steps, PROFILE).after))
    return max(found)


def _counts(built: Cluster, after: Cluster) -> tuple[int, ...]:
    newly = [pod for pod in built.pending.tolist() if after.node_of[pod] >= 0]
    lost = [pod for pod in built.running.tolist() if after.node_of[pod] < 0]
    counts = Counter(built.pods[pod].priority for pod in newly)
    counts.subtract(Counter(built.pods[pod].priority for pod in lost))
    return tuple(counts[priority] for priority in priorities(built))


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(("sizes", "flavours")))
def test_no_limit_gives_a_plan_below_the_floor(seed: int, shape: str) -> None:
    built = full_cluster(6, "sizes" if shape == "sizes" else "flavours", seed)
    least = floor(built)
    for limit in (0.3, 1.5):
        plan = planned(built, limit)
        assert all(notice.code != "preempts" for notice in plan.notices)
        assert placed(built, plan) >= least, f"limit {limit}"


@pytest.mark.parametrize(("limit", "least"), [(3.0, (11, 3)), (8.0, (11, 3))])
def test_more_time_is_not_worse_where_most_plans_drive_others_off(
    limit: float, least: tuple[int, ...]
) -> None:
    built = cluster_of("every-40", 0)
    plan = planned(built, limit)
    assert placed(built, plan) >= least
    assert plan.verification.scheduler_replay is not None
    assert plan.verification.scheduler_replay.seeds == 20
    assert all(notice.code != "preempts" for notice in plan.notices)


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_more_time_is_never_worse(seed: int, shape: Shape) -> None:
    assert_no_worse(full_cluster(8, shape, seed), (0.3, 1.0, 3.0, 6.0))


def test_more_time_is_never_worse_in_a_part_of_a_real_cluster() -> None:
    assert_no_worse(cluster_of("every-40", 0), (0.5, 1.0, 2.0, 4.0, 8.0))


def assert_no_worse(built: Cluster, limits: Sequence[float]) -> None:
    """Each limit by priority, and then by evictions, as good as the one before."""
    plans = [planned(built, limit) for limit in limits]
    worth = [(placed(built, plan), -plan.evictions) for plan in plans]
    assert worth == sorted(worth)


def test_more_than_by_one_eviction_each_which_drives_others_off() -> None:
    built = cluster_of("every-20", 0)
    plan = planned(built, 8.0)
    assert placed(built, plan) >= (13, 15)
    assert all(notice.code != "preempts" for notice in plan.notices)


def test_a_search_that_ends_before_its_limit_says_that_no_plan_places_more() -> None:
    built = cluster_of("every-40", 0)
    stopped = {limit: planned(built, limit).stopped for limit in (0.5, 60.0)}
    assert stopped == {0.5: "timeLimit", 60.0: "placed"}


def test_no_more_pods_are_moved_than_may_be() -> None:
    built = cluster_of("every-40", 0)
    options = SolveOptions(rebalance=True, max_moves=3, time_limit=2.0)
    plan = make_plan(built, options, PROFILE)
    assert plan.evictions == 3
    assert placed(built, plan) >= (3, 0)
    assert plan.evictions_per_placed_pod is not None


def test_about_as_many_evictions_are_judged_by_as_many_seeds() -> None:
    small = cluster_of("every-40", 0)
    assert judging_seeds(small, 14) == judging_seeds(small, 19) == 20
    assert judging_seeds(small, 1_000) < 20
    assert judging_seeds(small, 100_000) == 0


def test_with_preempt_a_short_limit_gets_few_seeds_and_at_least_the_fewest() -> None:
    built = snapshot(Instance(nodes=4, pods_per_node=4, priorities=2, usage=105, seed=0))
    tried = [
        make_plan(
            built, SolveOptions(rebalance=True, preempt=True, time_limit=limit), PROFILE
        ).verification.scheduler_replay
        for limit in (0.04, 60.0)
    ]
    assert [each and each.seeds for each in tried] == [FEWEST_SEEDS, USUAL_SEEDS]
