from __future__ import annotations

from planner.solver.active import active_groups
from planner.solver.blocks import block_by_block, blocks
from planner.solver.problem import Problem
from planner.solver.search import silent, solve
from tests.solver.problems import ABC, REQUIRED, node, problem, spread, term, values, workload

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


def test_groups_that_one_constraint_counts_form_a_block() -> None:
    both = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]}
    web = workload("web", "n1", constraints=(spread(labelSelector=both),))
    posed = problem(ABC, web, workload("api", "n2"), EVEN, rebalance=True)
    assert frozenset((0, 1)) <= blocks(posed)[0]


def test_blocks_one_after_the_other_end_in_a_state_to_begin_with() -> None:
    nodes = [*ABC, node("n4", "c", cpu="1")]
    posed = problem(nodes, EVEN, UNEVEN, workload("new", "", priority=5), rebalance=True)
    state, _ = block_by_block(posed, silent, 60.0)
    assert state is not None
    found = solve(posed, start=state)
    assert values(found)["moves"] == values(solve(posed))["moves"] == 2
