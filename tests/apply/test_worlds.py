"""Whatever happens between plan and apply is noticed, or does no harm.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 300 random worlds, each under a drift before it begins or
while it is under way; usually it is those of a few.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from planner.cluster import build_cluster
from planner.replay import total, violations
from planner.scheduler.profile import default_profile
from planner.sources.live.snapshot import read_snapshot
from tests.apply.applying import Applying, plan_for
from tests.apply.drifts import DRIFTS
from tests.apply.world_api import InProcess, WorldApi
from tests.world.random_worlds import random_world

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
POSSIBLE = (7, 8, 10, 14, 22, 41, 45, 59, 61, 68, 70, 73, 94)
"""Worlds with a plan that always ends well."""
WORLDS = range(300) if LONG else POSSIBLE
NAMES = tuple(DRIFTS)


@pytest.mark.parametrize("number", WORLDS)
def test_apply_ends_as_promised_or_stops_in_time(number: int, tmp_path: Path) -> None:
    """Before it begins for even numbers, while it is under way for odd ones."""
    api = WorldApi(random_world(number), number)
    plan = plan_for(api, seeds=None if LONG else 6)
    if not plan.evictions or not plan.converges:
        assert LONG, "worlds of the usual run have a plan"
        return
    draw = random.Random(number)
    name = NAMES[number % len(NAMES)]

    happened: list[float] = []

    def happens(api: WorldApi) -> None:
        DRIFTS[name](draw, api)
        api.sync()
        happened.append(api.now)

    if number // len(NAMES) % 2:
        api.at.append((draw.choice((2.0, 5.0, 9.0)), happens))
    else:
        happens(api)
        api.settle()
    waited = len(api.world.waiting())
    applying = Applying(api, plan, tmp_path)
    report = applying.run(wave_timeout=120)
    assert report.result in ("done", "stopped"), report.reason
    assert api.broken_budgets == [], name
    assert api.marked() == [], name
    assert len(api.evicted) == len(set(api.evicted)) == report.evicted
    if report.result == "done":
        assert len(api.world.waiting()) <= max(waited, plan.after.pending)
        assert _excess(api) <= plan.after.excess, name
    elif not applying.events("evicted"):
        assert report.evicted == 0
    if any("can't be placed" in line for line in report.reason):
        assert api.evicted_last <= min(happened), "a stop would have spared it"
    if name == "nothing":
        assert report.result == "done", report.reason


def _excess(api: WorldApi) -> int:
    cluster = build_cluster(read_snapshot(InProcess(api)).inventory)
    return total(violations(cluster, default_profile()))


def test_after_a_pod_that_waits_nothing_more_is_evicted(tmp_path: Path) -> None:
    """A stop spares the pods of later waves: no eviction follows a pod that is stuck."""
    from tests.apply.world_api import example_api

    api = example_api()
    plan = plan_for(api, seeds=2)
    draw = random.Random(1)

    def zone_lost(api: WorldApi) -> None:
        for node in api.world.nodes:
            if node["metadata"]["name"].startswith("c"):
                node["spec"]["taints"] = [{"key": "gone", "effect": "NoSchedule"}]
        DRIFTS["nothing"](draw, api)

    api.at.append((12.0, zone_lost))
    report = Applying(api, plan, tmp_path).run()
    assert report.result == "stopped"
    done = {each.wave for each in report.evictions if each.outcome == "evicted"}
    left = {each.wave for each in report.evictions if each.outcome == "left"}
    assert max(done) < min(left)
    assert len(report.waiting) <= sum(e.wave == max(done) for e in plan.evictions)
