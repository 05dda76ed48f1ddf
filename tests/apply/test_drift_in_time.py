"""Whatever changes before an eviction is noticed in time, also late and in the middle of a wave."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from planner_models.apply_report import ApplyStart
from tests.apply.applying import Applying, plan_for
from tests.apply.drifts import scaled
from tests.apply.world_api import WorldApi, example_api
from tests.live.fake_api import Fault
from tests.world.random_worlds import random_world

PLAN = plan_for(example_api(), seeds=2)


def zone_lost(api: WorldApi) -> None:
    for node in api.world.nodes:
        if node["metadata"]["name"].startswith("c"):
            node["spec"]["taints"] = [{"key": "gone", "effect": "NoSchedule"}]
    api.sync()


def test_room_for_pods_that_are_not_made_yet_is_not_free(tmp_path: Path) -> None:
    """A StatefulSet wants one pod more, and its controller has not made it when wave 2 begins."""
    api = WorldApi(random_world(192), 192)
    draw = random.Random(192)
    api.at.append((draw.choice((2.0, 5.0, 9.0)), lambda api: scaled(draw, api)))
    applying = Applying(api, plan_for(api), tmp_path)
    report = applying.run()
    assert (report.result, report.evicted, report.waiting) == ("stopped", 1, ())
    assert [each.text for each in applying.events("waits")] == ["sts/w0 lacks 1 pod"]


def test_a_controller_that_makes_no_pods_is_not_waited_for_without_end(tmp_path: Path) -> None:
    """As under a quota: half a minute, and then what is there counts."""
    api = example_api()
    for each in api.world.workloads:
        if each["kind"] == "Deployment" and each["metadata"]["name"] == "web":
            each["spec"]["replicas"] = 40
    api.world.controllers = tuple(c for c in api.world.controllers if c.__name__ != "deployments")
    api.sync()
    plan = plan_for(api, seeds=2)
    api.world.nodes[0]["metadata"]["labels"]["new"] = "label"  # so that it is tried again
    api.sync()
    applying = Applying(api, plan, tmp_path)
    assert applying.run(dry_run=True).result == "dryRun"
    assert [each.seconds for each in applying.events("waits")][-1:] in ([], [25])


def test_what_changes_while_somebody_thinks_about_it_is_noticed(tmp_path: Path) -> None:
    api = example_api()
    applying = Applying(api, PLAN, tmp_path)

    class Slow(list[ApplyStart]):
        def append(self, start: ApplyStart) -> None:
            super().append(start)
            zone_lost(api)
            api.sleep(60)

    applying.starts = Slow()
    report = applying.run()
    assert (report.result, report.before, api.evicted) == ("stopped", True, [])
    assert report.reason[0] == "the plan no longer holds."


def test_a_wave_that_takes_long_ends_when_it_no_longer_holds(tmp_path: Path) -> None:
    """The server puts the third eviction off for 40 seconds, in which a zone is lost."""
    api = example_api()
    third = [each for each in PLAN.evictions if each.wave == 1][2]
    since: list[float] = []

    def busy(request: Any) -> Fault | None:
        if "eviction" not in request.path or len(api.evicted) < 2:
            return None
        if not since:
            since.append(api.now)
            zone_lost(api)
        if third.pod.rpartition("/")[2] in request.path and api.now - since[0] < 40:
            return Fault(429, "TooManyRequests")
        return None

    api.faults.append(busy)
    report = Applying(api, PLAN, tmp_path).run()
    assert (report.result, report.wave, report.before) == ("stopped", 1, None)
    assert (report.evicted, report.reason[0]) == (3, "the plan no longer holds.")
