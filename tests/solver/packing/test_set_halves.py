"""Halves of sets of pods: sorted some at a time, they are in the order of a sort of them all."""

from __future__ import annotations

import numpy as np
import pytest

from planner.solver import tuning
from planner.solver.packing.set_halves import Side, all_rests


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
def test_rests_are_in_the_order_of_what_they_request(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "RESTS_AT_ONCE", at_once)
    size = np.array([50, 50, 31, 30, 12, 7, 7]) << 4
    rests = all_rests(size, 3, 4)
    level = rests.sums >> 4
    assert rests.order.tolist() == np.argsort(level, kind="stable").tolist()
    top = tuning.HALF_LEVELS + 2
    assert rests.below.tolist() == [int((level < each).sum()) for each in range(top)]


@pytest.mark.parametrize("larger", [False, True])
def test_halves_of_a_range_are_the_same_however_many_ranges_are_kept(
    larger: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "HALF_GROUPS", 3)
    tight = np.array([50, 50, 31, 30, 12, 7, 7])
    size = tight << 4
    low = np.array([0, 40, 75, 90, 110, 130, 160])
    found = []
    for ranges in (1, 2, 1_000):
        monkeypatch.setattr(tuning, "RANGES_AT_ONCE", ranges)
        side = Side(all_rests(size, 2, 4), size, tight, np.full(7, 90), larger=larger)
        many = side.cut(low, np.append(low[1:] - 1, 200))
        sums = [side.sums(at) for at in range(len(low))]
        assert list(map(len, sums)) == many.tolist()
        for at, each in enumerate(sums):
            side.sums(at)
            members = side.members(at, np.arange(len(each)))
            assert size[members].sum(axis=1).tolist() == each.tolist()
        found.append([each.tolist() for each in sums])
    assert any(found[0])
    assert found[0] == found[1] == found[2]
