from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from planner.explain.conflicts.conflict import minimal_hitting_sets


def naive(sets: set[int], bits: int) -> set[int]:
    """Every subset of the rules, smallest first, that meets all sets and contains no other one."""
    found: list[int] = []
    for size in range(bits + 1):
        for chosen in combinations(range(bits), size):
            mask = sum(1 << bit for bit in chosen)
            meets = all(mask & each for each in sets)
            if meets and not any(other & mask == other for other in found):
                found.append(mask)
    return set(found) if sets and 0 not in sets else set()


def test_two_rules_that_each_leave_what_the_other_refuses_are_one_conflict() -> None:
    assert minimal_hitting_sets([0b01, 0b10]) == ([0b11], True)


def test_a_rule_that_refuses_every_node_is_a_conflict_of_its_own() -> None:
    found, complete = minimal_hitting_sets([0b011, 0b001, 0b101])
    assert found == [0b001]
    assert complete


def test_a_node_that_nobody_refuses_leaves_no_conflict() -> None:
    assert minimal_hitting_sets([0b1, 0b0]) == ([], True)


@given(st.sets(st.integers(0, 63), max_size=8))
def test_berge_finds_what_trying_every_subset_finds(sets: set[int]) -> None:
    found, complete = minimal_hitting_sets(sets)
    assert complete
    assert set(found) == naive(sets, 6)
    assert found == sorted(found, key=lambda mask: (mask.bit_count(), mask))
