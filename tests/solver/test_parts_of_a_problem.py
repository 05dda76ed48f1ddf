from __future__ import annotations

from planner.solver.exact.whole import active_groups
from planner.solver.problem.problem import Problem
from tests.solver.problems import ABC, REQUIRED, problem, spread, term, workload

EVEN = workload("even", "n1", "n2", "n3", constraints=(spread(app="even"),))
UNEVEN = workload("web", *["n1"] * 4, constraints=(spread(),))


def active(posed: Problem) -> set[str]:
    groups = posed.cluster.groups
    return {groups[g].example.labels["app"] for g in active_groups(posed)}


def test_groups_that_wait_or_count_for_an_excess_are_active() -> None:
    posed = problem(ABC, EVEN, UNEVEN, workload("new", ""), rebalance=True)
    assert active(posed) == {"web", "new"}


def test_groups_on_the_wrong_node_or_too_close_are_active() -> None:
    astray = workload("astray", "n1", nodeSelector={"kubernetes.io/hostname": "n2"})
    shy = workload("shy", "n1", "n1", affinity={"podAntiAffinity": {REQUIRED: [term("shy")]}})
    posed = problem(ABC, EVEN, astray, shy, rebalance=True)
    assert active(posed) == {"astray", "shy"}


def test_fixing_the_others_keeps_what_they_use_and_count() -> None:
    posed = problem(ABC, EVEN, UNEVEN, rebalance=True)
    part = posed.restricted({1})
    assert {group for group, _ in part.movable} == {1}
    assert part.fixed_counts == {(0, 0): 1, (0, 1): 1, (0, 2): 1}
    assert part.fixed_used[:, 0].tolist() == [1000, 1000, 1000]
