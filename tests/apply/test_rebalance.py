"""Plans of `solve --rebalance`: carried out where cordons can steer them, otherwise refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cluster import build_cluster
from planner.documents.plan import make_plan
from planner.errors import RefusedError
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner.sources.live.snapshot import read_snapshot
from planner_models.plan import Plan
from tests.apply.applying import POLICY, Applying, identified
from tests.apply.world_api import InProcess, WorldApi, example_api
from tests.world.random_worlds import random_world


def rebalance(api: WorldApi) -> Plan:
    read = read_snapshot(InProcess(api))
    options = SolveOptions(rebalance=True, policy=POLICY, hops=False, time_limit=5.0)
    found = make_plan(build_cluster(read.inventory), options, default_profile())
    return identified(found.model_copy(update={"source": read.source}))


def test_a_rebalance_that_kube_scheduler_follows_is_carried_out(tmp_path: Path) -> None:
    api = example_api()
    plan = rebalance(api)
    applying = Applying(api, plan, tmp_path)
    report = applying.run()
    assert report.result == "done", report.reason
    assert (report.evicted, report.excess_after) == (plan.evictions, plan.excess_after)
    for change in plan.workloads:
        if change.moved:
            assert _counts(api, change.workload) == list(change.after)
    assert api.marked() == []


def _counts(api: WorldApi, workload: str) -> list[int]:
    app = workload.partition("/")[2]
    zones = {n["metadata"]["name"]: n["metadata"]["labels"] for n in api.world.nodes}
    found = [
        zones[pod["spec"]["nodeName"]]["topology.kubernetes.io/zone"]
        for pod in api.world.pods
        if pod["metadata"]["labels"].get("app") == app
    ]
    return [found.count(zone) for zone in ("eu-1a", "eu-1b", "eu-1c")]


def test_a_rebalance_is_resumed_with_the_cordons_that_were_found(tmp_path: Path) -> None:
    api = example_api()
    applying = Applying(api, rebalance(api), tmp_path)
    first = applying.run(last_wave=1)
    report = applying.run()
    assert (first.result, report.result) == ("done", "done")
    assert sorted(api.evicted) == sorted(set(api.evicted))
    assert report.excess_after == 0


def test_a_rebalance_that_cordons_can_not_steer_is_refused(tmp_path: Path) -> None:
    api = WorldApi(random_world(59), 59)
    with pytest.raises(RefusedError) as caught:
        Applying(api, rebalance(api), tmp_path).run()
    assert caught.value.message == "kube-scheduler would not carry out this plan"
    assert "Cordons that prevent it: none within 1 node at once (10 %)." in str(caught.value.detail)
    assert api.evicted == []


def test_a_rebalance_that_cordons_can_steer_is_carried_out_under_them(tmp_path: Path) -> None:
    api = WorldApi(random_world(7), 7)
    applying = Applying(api, rebalance(api), tmp_path)
    assert applying.run().result == "done"
    assert [each.node for each in applying.events("cordoned")] == ["n2"]
    assert applying.starts[0].waves[0].cordon == ("n2",)
    assert api.marked() == []


@pytest.mark.parametrize("word", ["relax", "preempt"])
def test_plans_that_kube_scheduler_can_not_follow_are_refused(tmp_path: Path, word: str) -> None:
    api = example_api()
    plan = rebalance(api)
    options = plan.options.model_copy(update={word: True})
    other = identified(plan.model_copy(update={"options": options}))
    with pytest.raises(RefusedError, match=f"was made with --{word}"):
        Applying(api, other, tmp_path).run()
