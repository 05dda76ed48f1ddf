from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.solver.large.covers import fewest

Amounts = tuple[int, int, int]
amounts = st.tuples(*(st.integers(0, 9) for _ in range(3)))


def by_trying(pods: list[Amounts], short: Amounts) -> int | None:
    """The size of the smallest set whose sum covers the shortage."""
    for size in range(len(pods) + 1):
        for chosen in combinations(pods, size):
            if all(sum(pod[r] for pod in chosen) >= short[r] for r in range(3)):
                return size
    return None


@given(st.lists(amounts, max_size=9), st.tuples(*(st.integers(-3, 30) for _ in range(3))))
def test_a_shortage_is_covered_by_as_few_pods_as_any_set_takes(
    pods: list[Amounts], short: Amounts
) -> None:
    request = np.array(pods, np.int64).reshape(-1, 3)
    found = fewest(request, np.array(short))
    expected = by_trying(pods, short)
    assert len(set(found)) == len(found) == (expected or 0)
    if expected is not None:
        assert (request[found].sum(axis=0) >= short).all()


def test_what_helps_most_at_first_is_not_always_in_the_smallest_set() -> None:
    pods = np.array([[6, 6], [9, 0], [9, 0], [0, 9], [0, 9], [1, 1]])
    assert sorted(fewest(pods, np.array([18, 18]))) == [1, 2, 3, 4]
