"""Which pods to place, nodes left aside, against all choices."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings

from planner.cluster.topology import IntArray
from planner.solver.packing.choose_pods import none_fits, roomiest
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import ceiling
from tests.solver.packing.test_packing import few_nodes, stock


def _choices(given_: Stock, goals: tuple[int, ...]) -> list[IntArray]:
    """All ways to take so many of each priority, with those that have to stay."""
    ranges = zip(given_.least.tolist(), given_.total.tolist(), strict=True)
    every = (np.array(each) for each in product(*(range(low, high + 1) for low, high in ranges)))
    return [each for each in every if given_.placed(each[:, None]) == goals]


def _goals(given_: Stock) -> list[tuple[int, ...]]:
    every, kept = given_.placed(given_.total[:, None]), given_.placed(given_.least[:, None])
    return list(product(*(range(low, high + 1) for low, high in zip(kept, every, strict=True))))


def _left(given_: Stock, take: IntArray) -> float:
    together = given_.room.sum(axis=0)
    return float(((together - take @ given_.size) / together).min())


@settings(max_examples=60, deadline=None)
@given(few_nodes())
def test_no_other_choice_leaves_more_room(given_: Stock) -> None:
    for goals in _goals(given_):
        take = roomiest(given_, goals)
        choices = _choices(given_, goals)
        assert take.tolist() in [each.tolist() for each in choices]
        assert _left(given_, take) >= max(_left(given_, each) for each in choices) - 1e-6


@settings(max_examples=60, deadline=None)
@given(few_nodes())
def test_none_is_said_to_fit_only_if_none_does(given_: Stock) -> None:
    for goals in _goals(given_):
        fits = any(_left(given_, each) >= 0 for each in _choices(given_, goals))
        assert not (fits and none_fits(given_, goals))


def test_no_three_fit_although_every_mixture_would_allow_them() -> None:
    # Two of the one kind and one of the other need 13 of a resource, and both halves 10.5 each.
    given_ = stock([[6, 1], [1, 6]], [[12, 12]], [3, 3], [0, 0])
    assert ceiling(given_, (), 0) == 3
    assert none_fits(given_, (3,))
    assert not none_fits(given_, (2,))
    assert roomiest(given_, (2,)).tolist() == [1, 1]
