"""Bounds of a priority beside what a plan places above it."""

from __future__ import annotations

import math

import pytest

from planner.sequences.drive_offs import Effort, EffortOverError
from planner.sequences.most_beside import MostBeside
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.problem.solution import Level
from tests.sequences.few_pods import cluster, node, pods


def three_large_ones_for_two_nodes() -> Problem:
    built = cluster(
        [node("x", cpu="8"), node("y", cpu="8")],
        pods("", "", "", app="large", cpu="5", priority=10),
        pods(*[""] * 9, app="small", cpu="1"),
    )
    return build_problem(built, SolveOptions(rebalance=True))


def level(name: str, value: int, bound: int, kind: str = "placed") -> Level:
    return Level(name, kind, value, bound)


PLACED = (2, 5)
ALL = (3, 9)
KNOWN = (level("placed 10", 2, 3), level("placed 0", 5, 9), level("moves", 0, 0, "moves"))


def test_nothing_is_told_that_was_not_proven() -> None:
    beside = MostBeside(three_large_ones_for_two_nodes(), Effort(10.0, math.inf))
    assert beside.told(PLACED, KNOWN) == KNOWN


def test_each_priority_is_bounded_beside_those_above() -> None:
    beside = MostBeside(three_large_ones_for_two_nodes(), Effort(10.0, math.inf))
    beside.prove(PLACED, ALL, 1.0)
    assert [each.bound for each in beside.told(PLACED, KNOWN)] == [2, 6, 0]


def test_a_plan_that_places_fewer_above_is_bounded_above_alone() -> None:
    beside = MostBeside(three_large_ones_for_two_nodes(), Effort(10.0, math.inf))
    beside.prove(PLACED, ALL, 1.0)
    fewer = (level("placed 10", 1, 3), level("placed 0", 9, 9))
    assert [each.bound for each in beside.told((1, 9), fewer)] == [2, 9]


def test_no_proof_is_begun_when_the_effort_is_over() -> None:
    effort = Effort(1.0, math.inf, spent=2.0, needed=False, counted=True)
    with pytest.raises(EffortOverError):
        MostBeside(three_large_ones_for_two_nodes(), effort).prove(PLACED, ALL, 1.0)
