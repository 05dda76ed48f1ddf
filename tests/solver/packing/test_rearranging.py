"""Prices on room and windows in a shortage, against all packings of small stocks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster.topology import IntArray
from planner.solver.packing.chains import Chains
from planner.solver.packing.question import Stock, pooled
from planner.solver.packing.rearrange import Budget, Rearranging
from planner.solver.packing.room_prices import priced
from planner.solver.packing.window import refill_window
from tests.solver.packing.test_packing import packings, stock, stocks


@st.composite
def pinned(draw: st.DrawFn) -> Stock:
    """Some groups may be on some nodes only, and some pods run already."""
    given_ = draw(stocks())
    landing = np.array([[draw(st.booleans()) for _ in row] for row in given_.now])
    placed = draw(st.sampled_from(legal(replace(given_, landing=landing))))
    kept = draw(st.booleans())
    least = placed.sum(axis=1) if kept else np.zeros(len(placed), np.int64)
    return replace(given_, landing=landing, now=placed, least=least)


def legal(given_: Stock) -> list[IntArray]:
    """Packings with nobody where the rules don't admit it, and everybody who has to run."""
    return [
        table
        for table in packings(given_)
        if not (table > np.where(given_.landing, table, given_.now)).any()
        and (table.sum(axis=1) >= given_.least).all()
    ]


def _value(given_: Stock, counts: IntArray) -> tuple[tuple[int, ...], int]:
    return given_.placed(counts), -given_.moves(counts)


def _rearranged(given_: Stock) -> Rearranging:
    search = Rearranging(given_, given_.now, 0)
    search.run(Budget(2.0, math.inf), lambda _: None)
    return search


@settings(max_examples=60)
@given(pinned())
def test_prices_bound_what_any_packing_places(given_: Stock) -> None:
    top = max(given_.placed(table) for table in legal(given_))
    for placed, most in zip(top, priced(pooled(given_)[0]).most, strict=True):
        assert placed <= most
        if placed < most:
            break


@settings(max_examples=60)
@given(pinned(), st.data())
def test_beside_what_is_reached_no_packing_places_more_of_a_lower_priority(
    given_: Stock, data: st.DataObject
) -> None:
    tables = [given_.placed(table) for table in legal(given_)]
    reached = data.draw(st.sampled_from(tables))
    most = priced(pooled(given_)[0], reached).most
    for placed in tables:
        for rank, bound in enumerate(most):
            if all(a >= b for a, b in zip(placed[:rank], reached[:rank], strict=True)):
                assert placed[rank] <= bound


def test_more_is_possible_of_a_lower_priority_beside_less_of_a_higher_one() -> None:
    # A node of 4: one of the highest priority asks for 3, those below for 1 each.
    given_ = stock([[3], [1]], [[4]], [1, 4], [0, 1])
    pool = pooled(given_)[0]
    assert priced(pool).most == (1, 1)
    assert priced(pool, (0, 2)).most == (1, 4)


def test_room_of_nodes_that_pinned_pods_need_has_a_price() -> None:
    # In total there is room for 6; the pinned ones share a node that holds 2.
    given_ = replace(
        stock([[2], [1]], [[4], [2]], [4, 1], [0, 0]),
        landing=np.array([[True, False], [True, True]]),
    )
    assert priced(pooled(given_)[0]).most == (3,)


def test_a_pod_that_no_node_can_hold_is_not_possible_however_much_room_there_is() -> None:
    given_ = stock([[5], [1]], [[4]] * 9, [1, 9], [0, 0])
    assert priced(pooled(given_)[0]).most == (9,)


def _chained(given_: Stock, most_moves: float = math.inf) -> IntArray:
    pool, kinds = pooled(given_)
    chains = Chains(given_, given_.now, priced(pool).room[kinds], most_moves)
    return chains.run(thorough=True)


@settings(max_examples=60)
@given(pinned(), st.integers(0, 3))
def test_chains_lose_nobody_stay_legal_and_keep_a_limit_on_moves(given_: Stock, most: int) -> None:
    found = _chained(given_, most)
    assert any((found == table).all() for table in legal(given_))
    assert (found.sum(axis=1) >= given_.now.sum(axis=1)).all()
    assert given_.moves(found) <= most


@settings(max_examples=60)
@given(pinned())
def test_after_chains_nobody_waits_for_whom_one_move_makes_room(given_: Stock) -> None:
    found = _chained(given_)
    for table in legal(given_):
        *same, more = sorted((table.sum(axis=1) - found.sum(axis=1)).tolist())
        if more == 1 and not any(same):
            assert _moved(found, table) > 1


def test_chains_end_with_their_budget() -> None:
    given_ = stock([[1], [2]], [[3], [3]], [2, 2], [0, 0])
    pool, kinds = pooled(given_)
    chains = Chains(given_, given_.now, priced(pool).room[kinds])
    assert not chains.run(thorough=True, share=lambda _: 1.0).any()
    assert chains.work == 0
    assert chains.run(thorough=True).sum() == 4


def _moved(before: IntArray, after: IntArray) -> int:
    return int(np.maximum(before - after, 0).sum())


def test_the_shortest_chain_is_taken() -> None:
    # The 4 could push the 3, which pushes the 2, or the other 3, which fits on node 3.
    given_ = replace(
        stock([[4], [3], [2]], [[4], [4], [3], [3]], [1, 2, 1], [0, 0, 0]),
        now=np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]]),
        least=np.array([0, 2, 1]),
    )
    assert given_.moves(_chained(given_)) == 1


def test_two_small_pods_leave_a_node_for_a_large_one() -> None:
    given_ = replace(
        stock([[4], [2]], [[4], [2], [2]], [1, 2], [0, 0]),
        now=np.array([[0, 0, 0], [2, 0, 0]]),
        least=np.array([0, 2]),
    )
    assert _chained(given_).tolist() == [[1, 0, 0], [0, 1, 1]]


@settings(max_examples=40)
@given(pinned())
def test_a_window_over_all_nodes_is_the_best_packing(given_: Stock) -> None:
    nodes, everybody = np.arange(given_.now.shape[1]), np.ones(len(given_.groups), np.bool_)
    found = refill_window(given_, given_.now, nodes, everybody, 5.0, 0).counts
    best = max(_value(given_, table) for table in legal(given_))
    assert _value(given_, found) == best


@settings(max_examples=20)
@given(pinned())
def test_rearranging_ends_legal_and_no_worse_than_it_began(given_: Stock) -> None:
    found = _rearranged(given_)
    assert any((found.counts == table).all() for table in legal(given_))
    assert _value(given_, found.counts) >= _value(given_, _chained(given_))


def test_a_chain_of_moves_makes_room_for_a_pinned_pod() -> None:
    # The pinned 4 needs node 0; the 3 there fits on node 1 if the 2 there leaves for node 2.
    given_ = replace(
        stock([[4], [3], [2]], [[4], [4], [2]], [1, 1, 1], [0, 0, 0]),
        now=np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]),
        least=np.array([0, 1, 1]),
        landing=np.array([[True, False, False], [True, True, False], [True, True, True]]),
    )
    assert _rearranged(given_).counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_moves_that_turn_out_to_be_needless_are_taken_back() -> None:
    given_ = replace(
        stock([[1], [1]], [[2], [2]], [1, 1], [0, 0]),
        now=np.array([[1, 0], [0, 0]]),
        least=np.array([1, 0]),
    )
    search = Rearranging(given_, np.array([[0, 1], [1, 0]]), 0)
    search.run(Budget(2.0, math.inf), lambda _: None)
    assert given_.moves(search.counts) == 0


@settings(max_examples=20)
@given(pinned(), st.integers(0, 2))
def test_no_more_pods_move_than_may(given_: Stock, most: int) -> None:
    search = Rearranging(given_, given_.now, 0, most_moves=most)
    search.run(Budget(2.0, math.inf), lambda _: None)
    assert given_.moves(search.counts) <= most
    few = [table for table in legal(given_) if given_.moves(table) <= most]
    assert _value(given_, search.counts) <= max(_value(given_, table) for table in few)
