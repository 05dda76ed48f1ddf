"""Packings by sets that waste little: legal, with as many pods as asked for, and repeatable."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from planner.solver.packing.close_sets import CloseSets
from planner.solver.packing.question import Stock
from tests.solver.packing.test_packing import few_nodes, stock

LIMIT = 5.0


@settings(max_examples=150)
@given(few_nodes())
def test_what_is_found_fits_and_has_as_many_pods_as_asked_for(given_: Stock) -> None:
    everything = given_.placed(given_.total[:, None])
    found = CloseSets(given_).packing(everything, LIMIT)
    if found is not None:
        assert given_.placed(found) >= everything
        assert (found.sum(axis=1) <= given_.total).all()
        assert (found.sum(axis=1) >= given_.least).all()
        assert (found.T @ given_.size <= given_.room).all()


def _crowded(nodes: int, seed: int) -> Stock:
    """Four pods for each node, drawn by chance; a twentieth more than there is room for."""
    rng = np.random.default_rng(seed)
    size = rng.integers(100, 1000, (2 * nodes, 2))
    total = [2] * len(size)
    room = 2 * size.sum(axis=0) * 20 // 21 // nodes
    return stock(size.tolist(), [room.tolist()] * nodes, total, [0] * len(size))


def test_a_crowded_cluster_is_filled_with_nearly_all_that_sums_allow() -> None:
    crowded = _crowded(nodes=24, seed=3)
    first, again = (CloseSets(crowded) for _ in range(2))
    goals = (int(crowded.total.sum()) - 6,)
    found, same = first.packing(goals, LIMIT), again.packing(goals, LIMIT)
    assert found is not None
    assert same is not None
    assert (found == same).all()
    assert first.seconds == again.seconds
    assert crowded.placed(found) >= goals
    assert (found.T @ crowded.size <= crowded.room).all()


def test_nothing_is_said_where_sums_say_that_it_does_not_fit() -> None:
    crowded = _crowded(nodes=24, seed=3)
    assert CloseSets(crowded).packing((int(crowded.total.sum()),), LIMIT) is None
