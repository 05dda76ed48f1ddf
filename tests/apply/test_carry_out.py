"""A plan carried out in a small Kubernetes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apply.applying import Applying, plan_for
from tests.apply.world_api import WorldApi
from tests.world.random_worlds import random_world


def first_that_converges(start: int = 0) -> tuple[int, WorldApi]:
    for number in range(start, 300):
        world = random_world(number)
        api = WorldApi(world, number)
        plan = plan_for(api)
        if plan.evictions and plan.converges:
            return number, api
    raise AssertionError


@pytest.mark.parametrize("start", [0, 20, 40, 60, 80])
def test_a_plan_ends_as_promised(tmp_path: Path, start: int) -> None:
    _, api = first_that_converges(start)
    plan = plan_for(api)
    report = Applying(api, plan, tmp_path).run()
    assert report.result == "done"
    assert report.excess_after <= plan.after.excess
    assert api.broken_budgets == []
    assert api.marked() == []
