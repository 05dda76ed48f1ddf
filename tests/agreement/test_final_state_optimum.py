from __future__ import annotations

from math import comb
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.solver import tuning
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.problem.solution import Solution
from planner.solver.route import solve_in_full as solve
from tests.agreement.clusters import clusters, random_cluster
from tests.agreement.final_states import Value, best, judged

RULES = ("placed", "broken", "excess", "moves")
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"rebalance": True},
    {"rebalance": True, "relax": True},
    {"relax": True},
    {"preempt": True},
    {"rebalance": True, "preempt": True},
    {"rebalance": True, "max_moves": 1},
)


def value(solution: Solution) -> Value:
    return tuple(
        -level.value if level.kind == "placed" else level.value
        for level in solution.levels
        if level.kind in RULES
    )


def size(problem: Problem) -> int:
    """How many states there are to look at."""
    total, nodes = 1, len(problem.cluster.nodes)
    for group in problem.groups:
        running = sum(len(pods) for (g, _), pods in problem.movable.items() if g == group)
        most = running + len(problem.waiting.get(group, ()))
        least = running - problem.displaceable.get(group, 0)
        total *= sum(comb(pods + nodes - 1, nodes - 1) for pods in range(least, most + 1))
    return total


@settings(max_examples=200)
@given(clusters(nodes=3, pods=5), st.sampled_from(OPTIONS))
def test_the_solver_finds_the_best_of_all_final_states(
    cluster: Cluster, options: dict[str, Any]
) -> None:
    problem = build_problem(cluster, SolveOptions(**options))
    assume(size(problem) <= 2000)
    found = solve(problem)
    assert value(found) == best(problem)
    assert found.status == "optimal"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_the_state_itself_is_legal_and_worth_what_is_said(
    seed: int, options: dict[str, Any]
) -> None:
    problem = build_problem(random_cluster(seed, nodes=4, pods=5), SolveOptions(**options))
    found = solve(problem)
    worth = {tuple(sorted(state.items())): each for state, each in judged(problem)}
    assert worth[tuple(sorted(found.counts.items()))] == value(found)


@settings(max_examples=60)
@given(clusters(nodes=3, pods=5))
def test_solving_in_part_first_loses_nothing(cluster: Cluster) -> None:
    problem = build_problem(cluster, SolveOptions(rebalance=True))
    assume(size(problem) <= 2000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "SMALL_CELLS", -1)
        assert value(solve(problem)) == best(problem)


@settings(max_examples=60)
@given(clusters(nodes=3, pods=5), st.booleans())
def test_judged_at_the_moment_everything_is_at_least_as_good(
    cluster: Cluster, rebalance: bool
) -> None:
    final, moment = (
        value(solve(build_problem(cluster, SolveOptions(rebalance=rebalance, judged=judgement))))
        for judgement in ("final", "moment")
    )
    assert moment <= final
