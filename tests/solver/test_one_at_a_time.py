"""What a plan reaches however little time there is: pods by priority, one at a time."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from benchmarks.drift import drifted
from benchmarks.final_state import judge, placement_of
from planner.scheduler.simulate import simulate
from planner.solver import tuning
from planner.solver.large.construct import score
from planner.solver.large.one_at_a_time import one_at_a_time
from planner.solver.large.state import start
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.route import solve_large
from tests.solver.large_clusters import at_scale, limited, tight_cluster
from tests.solver.problems import node, problem, values, workload


def late(given: Problem) -> Problem:
    """The same for a user who has waited long enough before it begins."""
    options = replace(given.options, until=time.monotonic())
    return replace(given, options=options)


def crowd() -> Problem:
    """Only where four others leave is there room for the large pod."""
    return problem(
        [node("a", cpu="5"), node("b", cpu="4")],
        workload("small", *["a"] * 4, cpu="1"),
        workload("high", "", cpu="5", priority=1000),
        workload("low", *[""] * 4, cpu="1"),
        rebalance=True,
    )


def test_more_pods_leave_for_one_than_the_greedy_ways_try() -> None:
    state = one_at_a_time(start(crowd()))
    assert state is not None
    found = score(state)
    assert tuning.MOST_EVICTIONS < 4
    assert (found.stranded, found.unplaced, found.moves) == (0, (0, 4), 4)


def test_no_time_at_all_is_enough_for_the_highest_priority() -> None:
    found = at_scale(late(crowd()))
    assert values(found)["placed 1000"] == 1
    assert found.status == "feasible"


def test_a_pod_for_whom_others_would_find_no_room_changes_nothing() -> None:
    full = problem(
        [node("a", cpu="4"), node("b", cpu="4")],
        workload("small", *["a"] * 4, *["b"] * 4, cpu="1"),
        workload("high", "", cpu="2", priority=1000),
        rebalance=True,
    )
    state = one_at_a_time(start(full))
    assert state is not None
    assert (score(state).stranded, score(state).unplaced, score(state).moves) == (0, (1,), 0)


@pytest.mark.parametrize("seed", range(20))
def test_crowded_clusters_end_valid_without_any_time(seed: int) -> None:
    cluster = tight_cluster(seed, nodes=5, workloads=14)
    asked = late(limited(cluster, 3.0))
    found = at_scale(asked)
    verdict = judge(cluster, placement_of(cluster, found.counts, asked.movable, asked.waiting))
    assert verdict.problems == ()


@pytest.mark.parametrize("seed", range(6))
def test_a_plan_without_time_places_no_less_than_kube_scheduler(seed: int) -> None:
    cluster = drifted(20, "big", seed)
    asked = late(build_problem(cluster, SolveOptions(rebalance=True)))
    found = solve_large(asked)
    alone = simulate(cluster)
    waiting = [cluster.pods[each.pod].priority for each in alone.results if each.node is not None]
    least = [waiting.count(priority) for priority in asked.priorities]
    placed = [level.value for level in found.levels if level.kind == "placed"]
    assert placed >= least
