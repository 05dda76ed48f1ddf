"""Packings by sets that waste little: legal, repeatable, and what they refute is in none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from planner.cluster.topology import IntArray
from planner.solver.packing.close_sets import CloseSets
from planner.solver.packing.identical_nodes import settled
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import ceiling
from tests.solver.packing.test_packing import few_nodes, packings, stock

LIMIT = 5.0


@settings(max_examples=300)
@given(few_nodes())
def test_what_is_found_fits_and_what_is_refuted_is_in_no_packing(given_: Stock) -> None:
    everything = given_.placed(given_.total[:, None])
    legal = [t for t in packings(given_) if (t.sum(axis=1) >= given_.least).all()]
    for rank, goal in enumerate(everything):
        goals = (*everything[:rank], goal)
        found = CloseSets(given_).decide(goals, LIMIT)
        if found.refuted:
            assert not any(_reaches(given_, table, goals) for table in legal)
        if found.counts is not None:
            assert _reaches(given_, found.counts, goals)
            assert (found.counts.sum(axis=1) <= given_.total).all()
            assert (found.counts.sum(axis=1) >= given_.least).all()
            assert (found.counts.T @ given_.size <= given_.room).all()


def _reaches(given_: Stock, counts: IntArray, goals: tuple[int, ...]) -> bool:
    return all(pods >= goal for pods, goal in zip(given_.placed(counts), goals, strict=False))


@pytest.mark.parametrize("seed", range(30))
def test_close_sets_and_all_ways_to_fill_nodes_agree(seed: int) -> None:
    """Some five nodes, four pods each, about as full as can be."""
    given_ = _random(seed)
    goal = ceiling(given_, (), 0)
    while settled(given_, (), goal, 10**8).refuted:
        assert CloseSets(given_).decide((goal,), LIMIT).counts is None
        goal -= 1
    assert not CloseSets(given_).decide((goal,), LIMIT).refuted


def test_some_numbers_that_sums_allow_are_refuted() -> None:
    given_ = [_random(seed) for seed in range(30)]
    assert any(CloseSets(each).decide((ceiling(each, (), 0),), LIMIT).refuted for each in given_)


def _random(seed: int) -> Stock:
    random = np.random.default_rng(seed)
    groups, nodes = int(random.integers(4, 10)), int(random.integers(3, 7))
    size, total = random.integers(1, 60, (groups, 2)), random.integers(1, 5, groups)
    fair = total @ size * 100 // int(random.integers(95, 112)) // nodes
    room = np.maximum(size.max(axis=0), fair)
    return stock(size.tolist(), [room.tolist()] * nodes, total.tolist(), [0] * groups)


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
    found, same = first.decide(goals, LIMIT).counts, again.decide(goals, LIMIT).counts
    assert found is not None
    assert same is not None
    assert (found == same).all()
    assert first.seconds == again.seconds
    assert crowded.placed(found) >= goals
    assert (found.T @ crowded.size <= crowded.room).all()


def test_nothing_is_said_where_sums_say_that_it_does_not_fit() -> None:
    crowded = _crowded(nodes=24, seed=3)
    found = CloseSets(crowded).decide((int(crowded.total.sum()),), LIMIT)
    assert found.counts is None
    assert not found.refuted
