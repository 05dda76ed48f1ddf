"""Sets of pods that cost more than a sum: exactly those that all sets on a node say."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster.topology import IntArray
from planner.solver.packing.dear_sets import dear_sets

PLENTY = 10**9


@st.composite
def _priced(draw: st.DrawFn) -> tuple[IntArray, IntArray, IntArray, IntArray, int]:
    """Sizes, pods, room, prices and a sum."""
    groups = draw(st.integers(1, 5))
    amounts = st.lists(st.integers(0, 12), min_size=2, max_size=2)
    size = draw(st.lists(amounts, min_size=groups, max_size=groups))
    pods = draw(st.lists(st.integers(0, 3), min_size=groups, max_size=groups))
    price = draw(st.lists(st.integers(0, 30), min_size=groups, max_size=groups))
    room = draw(st.lists(st.integers(0, 30), min_size=2, max_size=2))
    tables = (np.array(each, np.int64) for each in (size, pods, room, price))
    return (*tables, draw(st.integers(0, 60)))  # type: ignore[return-value]  # four tables


@given(_priced())
def test_the_sets_are_those_of_brute_force(
    given_: tuple[IntArray, IntArray, IntArray, IntArray, int],
) -> None:
    size, pods, room, price, above = given_
    found = dear_sets(size, pods, room, price, above, PLENTY).members
    if found is None:
        assert ((size * 2**16 // np.maximum(room, 1)) @ [1, 1] == 0).any()
        return
    priced = np.where(price > 0, pods, 0).tolist()
    every = np.array(list(product(*(range(n + 1) for n in priced))), np.int64)
    fits = (every @ size <= room).all(axis=1)
    dear = every[fits & (every @ price > above)]
    counts = [np.bincount(row, minlength=len(size) + 1)[:-1] for row in found]
    assert sorted(map(tuple, counts)) == sorted(map(tuple, dear))


def test_with_too_little_work_nothing_is_said() -> None:
    size, pods, room = np.array([[1], [2]]), np.array([9, 9]), np.array([20])
    assert dear_sets(size, pods, room, np.array([1, 2]), 3, 10).members is None


def test_a_node_that_is_filled_by_nobody_dear_has_no_sets() -> None:
    size, pods, room = np.array([[6], [7]]), np.array([2, 2]), np.array([10])
    found = dear_sets(size, pods, room, np.array([6, 7]), 7, PLENTY)
    assert found.members is not None
    assert not len(found.members)
