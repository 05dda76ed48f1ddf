"""Pods that could be elsewhere make way where others have few nodes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.solver import tuning
from planner.solver.packing.question import Stock
from planner.solver.packing.rearrange import Budget, Rearranging
from planner.solver.packing.visitors import without_visitors
from tests.solver.packing.test_packing import stock
from tests.solver.packing.test_rearranging import legal, pinned


def one_visitor() -> Stock:
    """The pinned 3 needs node 0; a 2 there may be anywhere, and the pinned 1 stays."""
    return replace(
        stock([[3], [2], [1]], [[4], [2]], [1, 1, 1], [0, 0, 0]),
        now=np.array([[0, 0], [1, 0], [1, 0]]),
        least=np.array([0, 1, 1]),
        landing=np.array([[True, False], [True, True], [True, False]]),
    )


@pytest.fixture
def _few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the nodes of the group itself are looked at, in a search of any length."""
    monkeypatch.setattr(tuning, "LONG_SEARCH", 0.0)
    monkeypatch.setattr(tuning, "COMPETED_FOR_NODES", 1)


@pytest.mark.usefixtures("_few_nodes")
def test_a_visitor_leaves_and_who_is_confined_there_stays() -> None:
    given_ = one_visitor()
    found = without_visitors(given_, given_.now, given_.landing, 0, 0)
    assert found.counts.tolist() == [[1, 0], [0, 0], [1, 0]]


def test_where_a_visitor_has_few_nodes_these_are_looked_at_as_well() -> None:
    given_ = one_visitor()
    found = without_visitors(given_, given_.now, given_.landing, 0, 0)
    assert found.counts.tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.usefixtures("_few_nodes")
def test_visitors_stay_where_there_is_room_for_them() -> None:
    given_ = replace(one_visitor(), room=np.array([[6], [2]]))
    found = without_visitors(given_, given_.now, given_.landing, 0, 0)
    assert found.counts.tolist() == [[1, 0], [1, 0], [1, 0]]


@settings(max_examples=40)
@given(pinned(), st.data())
def test_room_and_rules_hold_and_no_confined_pod_is_lost(
    given_: Stock, data: st.DataObject
) -> None:
    group = data.draw(st.sampled_from(range(len(given_.groups))))
    may_hold = given_.landing & (given_.size[:, None] <= given_.room[None]).all(axis=2)
    found = without_visitors(given_, given_.now, may_hold, group, 0).counts
    assert (found.T @ given_.size <= given_.room).all()
    assert not (found > np.where(given_.landing, found, given_.now)).any()
    confined = ~may_hold[:, ~may_hold[group]].any(axis=1)
    before, after = (counts[confined].sum(axis=1) for counts in (given_.now, found))
    assert (after >= np.minimum(before, given_.least[confined])).all()


def two_small_ones_in_the_way() -> Stock:
    """The pinned 4 needs node 0, where two of 2 run that have room on nodes 1 and 2 alone."""
    return replace(
        stock([[4], [2]], [[4], [2], [2]], [1, 2], [0, 0]),
        now=np.array([[0, 0, 0], [2, 0, 0]]),
        least=np.array([0, 2]),
        landing=np.array([[True, False, False], [True, True, True]]),
    )


def rearranging_by_visitors(given_: Stock, monkeypatch: pytest.MonkeyPatch) -> Rearranging:
    """Nothing but sending visitors away places more."""
    monkeypatch.setattr(tuning, "REFILL_WINDOWS", ((1, 0.05),))
    search = Rearranging(given_, given_.now, 0)
    search.run(Budget(1.0, math.inf), lambda _: None)
    return search


@pytest.mark.usefixtures("_few_nodes")
def test_who_is_sent_away_finds_another_node(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rearranging_by_visitors(two_small_ones_in_the_way(), monkeypatch)
    assert found.counts.tolist() == [[1, 0, 0], [0, 1, 1]]


@pytest.mark.usefixtures("_few_nodes")
def test_all_stays_where_a_visitor_would_lose_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = replace(two_small_ones_in_the_way(), room=np.array([[4], [2], [1]]))
    found = rearranging_by_visitors(given_, monkeypatch)
    assert any((found.counts == table).all() for table in legal(given_))
    assert found.counts.sum(axis=1).tolist() == [0, 2]


@pytest.mark.usefixtures("_few_nodes")
def test_an_interrupted_search_leaves_nobody_without_a_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_ = two_small_ones_in_the_way()
    search = Rearranging(given_, given_.now, 0)

    def interrupted(budget: Budget, *, thorough: bool) -> None:
        if (search.counts.sum(axis=1) < given_.least).any():
            raise KeyboardInterrupt

    monkeypatch.setattr(search, "_fill", interrupted)
    monkeypatch.setattr(tuning, "REFILL_WINDOWS", ((1, 0.05),))
    with pytest.raises(KeyboardInterrupt):
        search.run(Budget(5.0, math.inf), lambda _: None)
    assert (search.counts.sum(axis=1) >= given_.least).all()
