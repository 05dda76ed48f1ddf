"""Sets that fill a node: what they say about nodes that are alike, against all packings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings

from planner.cluster.topology import IntArray
from planner.solver.packing.by_sets import BySets
from planner.solver.packing.identical_nodes import settled
from planner.solver.packing.node_sets import node_sets
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import ceiling
from tests.solver.packing.test_packing import few_nodes, packings, stock


def _on_one_node(given_: Stock) -> list[tuple[int, ...]]:
    """All sets that fit, by brute force."""
    each = product(*(range(total + 1) for total in given_.total.tolist()))
    return [pods for pods in each if (np.array(pods) @ given_.size <= given_.room[0]).all()]


@given(few_nodes())
def test_every_set_that_fits_is_part_of_one_that_is_kept(given_: Stock) -> None:
    found = node_sets(given_.size, given_.total, given_.room[0], 10_000)
    assert found is not None
    groups = len(given_.total)
    kept = [np.bincount(each, minlength=groups + 1)[:groups] for each in found.members.T]
    fitting = _on_one_node(given_)
    assert {tuple(each.tolist()) for each in kept} <= set(fitting)
    assert all(any((each >= pods).all() for each in kept) for pods in np.array(fitting))
    assert (np.column_stack(found.waste) == given_.room[0] - np.array(kept) @ given_.size).all()


def test_too_many_sets_are_none() -> None:
    assert node_sets(np.array([[1], [2]]), np.array([9, 9]), np.array([20]), 30) is None


def _legal(given_: Stock) -> list[IntArray]:
    return [t for t in packings(given_) if (t.sum(axis=1) >= given_.least).all()]


@settings(max_examples=300)
@given(few_nodes())
def test_sets_refute_and_place_what_all_packings_say(given_: Stock) -> None:
    legal = _legal(given_)
    assume(legal)
    top = max(given_.placed(table) for table in legal)
    everything = given_.placed(given_.total[:, None])
    for rank in range(len(everything)):
        found = BySets(given_).best(top[:rank], 0, everything[rank], 10.0)
        assert found.most >= top[rank]
        if found.counts is not None:
            assert given_.placed(found.counts)[:rank] == top[:rank]
            assert (found.counts.sum(axis=1) >= given_.least).all()
            assert (found.counts.sum(axis=1) <= given_.total).all()
            assert (found.counts.T @ given_.size <= given_.room).all()


def test_nodes_that_take_one_pod_each_take_no_more_than_there_are_nodes() -> None:
    # In total there is room for four: 6 + 6 + 7 + 7 of 30.
    given_ = stock([[6], [7]], [[10]] * 3, [2, 2], [0, 0])
    assert ceiling(given_, (), 0) == 4
    found = BySets(given_).best((), 2, 4, 10.0)
    assert found.most == 3
    assert found.counts is not None
    assert given_.placed(found.counts) == (3,)


def test_a_packing_of_many_nodes_is_led_by_parts_of_sets() -> None:
    # 20 nodes of 100 that are filled to the last unit: 51 + 29 + 20 and 47 + 33 + 20.
    sizes = [[51], [29], [47], [33], [20]]
    given_ = stock(sizes, [[100]] * 20, [10, 10, 10, 10, 20], [0] * 5)
    found = BySets(given_).best((), 0, 60, 10.0)
    assert found.counts is not None
    assert given_.placed(found.counts) == (60,)


@pytest.mark.parametrize("seed", range(40))
def test_sets_and_all_ways_to_fill_nodes_agree(seed: int) -> None:
    """Some five nodes, four pods each, about as full as can be."""
    random = np.random.default_rng(seed)
    groups, nodes = int(random.integers(4, 10)), int(random.integers(3, 7))
    size, total = random.integers(1, 60, (groups, 2)), random.integers(1, 5, groups)
    fair = total @ size * 100 // int(random.integers(95, 112)) // nodes
    room = np.maximum(size.max(axis=0), fair)
    given_ = stock(size.tolist(), [room.tolist()] * nodes, total.tolist(), [0] * groups)
    goal = most = ceiling(given_, (), 0)
    while settled(given_, (), goal, 10**8).refuted:
        goal -= 1
    found = BySets(given_).best((), goal - 1, most, 10.0)
    assert found.most >= goal
    assert found.counts is None or given_.placed(found.counts) == (goal,)
