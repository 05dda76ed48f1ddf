"""The search for large problems against the whole model, on clusters with all rules mixed.

120 small clusters run with every test; the profile `long` runs 2,000.
"""

from __future__ import annotations

import os

import pytest

from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.problem.solution import Solution
from planner.solver.route import solve_in_full
from tests.agreement.clusters import random_cluster
from tests.solver.large_clusters import at_scale

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
CASES, PARTS = (2_000, 40) if LONG else (120, 6)
RULES = ("placed", "excess", "moves")


@pytest.mark.parametrize("part", range(PARTS))
def test_what_it_claims_the_whole_model_does_not_contradict(part: int) -> None:
    size = CASES // PARTS
    for seed in range(part * size, (part + 1) * size):
        _check(seed)


def test_a_master_problem_without_duals_ends_the_pricing() -> None:
    """Found by more cases: every node was full of what can't move."""
    _check(110)


def test_rules_that_nobody_can_mend_count() -> None:
    """Found by more cases: pods that may not move broke a taint, or their own spread."""
    _check(249)
    _check(451)


def _check(seed: int) -> None:
    cluster = random_cluster(seed, nodes=4 + seed % 5, pods=8 + seed % 9)
    problem = build_problem(cluster, SolveOptions(rebalance=True, prefer="none"))
    found, whole = at_scale(problem), solve_in_full(problem)
    assert whole.status == "optimal", f"seed {seed}"
    assert values(whole) <= values(found), f"seed {seed}"
    if found.status == "optimal":
        assert values(whole) == values(found), f"seed {seed}"
    for level in found.levels:
        known = whole.level(level.name)
        best = 0 if known is None else known.value  # Nobody has that priority, or may move.
        if level.kind == "placed":
            assert level.bound >= best, f"seed {seed}"
        else:
            assert level.bound <= best, f"seed {seed}"
        if level.value != best:
            break  # What comes after it rests on it.


def values(found: Solution) -> list[int]:
    """Placed pods by priority as losses, excess, moves: smaller is better."""
    return [
        -level.value if level.kind == "placed" else level.value
        for level in found.levels
        if level.kind in RULES
    ]
