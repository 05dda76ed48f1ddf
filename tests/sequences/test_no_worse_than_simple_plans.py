"""Where the solver finds little, a plan is still no worse than what anybody would try first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.sequences import decide
from planner.solver import route
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Level, Solution
from planner_models.plan import Plan
from tests.agreement.clusters import random_cluster
from tests.sequences.few_pods import cluster, node, pods


def finds_nothing(problem: Problem, **_: Any) -> Solution:
    """A search that ends with what it began with, and with bounds that exclude nothing."""
    counts = dict.fromkeys(problem.priorities, 0)
    for group, waiting in problem.waiting.items():
        counts[problem.cluster.groups[group].priority] += len(waiting)
    levels = [Level(f"placed {p}", "placed", 0, most) for p, most in counts.items()]
    if problem.options.rebalance:
        levels += (Level("excess", "excess", 99, 0), Level("moves", "moves", 0, 0))
    return Solution("feasible", problem.current, levels=tuple(levels))


@pytest.fixture(autouse=True)
def _weak_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "solve", finds_nothing)
    monkeypatch.setattr(route, "solve_in_full", finds_nothing)
    monkeypatch.setattr(decide, "SMALL_CELLS", 0)


def planned(built: Cluster, **options: Any) -> Plan:
    return make_plan(built, SolveOptions(**options), default_profile())


@pytest.mark.parametrize("options", [{}, {"rebalance": True}, {"relax": True}])
@given(seed=st.integers(0, 10**6))
def test_no_plan_places_fewer_pods_than_kube_scheduler_alone(
    seed: int, options: dict[str, bool]
) -> None:
    built = random_cluster(seed, nodes=4, pods=8, plain=seed % 2 == 0)
    alone = sum(each.node is not None for each in simulate(built).results)
    placed = [each for each in planned(built, **options).placements if each.from_ is None]
    assert len(placed) >= alone


def test_a_pod_that_one_eviction_lets_run_is_placed() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="2")
    built = cluster([large, small], pods("large", cpu="1"), pods("", app="b", cpu="4"))
    found = planned(built, rebalance=True)
    assert [(each.pod, each.node) for each in found.placements] == [
        ("default/a-0", "small"),
        ("default/b-0", "large"),
    ]
