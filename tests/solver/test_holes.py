"""Holes for pods that fit nowhere: the bound on moves against all states of small clusters."""

from __future__ import annotations

from hypothesis import given, settings

from planner.solver.problem.holes import fewest_for_holes
from planner.solver.problem.moves import placeable
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from tests.agreement.final_states import best
from tests.solver.packing.test_packing import problems
from tests.solver.problems import node, problem, solved, workload


def _bound(posed: Problem) -> int:
    return fewest_for_holes(posed, placeable(posed))


@settings(max_examples=200)
@given(problems())
def test_no_state_that_places_everything_moves_fewer_pods(drawn: Problem) -> None:
    posed = build_problem(drawn.cluster, SolveOptions(rebalance=True))
    *placed, _excess, moves = best(posed)
    if -sum(placed) == sum(placeable(posed).values()):
        assert _bound(posed) <= moves


NODES = [node("n1", cpu="4"), node("n2", cpu="4"), node("n3", cpu="2")]
SMALL = workload("small", "n1", "n1", "n2", "n2", "n2", cpu="1")


def test_holes_are_made_where_they_cost_least() -> None:
    # n1 has 2 CPU free and n2 has 1: a pod of 3 CPU costs one eviction there, two here.
    assert _bound(problem(NODES, SMALL, workload("big", "", cpu="3"), rebalance=True)) == 1
    assert _bound(problem(NODES, SMALL, workload("big", "", "", cpu="3"), rebalance=True)) == 3


def test_pods_of_several_workloads_need_holes_of_the_smallest_size() -> None:
    posed = problem(
        NODES, SMALL, workload("big", "", cpu="3"), workload("bigger", "", cpu="4"), rebalance=True
    )
    assert _bound(posed) == 3


def test_pods_that_fit_as_it_is_need_no_holes() -> None:
    fits = workload("fits", "", "", cpu="2")
    assert _bound(problem(NODES, SMALL, fits, rebalance=True)) == 0
    none = workload("big", "", cpu="9")
    assert _bound(problem(NODES, SMALL, none, rebalance=True)) == 0


def test_a_plan_with_as_many_moves_as_holes_cost_is_optimal() -> None:
    roomy = [*NODES, node("n4", cpu="2")]
    found = solved(roomy, SMALL, workload("big", "", "", cpu="3"), rebalance=True)
    moves = found.level("moves")
    assert moves is not None
    assert (found.status, moves.value, moves.bound) == ("optimal", 3, 3)


def test_running_pods_that_count_as_placed_are_not_taken_for_those_that_wait() -> None:
    """With --preempt one pod has a node, and one could have one: not the same one."""
    one = [node("n1", cpu="4")]
    small, big = workload("small", "n1", cpu="1"), workload("big", "", cpu="4")
    found = solved(one, small, big, rebalance=True, preempt=True)
    assert found.status == "optimal"
    assert [level.value for level in found.levels if level.kind == "moves"] == [0]
