from __future__ import annotations

import pytest

from benchmarks.drift import DRIFTS, Drift, drifted
from benchmarks.final_state import judge, placement_of
from planner.cluster import Cluster
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Solution
from planner.solver.route import solve_in_full as solve
from tests.solver.large_clusters import at_scale, rebalancing, tight_cluster


def values(found: Solution) -> list[int]:
    """Placed pods by priority as losses, excess, moves: smaller is better."""
    return [
        -level.value if level.kind == "placed" else level.value
        for level in found.levels
        if level.kind in ("placed", "excess", "moves")
    ]


def check(cluster: Cluster, problem: Problem, found: Solution) -> None:
    """The naive checker finds nothing wrong and the same numbers."""
    verdict = judge(cluster, placement_of(cluster, found.counts, problem.movable, problem.waiting))
    assert verdict.problems == ()
    placed = sum(level.value for level in found.levels if level.kind == "placed")
    excess, moves = found.level("excess"), found.level("moves")
    assert excess is not None
    assert moves is not None
    assert (verdict.placed, verdict.excess, verdict.moves) == (placed, excess.value, moves.value)
    assert moves.bound <= moves.value


@pytest.mark.parametrize("seed", range(30))
def test_small_tight_clusters_are_valid_and_never_wrongly_optimal(seed: int) -> None:
    cluster = tight_cluster(seed)
    problem = rebalancing(cluster)
    found, exact = at_scale(problem), solve(problem)
    check(cluster, problem, found)
    if all(level.proven for level in exact.levels if level.kind in ("placed", "excess", "moves")):
        assert values(exact) <= values(found)
        best, claimed = exact.level("moves"), found.level("moves")
        if best is not None and claimed is not None and values(exact)[:-1] == values(found)[:-1]:
            assert claimed.bound <= best.value
        if found.status == "optimal":
            assert values(exact) == values(found)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("seed", range(3))
def test_drifted_clusters_of_fifty_nodes_end_valid(drift: Drift, seed: int) -> None:
    cluster = drifted(50, drift, seed)
    problem = rebalancing(cluster)
    check(cluster, problem, at_scale(problem))


def test_a_zone_that_came_back_is_refilled_with_the_fewest_moves_proven() -> None:
    found = at_scale(rebalancing(drifted(50, "zone", 11)))
    assert found.status == "optimal"


def test_the_same_problem_gives_the_same_solution_twice() -> None:
    first, second = (at_scale(rebalancing(drifted(50, "big", 0))) for _ in range(2))
    assert (first.counts, first.levels) == (second.counts, second.levels)
