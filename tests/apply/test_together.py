"""Two at once, a lock that is lost, a login that expires, Ctrl-C, and cordons that are left."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.apply.door import Asked, Hooks, undo_plan
from planner.apply.lease import LockedError
from planner.errors import PlannerError, RefusedError
from planner.scheduler.profile import default_profile
from planner_models.apply_report import ApplyEntry
from tests.apply.applying import Applying, drain_for, identified, plan_for
from tests.apply.world_api import InProcess, WorldApi, example_api
from tests.live.fake_api import Fault, Request
from tests.world.random_worlds import random_world

PLAN = plan_for(example_api(), seeds=2)


@pytest.fixture
def applying(tmp_path: Path) -> Applying:
    return Applying(example_api(), PLAN, tmp_path)


def test_a_second_one_is_kept_off_by_the_journal_and_by_the_lock(applying: Applying) -> None:
    """The same plan on this machine, and the same plan with another journal."""
    refused: list[PlannerError] = []

    def second(entry: ApplyEntry) -> None:
        if entry.event != "evicted" or refused:
            return
        other = Applying(applying.api, PLAN, applying.folder)
        for journal in (applying.journal, applying.folder / "other"):
            with pytest.raises(PlannerError) as caught:
                other.run(journal=journal)
            refused.append(caught.value)

    assert applying.run(second).result == "done"
    assert "another planner apply is at work with" in refused[0].message
    assert isinstance(refused[1], LockedError)
    assert len(applying.api.evicted) == len(PLAN.evictions)


def test_a_lock_that_is_lost_ends_it_before_the_next_eviction(applying: Applying) -> None:
    api = applying.api

    def taken(entry: ApplyEntry) -> None:
        if entry.event == "waveDone":
            found = api.found("leases", "kube-system/planner")
            assert found is not None
            spec = {**found["spec"], "holderIdentity": "bob@desk_1"}
            api.put({**found, "kind": "Lease", "spec": spec})
            api.sleep(20)

    report = applying.run(taken)
    assert report.result == "failed"
    assert report.reason == ("the lock kube-system/planner is lost", "bob@desk_1 holds it now")
    assert len(api.evicted) == 7
    assert api.marked() == []


def test_a_login_that_expires_is_made_anew(applying: Applying) -> None:
    """401 once, then the new token counts; 401 again is an error."""
    api = applying.api
    expired = iter([True])

    def expire(request: Request) -> Fault | None:
        posted = request.method == "POST" and "dryRun" not in request.query
        if posted and "eviction" in request.path and next(expired, False):
            api.tokens = {str(int(request.headers["Authorization"].split()[1]) + 1)}
        return None

    api.faults.append(expire)
    assert applying.run(last_wave=1).result == "done"
    api.tokens = {"nobody"}
    with pytest.raises(PlannerError, match="doesn't accept your login"):
        applying.run()


def test_ctrl_c_ends_it_with_nothing_cordoned_and_the_same_call_goes_on(tmp_path: Path) -> None:
    api = WorldApi(random_world(59), 59)
    applying = Applying(api, plan_for(api, seeds=4), tmp_path)
    pressed = [False]

    def press(entry: ApplyEntry) -> None:
        pressed[0] |= entry.event == "cordoned"

    report = applying.run(press, interrupted=lambda: pressed[0])
    assert (report.result, report.lifted) == ("interrupted", ("n1",))
    assert (api.marked(), len(api.evicted)) == ([], 1)
    assert applying.run().result == "done"
    assert len(api.evicted) == len(set(api.evicted)) == 2


def test_undo_lifts_the_cordons_of_the_plan_and_no_others(tmp_path: Path) -> None:
    api = example_api("zone-outage-before")
    plan = drain_for(api, "b1")
    applying = Applying(api, plan, tmp_path)
    assert applying.run().result == "done"
    api.world.cordon("a1", on=True)
    api.sync()
    assert sorted(api.cordoned()) == ["a1", "b1"]
    asked = Asked("plan.json", tmp_path / "none")
    hooks = Hooks(lambda _: default_profile(), lambda _: True, clock=api.clock())
    report = undo_plan(InProcess(api), plan, asked, hooks)
    assert (report.result, report.lifted) == ("undone", ("b1",))
    assert api.cordoned() == ["a1"]


def test_a_node_that_somebody_else_has_cordoned_stays_so(tmp_path: Path) -> None:
    api = example_api("zone-outage-before")
    api.world.cordon("b1", on=True)
    api.settle()
    report = Applying(api, drain_for(api, "b1"), tmp_path).run()
    assert report.result == "done"
    assert (api.cordoned(), api.marked()) == (["b1"], [])


def test_a_new_plan_within_the_approved_evictions_goes_on(tmp_path: Path) -> None:
    """A pod of the plan is gone before its wave; with --replan the rest is planned anew."""
    gone = next(each for each in PLAN.evictions if each.wave == 3)

    def lose(api: WorldApi) -> None:
        found = [p for p in api.world.pods if p["metadata"]["uid"] == gone.uid]
        for pod in found:
            api.world.pods.remove(pod)
        api.settle()

    for replan in (False, True):
        api = example_api()
        folder = tmp_path / str(replan)
        folder.mkdir()
        api.at.append((3.0, lose))
        report = Applying(api, PLAN, folder).run(replan=replan)
        assert report.result == ("done" if replan else "stopped"), report.reason
        assert (report.excess_after == 0) is replan
        assert len(api.evicted) <= len(PLAN.evictions)
        assert api.broken_budgets == []


def test_a_plan_that_does_not_always_end_well_is_planned_anew_after_each_wave(
    tmp_path: Path,
) -> None:
    """It is refused without --replan, and never makes anything worse with it."""
    api = example_api()
    unsure = identified(PLAN.model_copy(update={"converges": False}))
    with pytest.raises(RefusedError, match="does not always end as planned"):
        Applying(api, unsure, tmp_path).run()
    applying = Applying(api, unsure, tmp_path)
    report = applying.run(replan=True)
    assert (report.result, report.excess_after) == ("done", 0)
    assert len(applying.events("replanned")) >= 1
    assert len(api.evicted) <= len(PLAN.evictions)


def test_an_unchanged_cluster_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan's own trials were about this very state."""

    def tried(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("planner.apply.preconditions.replay_rest", tried)
    api = example_api()
    applying = Applying(api, plan_for(api, seeds=2), tmp_path)
    assert applying.run(dry_run=True).result == "dryRun"
    pod = next(each for each in api.world.pods if each["spec"].get("nodeName"))
    pod["ready"] = False
    api.sync()
    with pytest.raises(AssertionError):
        applying.run(dry_run=True)


def test_owners_are_told_by_events(applying: Applying) -> None:
    report = applying.run(last_wave=1)
    told = [e for e in applying.api.all_of("events") if e["reason"] == "EvictedByPlanner"]
    pods = [each["regarding"]["name"] for each in told if each["regarding"]["kind"] == "Pod"]
    assert sorted(pods) == sorted(e.pod[8:] for e in PLAN.evictions if e.wave == 1)
    workloads = {each["regarding"]["name"] for each in told} - set(pods)
    assert workloads == {"api", "auth", "cart", "search", "web"}
    assert {each["note"].endswith(f"(plan {report.plan_id})") for each in told} == {True}


def test_who_may_not_write_events_goes_without(applying: Applying) -> None:
    applying.api.forbidden.add("events")
    assert applying.run(last_wave=1).result == "done"
    assert applying.api.all_of("events") == []
