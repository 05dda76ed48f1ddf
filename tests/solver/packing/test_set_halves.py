"""Halves of sets of pods: sorted some at a time, they are in the order of a sort of them all."""

from __future__ import annotations

import numpy as np
import pytest

from planner.solver import tuning
from planner.solver.packing.set_halves import all_rests


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
def test_rests_are_in_the_order_of_what_they_request(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "RESTS_AT_ONCE", at_once)
    size = np.array([50, 50, 31, 30, 12, 7, 7]) << 4
    rests = all_rests(size, 3, 4)
    level = rests.sums >> 4
    assert rests.order.tolist() == np.argsort(level, kind="stable").tolist()
    assert rests.level.tolist() == level[rests.order].tolist()
