from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.solver.large.room_by_evictions import DEPTH, NEVER, fronts_of

Pod = tuple[int, int]
amounts = st.integers(0, 9)
pods = st.lists(st.tuples(amounts, amounts), max_size=7)


def evictions(found: list[Pod], short: Pod) -> int:
    """By brute force: the smallest set whose sum covers the shortage."""
    for size in range(len(found) + 1):
        for chosen in combinations(found, size):
            if all(sum(p[r] for p in chosen) >= short[r] for r in range(2)):
                return size
    return NEVER


@given(pods, pods, st.tuples(st.integers(-3, 20), st.integers(-3, 20)))
def test_fronts_know_the_fewest_evictions_up_to_three_a_bound_beyond_and_all_when_asked(
    first: list[Pod], second: list[Pod], short: Pod
) -> None:
    node = np.array([0] * len(first) + [1] * len(second), np.int64)
    request = np.array([*first, *second], np.int64).reshape(-1, 2)
    fronts = fronts_of(2, node, request)
    found = fronts.evictions(np.array([0, 1]), np.array([short, short])).tolist()
    for i, (answer, given_pods) in enumerate(zip(found, (first, second), strict=True)):
        expected = evictions(given_pods, short)
        assert fronts.exactly(i, np.array(short)) == expected
        if expected <= DEPTH:
            assert answer == expected
        else:
            assert DEPTH < answer <= expected
