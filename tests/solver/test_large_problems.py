"""Options that the search for large problems does not know: none costs what it knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.drift import drifted
from planner.documents.plan import make_plan
from planner.replay.steps import Step
from planner.scheduler.profile import default_profile
from planner.sequences.candidate import cut_short
from planner.solver import tuning
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.problem.solution import Solution
from planner.solver.route import solve_in_full as solve
from planner.solver.route import solve_large, whole_model_fits
from planner_models.plan import Plan
from tests.solver.large_clusters import tight_cluster

RULES = ("placed", "broken", "excess", "moves")
OPTIONS: tuple[dict[str, Any], ...] = (
    {"preempt": True},
    {"relax": True},
    {"prefer": "balance"},
    {"move_cost": "priority"},
    {"preempt": True, "rebalance": False},
    {"relax": True, "rebalance": False},
)


def loss(found: Solution) -> list[int]:
    """The levels before the wishes: smaller is better."""
    return [
        -level.value if level.kind == "placed" else level.value
        for level in found.levels
        if level.kind in RULES
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_way_of_the_large_ones_agrees_with_the_whole_model(
    options: dict[str, Any], seed: int
) -> None:
    problem = build_problem(
        tight_cluster(seed), SolveOptions(**{"rebalance": True, "time_limit": 4, **options})
    )
    found, exact = solve_large(problem), solve(problem)
    rules = [level for level in exact.levels if level.kind in RULES]
    assert [level.name for level in found.levels if level.kind in RULES] == [r.name for r in rules]
    if all(level.proven for level in rules):
        assert loss(exact) <= loss(found)
        if all(level.proven for level in found.levels if level.kind in RULES):
            assert loss(exact) == loss(found)


@pytest.mark.parametrize("options", OPTIONS[:4], ids=str)
def test_an_option_that_is_not_needed_costs_nothing(options: dict[str, Any]) -> None:
    cluster = drifted(50, "scale", 1)
    limits = SolveOptions(rebalance=True, time_limit=3)
    problem = build_problem(cluster, limits)
    assert problem.cell_count > tuning.SMALL_CELLS
    plain = solve_large(problem)
    asked = solve_large(build_problem(cluster, replace(limits, **options)))
    assert plain.status == "optimal"
    assert (asked.level("excess"), asked.level("moves")) == (
        plain.level("excess"),
        plain.level("moves"),
    )
    assert not asked.unplaced


def test_what_was_not_looked_at_is_said() -> None:
    cluster = drifted(150, "zone", 0)
    problem = build_problem(cluster, SolveOptions(rebalance=True, prefer="pack", time_limit=5))
    assert not whole_model_fits(problem)
    notes = solve_large(problem).notes
    assert "soft preferences and --prefer pack are not weighed at this size" in notes


def test_a_limit_on_moves_takes_the_beginning_of_the_order() -> None:
    cluster = drifted(50, "zone", 0)
    full, half = (
        make_plan(
            cluster,
            SolveOptions(rebalance=True, max_moves=most, time_limit=2),
            default_profile(),
        )
        for most in (None, 80)
    )
    needed, least = levels(full), levels(half)
    assert least["moves"] <= 80 < needed["moves"]
    assert needed["excess"] == 0 < least["excess"] < 392
    assert half.verification.admissible


def levels(plan: Plan) -> dict[str, int]:
    return {each.name: each.value for each in plan.objectives}


def test_no_pod_is_left_evicted_where_an_order_is_cut_short() -> None:
    steps = [
        Step.move(1, 0),
        Step.evict(2, 1),
        Step.evict(3, 0),
        Step.place(3, 1),
        Step.place(2, 0),
    ]
    assert cut_short(steps, 3) == tuple(steps)
    assert cut_short(steps, 2) == (Step.move(1, 0),)
