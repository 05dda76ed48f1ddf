from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.solver.bounds import fewest_moves, move_bounds, placeable, total_bound
from tests.solver.problems import ABC, node, problem, spread, workload


def by_trying(counts: tuple[int, ...], pending: int, skew: int, forced: tuple[int, ...]) -> int:
    """The fewest departures over all final counts without excess."""
    total = sum(counts) + pending
    best = 10**6
    for final in product(range(total + 1), repeat=len(counts)):
        if sum(final) != total or max(final) - min(final) > skew:
            continue
        leave = [max(e, c - f) for c, f, e in zip(counts, final, forced, strict=True)]
        arrive = [f - c + gone for c, f, gone in zip(counts, final, leave, strict=True)]
        if sum(arrive) == pending + sum(leave):
            best = min(best, sum(leave))
    return best


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=3),
    st.integers(0, 4),
    st.integers(1, 3),
)
def test_the_closed_form_is_what_trying_everything_finds(
    domains: list[tuple[int, int]], pending: int, skew: int
) -> None:
    counts = tuple(count for count, _ in domains)
    forced = tuple(min(count, leaving) for count, leaving in domains)
    found = fewest_moves(
        np.array([counts]), np.array([pending]), np.array([skew]), np.array([forced])
    )
    assert found.tolist() == [by_trying(counts, pending, skew, forced)]


def test_many_constraints_are_bounded_at_once() -> None:
    counts = np.array([[6, 6, 0], [2, 2, 2], [9, 0, 0]])
    found = fewest_moves(counts, np.zeros(3, int), np.ones(3, int), np.zeros_like(counts))
    assert found.tolist() == [4, 0, 6]


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
