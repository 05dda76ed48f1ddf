"""Rounds in mode Apply on a small Kubernetes that is alive: controllers, scheduler, slow kubelets.

The children are `planner evict` and `planner apply` themselves, in this process.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from planner.cli import app
from planner.run.child import Ended, Tick
from planner.run.policy import Overrides
from tests.apply.world_api import InProcess, WorldApi, example_api
from tests.run.world import World
from tests.world.random_worlds import random_world

Make = Callable[[WorldApi], World]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def make(api: WorldApi) -> World:
        way = InProcess(api)
        monkeypatch.setattr("planner.sources.live.connect.connect", lambda *_: InProcess(api))
        monkeypatch.setattr("planner.apply.door.connect_to_write", lambda _: InProcess(api))
        monkeypatch.setattr("planner.apply.clock.Clock", lambda **_: api.clock())
        monkeypatch.setattr("planner.apply.lease.Lease.keep_renewing", lambda _: None)
        overrides = Overrides(mode="Apply")
        made = World(api, "", tmp_path, overrides=overrides, way=way, time=api.clock())
        made.answers = {"evict": in_process, "apply": in_process}
        return made

    return make


def in_process(words: Sequence[str], tick: Tick) -> Ended:
    printed, said = io.StringIO(), io.StringIO()
    more = ("--seeds", "3") if words[0] == "evict" else ()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = app.main([*words, *more])
    return Ended(code, printed.getvalue().encode(), said.getvalue(), 2.0)


def reasons(world: World) -> set[str]:
    return {each["reason"] for each in world.events()}


def test_a_zone_that_came_back_is_filled_again_within_the_limits(running: Make) -> None:
    world = running(example_api())
    said = world.rounds(3)
    api: Any = world.api
    assert "round 1: evicts 10 of 12 (limit perRound 10) in 3 waves" in said
    assert "round 1: evicted 10 of 10, excess 27 -> 2" in said
    assert "round 2: evicted 2 of 2, excess 2 -> 0" in said
    assert "round 3: nothing to do" in said
    assert api.broken_budgets == []
    assert len(set(api.evicted)) == len(api.evicted) == 12
    assert api.marked() == []
    assert [each.result for each in world.state().rounds] == ["done", "done", "nothing"]
    assert reasons(world) == {"EvictedByPlanner"}
    landed = [world.value("planner_landings_total", outcome=o) for o in ("expected", "elsewhere")]
    assert sum(filter(None, landed)) == 12
    assert world.state().missed == ()


def test_a_zone_that_is_lost_on_the_way_stops_the_round(running: Make) -> None:
    api = example_api()
    lost = ("c1", "c2", "c3", "c4")

    def outage(api: WorldApi) -> None:
        for name in lost:
            node = api.world.node(name)
            node["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
            key = "node.kubernetes.io/unreachable"
            node["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]

    api.at.append((4.0, outage))
    world = running(api)
    said = world.rounds(2)
    assert "round 1: stopped: " in said
    assert len(api.evicted) < 10
    assert "round 2: paused: 4 of 12 nodes are not ready (33 %, pauseWhen 20 %)" in said


def test_somebody_else_who_applies_is_waited_for(running: Make) -> None:
    world = running(example_api())
    world.api.put(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "planner", "namespace": "kube-system"},
            "spec": {
                "holderIdentity": "alice@laptop_1",
                "leaseDurationSeconds": 60,
                "renewTime": "2026-11-17T12:00:00.000000Z",
                "acquireTime": "2026-11-17T11:58:00.000000Z",
            },
        }
    )
    said = world.rounds(1)
    assert "round 1: failed: the plan was not carried out: alice@laptop holds the lock" in said
    assert world.state().missed == ()


LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
POSSIBLE = (7, 8, 10, 14, 41, 45, 61)
"""Worlds in which a round finds something to evict."""


@pytest.mark.parametrize("number", range(60) if LONG else POSSIBLE)
def test_rounds_in_random_worlds_break_no_budget_and_come_to_an_end(
    number: int, running: Make
) -> None:
    """Within the limits, never with more pods waiting, and never the same thing again and again."""
    api = WorldApi(random_world(number), number)
    world = running(api)
    world.policy(
        "pauseWhen: {notReadyNodes: 100%, pendingPods: 100%}\nperiod: 10s\n"
        "limits: {perRound: 3, perNode: 2, perNamespace: 3}"
    )
    waited = len(api.world.waiting())
    said = world.rounds(4)
    assert "failed" not in said, said
    assert api.broken_budgets == []
    assert api.marked() == []
    assert len(api.evicted) == len(set(api.evicted))
    records = world.state().rounds
    assert all((each.evicted or 0) <= 3 for each in records)
    if all(each.result != "stopped" for each in records):
        assert len(api.world.waiting()) <= waited
        excess = [each.excess for each in records if each.excess is not None]
        assert excess == sorted(excess, reverse=True)
    assert LONG or api.evicted
