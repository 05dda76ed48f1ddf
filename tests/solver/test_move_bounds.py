from __future__ import annotations

from planner.solver.problem.moves import move_bounds, placeable, total_bound
from tests.solver.problems import ABC, node, problem, spread, workload


def test_bounds_of_different_workloads_add_up() -> None:
    one = workload("web", *["n1"] * 6, constraints=(spread(),))
    two = workload("api", *["n2"] * 3, constraints=(spread(app="api"),))
    bounds = move_bounds(problem(ABC, one, two, rebalance=True), all_placed=True)
    assert [bound.moves for bound in bounds] == [4, 2]
    assert total_bound(bounds) == 6


def test_bounds_that_share_a_workload_don_t() -> None:
    both = (spread(), spread(1, "kubernetes.io/hostname"))
    pods = workload("web", *["n1"] * 6, constraints=both)
    bounds = move_bounds(problem(ABC, pods, rebalance=True), all_placed=True)
    assert [bound.moves for bound in bounds] == [4, 4]
    assert total_bound(bounds) == 4


def test_pending_pods_fill_gaps_before_others_move() -> None:
    pods = workload("web", "n1", "n1", "n2", "n2", "", "", constraints=(spread(),))
    posed = problem(ABC, pods, rebalance=True)
    assert move_bounds(posed, all_placed=True) == []


def test_pods_that_may_leave_the_counted_nodes_are_not_bounded() -> None:
    """The tainted node is out of the constraint's sight, and the pods tolerate it."""
    tainted = node("n4", "a", spec={"taints": [{"key": "x", "effect": "NoSchedule"}]})
    pods = workload(
        "web",
        *["n1"] * 6,
        constraints=(spread(nodeTaintsPolicy="Honor"),),
    )
    assert move_bounds(problem([*ABC, tainted], pods, rebalance=True), all_placed=True)
    lacking = [*ABC, node("n5")]
    free = workload("web", *["n1"] * 6)
    other = workload("api", "n1", constraints=(spread(),))
    assert move_bounds(problem(lacking, free, other, rebalance=True), all_placed=True) == []


def test_pods_without_room_anywhere_are_not_placeable() -> None:
    posed = problem([node("n1", cpu="2")], workload("web", "", "", "", cpu="1"))
    assert placeable(posed) == {0: 2}
    assert placeable(problem([node("n1", cpu="2")], workload("web", "", cpu="3"))) == {0: 0}
