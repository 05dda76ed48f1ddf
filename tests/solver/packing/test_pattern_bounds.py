"""Bounds by patterns of whole pods on nodes, against all packings of small stocks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.solver import tuning
from planner.solver.packing.pattern_bounds import PatternBounds
from planner.solver.packing.pattern_prices import PatternPrices
from planner.solver.packing.question import Stock, pooled
from planner.solver.packing.rearrange import Budget, Rearranging
from planner.solver.packing.room_prices import priced
from tests.solver.packing.test_packing import stock
from tests.solver.packing.test_rearranging import legal, pinned


def halves() -> Stock:
    """Two nodes of 8, for two pods of 5, one of 6, and six of 1 below them."""
    return stock([[5], [6], [1]], [[8], [8]], [2, 1, 6], [0, 0, 1])


def most(given_: Stock, above: tuple[int, ...], seconds: float = 5.0) -> int:
    return PatternBounds(given_).most(above, seconds, math.inf)[0]


@settings(max_examples=100)
@given(pinned(), st.data())
def test_no_packing_places_more_beside_what_is_reached(given_: Stock, data: st.DataObject) -> None:
    tables = [given_.placed(table) for table in legal(given_)]
    reached = data.draw(st.sampled_from(tables))
    for rank in range(len(reached)):
        bound = most(given_, reached[:rank])
        for placed in tables:
            if all(a >= b for a, b in zip(placed[:rank], reached[:rank], strict=True)):
                assert placed[rank] <= bound


@settings(max_examples=60)
@given(pinned(), st.data())
def test_prices_of_room_never_say_more(given_: Stock, data: st.DataObject) -> None:
    reached = data.draw(st.sampled_from([given_.placed(table) for table in legal(given_)]))
    by_room = priced(pooled(given_)[0], reached).most
    assert all(most(given_, reached[:rank]) <= bound for rank, bound in enumerate(by_room))


def test_no_pod_is_split_between_nodes() -> None:
    assert priced(pooled(halves())[0]).most[0] == 3
    assert most(halves(), ()) == 2


def test_what_is_placed_above_takes_its_room() -> None:
    # 16 in all, and 10 of them are taken; four are left over by pods of 3 and 5 together.
    three = stock([[5], [3]], [[8], [8]], [2, 4], [0, 1])
    assert most(three, (2,)) == 2
    assert most(three, (0,)) == 4


def test_without_time_sums_hold() -> None:
    assert most(halves(), (), 0.0) == 3


def test_a_question_is_answered_better_when_it_is_asked_again() -> None:
    bounds = PatternBounds(halves())
    assert bounds.most((), 0.0, math.inf)[0] == 3
    assert bounds.most((), 5.0, math.inf)[0] == 2
    assert bounds.most((), 0.0, math.inf)[0] == 2


def test_after_the_time_of_a_user_nothing_is_begun() -> None:
    assert PatternBounds(halves()).most((), 5.0, -math.inf)[0] == 3


def test_nodes_of_many_kinds_are_bounded_by_sums_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "PATTERN_KINDS", 0)
    assert most(halves(), ()) == 3


def test_a_node_that_holds_less_than_it_could_is_filled_badly() -> None:
    # A 5 and a 3 are worth what a node of 8 can earn.
    prices = PatternPrices(0, np.array([0.6, 0.4]), np.full(3, 1.0))
    waste = prices.waste(np.array([[1, 0, 1], [1, 2, 0]]))
    assert waste.round(3).tolist() == [0.0, 0.2, 0.4]


def test_pods_that_are_left_alone_stay_in_the_sums_of_their_nodes() -> None:
    whole = replace(halves(), now=np.array([[1, 0], [0, 0], [0, 2]]))
    part = replace(halves(), groups=(2,), now=np.array([[0, 2]]))
    prices = PatternPrices(0, np.array([1.0, 1.2, 0.2]), np.array([1.6, 1.6]))
    staying = prices.without(whole, part)
    assert staying.pods.tolist() == [0.2]
    assert staying.nodes.round(3).tolist() == [0.6, 1.6]
    assert staying.waste(np.array([[0, 2]])).round(3).tolist() == [0.6, 1.2]


@settings(max_examples=40)
@given(pinned())
def test_led_by_such_prices_a_packing_stays_legal_and_loses_nobody(given_: Stock) -> None:
    bounds = PatternBounds(given_)
    bounds.most((), 5.0, math.inf)
    search = Rearranging(given_, given_.now, 0, prices=bounds.prices(()))
    search.run(Budget(2.0, math.inf), lambda _: None)
    assert any((search.counts == table).all() for table in legal(given_))
    assert given_.placed(search.counts) >= given_.placed(given_.now)
