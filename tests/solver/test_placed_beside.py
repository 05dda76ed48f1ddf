"""Bounds on lower priorities beside what a plan places above them."""

from __future__ import annotations

from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.problem.solution import Level
from planner.solver.route import placed_beside
from tests.sequences.few_pods import cluster, node, pods


def problem() -> Problem:
    """Room for 8; two large pods would take 5 each, and six others wait for 2 each."""
    built = cluster(
        [node("x", cpu="8")],
        pods("", "", app="large", cpu="5", priority=10),
        pods(*[""] * 6, app="small", cpu="2"),
    )
    return build_problem(built, SolveOptions(rebalance=True))


def placed(*rows: tuple[int, int, int]) -> tuple[Level, ...]:
    levels = (Level(f"placed {name}", "placed", value, most) for name, value, most in rows)
    return (*levels, Level("moves", "moves", 0, 0))


def test_below_an_open_priority_only_as_many_pods_fit_as_there_is_room_beside_those_above() -> None:
    assert placed_beside(problem(), placed((10, 1, 2), (0, 0, 6))) == placed((10, 1, 2), (0, 0, 1))


def test_where_less_is_reached_above_more_may_be_below() -> None:
    assert placed_beside(problem(), placed((10, 0, 1), (0, 2, 6))) == placed((10, 0, 1), (0, 2, 4))


def test_what_is_proven_stays_as_it_is() -> None:
    for levels in (placed((10, 1, 1), (0, 1, 1)), placed((10, 1, 1), (0, 0, 6))):
        assert placed_beside(problem(), levels) == levels
