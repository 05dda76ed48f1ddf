from __future__ import annotations

from operator import le, lt

from hypothesis import given
from hypothesis import strategies as st

from planner.descheduler.strategies.go_sort import go_sorted

numbers = st.lists(st.integers(0, 30), max_size=200)


@given(numbers)
def test_with_a_sound_comparison_it_sorts(items: list[int]) -> None:
    assert go_sorted(items, lt) == sorted(items)


@given(st.integers(13, 300), st.integers(1, 40))
def test_long_patterns_are_sorted(length: int, period: int) -> None:
    saw = [i % period for i in range(length)]
    assert go_sorted(saw, lt) == sorted(saw)
    assert go_sorted(saw[::-1], lt) == sorted(saw)


@given(numbers)
def test_with_a_contradictory_comparison_nothing_is_lost(items: list[int]) -> None:
    assert sorted(go_sorted(items, lambda _, __: True)) == sorted(items)
    assert sorted(go_sorted(items, le)) == sorted(items)


def test_up_to_twelve_equal_items_are_reversed_if_each_is_less_than_the_others() -> None:
    names = [f"pod-{i}" for i in range(12)]
    assert go_sorted(names, lambda _, __: True) == names[::-1]


def test_up_to_twelve_equal_items_keep_their_order_if_none_is_less() -> None:
    items = [(i % 2, i) for i in range(12)]
    assert go_sorted(items, lambda one, other: one[0] < other[0]) == sorted(items)
