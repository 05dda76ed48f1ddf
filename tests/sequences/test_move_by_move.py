from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planner.sequences.move_by_move import way_out
from planner.sequences.order import Order
from tests.sequences.few_pods import cluster, node, pods
from tests.sequences.test_order_of_steps import order


def test_without_a_circle_nobody_has_to_let_go() -> None:
    assert way_out({0: [1]}, {1: {1: 1}}) is None


def test_the_node_that_most_in_the_circle_want_is_left_first() -> None:
    wanted = {0: [10], 1: [10], 2: [11, 12]}
    leaving = {10: {2: 1}, 11: {0: 1}, 12: {1: 1}}
    assert way_out(wanted, leaving) == (2, 10)


@given(st.integers(2, 5))
def test_a_circle_of_full_nodes_costs_one_pod_its_place_for_a_while(size: int) -> None:
    nodes = [node(f"n{i}", cpu="1") for i in range(size)]
    groups = [pods(f"n{i}", app=f"app{i}", cpu="1") for i in range(size)]
    built = cluster(nodes, *groups)
    found = order(built, {(i, (i + 1) % size): 1 for i in range(size)})
    assert isinstance(found, Order)
    assert found.steps[0].action == "evict"
    down = most = 0
    for step in found.steps:
        down += 1 if step.action == "evict" else -1
        most = max(most, down)
    assert most <= 2
    assert sum(step.action == "evict" for step in found.steps) == size
