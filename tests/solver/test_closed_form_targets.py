from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.solver.problem.closed_form import IMPOSSIBLE, targets

Counts = tuple[int, ...]


def fewest(counts: Counts, fixed: Counts, forced: Counts, pending: int, skew: int) -> int | None:
    """By brute force: departures and landings per domain, no excess in the end."""
    best = None
    for out in product(*(range(e, c + 1) for c, e in zip(counts, forced, strict=True))):
        left = [c + f - o for c, f, o in zip(counts, fixed, out, strict=True)]
        for landed in _ways(sum(out) + pending, len(counts)):
            final = [x + y for x, y in zip(left, landed, strict=True)]
            if max(final) <= min(final) + skew and (best is None or sum(out) < best):
                best = sum(out)
    return best


def _ways(pods: int, domains: int) -> list[Counts]:
    return [way for way in product(range(pods + 1), repeat=domains) if sum(way) == pods]


@given(st.data())
def test_the_closed_form_is_what_brute_force_finds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    few = st.integers(0, 4)
    counts = tuple(data.draw(st.lists(few, min_size=size, max_size=size)))
    fixed = tuple(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    forced = tuple(min(c, data.draw(st.sampled_from((0, 0, 1)))) for c in counts)
    pending, skew = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 2))
    found = targets(
        np.array([counts]),
        np.array([fixed]),
        np.array([forced]),
        np.array([pending]),
        np.array([skew]),
    )
    expected = fewest(counts, fixed, forced, pending, skew)
    if expected is None:
        return
    assert found.moves[0] <= expected
    if not any(fixed):
        assert found.moves[0] == expected


def test_excess_that_nothing_can_remove_claims_nothing() -> None:
    found = targets(
        np.array([[0, 0]]), np.array([[5, 0]]), np.array([[0, 0]]), np.array([0]), np.array([1])
    )
    assert found.moves[0] == IMPOSSIBLE


def test_a_zone_that_came_back_empty_is_filled_from_the_others() -> None:
    found = targets(
        np.array([[6, 6, 0]]),
        np.zeros((1, 3), np.int64),
        np.zeros((1, 3), np.int64),
        np.array([0]),
        np.array([1]),
    )
    assert (found.moves.tolist(), found.low.tolist()) == ([4], [4])


def test_many_constraints_are_bounded_at_once() -> None:
    counts = np.array([[6, 6, 0], [2, 2, 2], [9, 0, 0]])
    none = np.zeros_like(counts)
    found = targets(counts, none, none, np.zeros(3, int), np.ones(3, int))
    assert found.moves.tolist() == [4, 0, 6]
