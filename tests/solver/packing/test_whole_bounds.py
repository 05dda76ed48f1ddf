"""Bounds by one program over all nodes: whole pods on whole nodes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.full_clusters import full_cluster
from benchmarks.openb import cluster_of
from planner.cluster import Cluster
from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.solver import tuning
from planner.solver.packing.room_bounds import ceilings
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.route import beside, solve_in_full
from tests.sequences.few_pods import cluster, node, pods

REBALANCE = SolveOptions(rebalance=True)


def three_halves() -> Problem:
    """Three pods of 5 would share two nodes of 8, and a small one beside each fits."""
    built = cluster(
        [node("x", cpu="8"), node("y", cpu="8")],
        pods("", "", "", app="large", cpu="5", priority=10),
        pods(*[""] * 6, app="small", cpu="1"),
    )
    return build_problem(built, REBALANCE)


def most_beside(
    problem: Problem, above: dict[int, int], priority: int, seconds: float = 1.0
) -> tuple[int, float]:
    known = beside(problem)
    assert known is not None
    return known.most(above, priority, seconds, math.inf)


def test_no_pod_is_split_between_nodes() -> None:
    assert ceilings(three_halves())[10] == 3
    assert most_beside(three_halves(), {}, 10)[0] == 2


def test_what_is_placed_above_leaves_less_room_below() -> None:
    assert most_beside(three_halves(), {10: 2}, 0)[0] == 6
    assert most_beside(three_halves(), {10: 0}, 0)[0] == 6
    assert most_beside(build_problem(tight(), REBALANCE), {10: 1}, 0)[0] == 3


def tight() -> Cluster:
    return cluster(
        [node("x", cpu="8")],
        pods("", app="large", cpu="5", priority=10),
        pods(*[""] * 6, app="small", cpu="1"),
    )


def test_without_work_nothing_is_claimed_that_is_wrong() -> None:
    most, spent = most_beside(three_halves(), {}, 10, 1e-9)
    assert most >= 2
    assert spent >= 0


def test_of_larger_clusters_patterns_of_pods_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "WHOLE_BOUND_CELLS", 1)
    assert most_beside(three_halves(), {}, 10)[0] == 2


def test_of_many_kinds_of_nodes_room_in_total_says_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "WHOLE_BOUND_CELLS", 1)
    monkeypatch.setattr(tuning, "PATTERN_KINDS", 0)
    assert most_beside(three_halves(), {}, 10) == (3, 0.0)


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_no_plan_places_more(seed: int) -> None:
    problem = build_problem(full_cluster(3, "flavours", seed), REBALANCE)
    found = solve_in_full(problem)
    above: dict[int, int] = {}
    for level in found.levels:
        if level.kind == "placed":
            priority = int(level.name.removeprefix("placed "))
            most, _ = most_beside(problem, above, priority)
            assert most >= level.value
            above[priority] = level.value


def test_a_plan_says_that_no_other_one_places_more() -> None:
    built = cluster_of("every-40", 0)
    plan = make_plan(built, SolveOptions(rebalance=True, time_limit=60.0), default_profile())
    placed = [each for each in plan.objectives if each.name.startswith("placed ")]
    assert [(each.value, each.bound) for each in placed] == [(11, 11), (4, 4)]
