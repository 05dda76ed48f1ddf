"""Sets of few pods that nearly fill a node, and what they prove, against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.solver.packing.nearly_full import full_sets, halves
from planner.solver.packing.question import Stock
from planner.solver.packing.sparse_nodes import too_many
from tests.solver.packing.test_packing import few_nodes, packings, stock

ENOUGH = 10**6


@st.composite
def fillings(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int], list[int], int]:
    """Sizes, pods of each group, the room of a node, what may be wasted, and pods at the most."""
    groups, resources = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    amounts = st.lists(st.integers(0, 9), min_size=resources, max_size=resources)
    sizes = draw(st.lists(amounts, min_size=groups, max_size=groups))
    pods = draw(st.lists(st.integers(1, 3), min_size=groups, max_size=groups))
    room = [each + 3 for each in draw(amounts)]
    return sizes, pods, room, draw(amounts), draw(st.integers(1, 6))


@settings(max_examples=300)
@given(fillings())
def test_all_sets_of_few_pods_that_nearly_fill_a_node_are_found(
    given_: tuple[list[list[int]], list[int], list[int], list[int], int],
) -> None:
    size, pods, room, waste = (np.array(each) for each in given_[:4])
    most = given_[4]
    found = full_sets(size, pods, room, waste, most)
    assert found is not None
    expected = set()
    for held in product(*(range(count + 1) for count in pods.tolist())):
        left = room - np.array(held) @ size
        if sum(held) <= most and ((left >= 0) & (left <= waste)).all():
            expected.add(held)
    assert sorted(map(tuple, found.pods.tolist())) == sorted(expected)
    assert (found.waste == room - found.pods @ size).all()


@settings(max_examples=500)
@given(few_nodes())
def test_so_many_pods_are_refuted_only_if_no_packing_has_them(given_: Stock) -> None:
    legal = [t for t in packings(given_) if (t.sum(axis=1) >= given_.least).all()]
    top = max((given_.placed(table) for table in legal), default=None)
    everything = given_.placed(given_.total[:, None])
    for rank in range(len(everything)):
        above = top[:rank] if top is not None else everything[:rank]
        for goal in range(everything[rank] + 1):
            if too_many(given_, (*above, goal), ENOUGH).certain:
                assert top is None or goal > top[rank]


def _five_pods() -> Stock:
    """39 of 40: on one of the nodes are two pods, and no two of them are 19 or 20 together."""
    return stock([[9], [6]], [[20], [20]], [3, 2], [0, 0])


def test_pods_don_t_fit_if_no_few_of_them_fill_a_node() -> None:
    assert too_many(_five_pods(), (5,), ENOUGH).certain
    assert not too_many(_five_pods(), (4,), ENOUGH).certain


def test_a_set_is_not_taken_more_often_than_there_are_pods_for_it() -> None:
    # 30 of 30 in seven pods: two nodes with two each, but only 7 + 3 is 10, and that once.
    once = stock([[7], [3], [6], [1], [2], [5]], [[10]] * 3, [1, 1, 2, 1, 1, 1], [0] * 6)
    assert too_many(once, (7,), ENOUGH).certain
    twice = stock([[7], [3], [1], [5]], [[10]] * 3, [2, 2, 5, 1], [0] * 4)
    assert not too_many(twice, (10,), ENOUGH).certain


def test_nothing_is_begun_that_takes_too_much_work() -> None:
    assert halves(2, 2) == 3
    assert too_many(_five_pods(), (5,), 2).work == 0
    assert too_many(_five_pods(), (5,), 3).work == 3
