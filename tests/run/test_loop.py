"""`planner run`, round after round, on the fake API server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.errors import PlannerError
from planner.run.child import Ended, Tick
from planner.run.policy import Overrides
from tests.live.fake_api import Fault, always
from tests.objects import pod
from tests.run.world import OWN, World, not_ready, planner_on, report, world

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
APPLY = Overrides(mode="Apply")
OWN_WRITES = re.compile(
    rf"(POST|PATCH) (/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases(/planner-run)?"
    rf"|/api/v1/namespaces/{OWN}/configmaps(/planner-state)?"
    r"|/apis/events.k8s.io/v1/namespaces/[^/]+/events)"
)


@pytest.fixture
def dry(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        yield found


@pytest.fixture
def applying(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, overrides=APPLY) as found:
        found.answers["apply"] = as_promised
        yield found


def as_promised(words: Sequence[str], tick: Tick) -> Ended:
    return Ended(0, report(json.loads(Path(words[1]).read_text())), "", 3.0)


def elsewhere(workload: str) -> Any:
    """A pod of this workload comes back somewhere else, and apply stops."""

    def child(words: Sequence[str], tick: Tick) -> Ended:
        plan = json.loads(Path(words[1]).read_text())
        found = json.loads(report(plan, result="stopped", reason=["the plan no longer holds"]))
        of = {each["pod"]: each["workload"] for each in plan["evictions"]}
        for each in found["evictions"]:
            if of[each["pod"]] == workload:
                each.update(landedOn="a4", asPromised=False)
        return Ended(3, json.dumps(found).encode(), "", 3.0)

    return child


def waiting_pod(world: World, name: str = "waits", since: str = "2026-05-01T11:00:00Z") -> None:
    made = pod(name, metadata={"creationTimestamp": since, "uid": f"uid-{name}"})
    made["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "900"}}}]
    world.api.put(made)


def test_what_is_said_is_what_the_design_promised(dry: World) -> None:
    def between(number: int) -> None:
        not_ready(dry.api, *(("c1", "c2", "c3", "c4") if number == 2 else ()))
        dry.policy("goals: [spreed]" if number == 3 else "")

    said = dry.rounds(3, between)
    assert said == (SNAPSHOTS / "run-dry-run.txt").read_text()


def test_a_dry_run_writes_nothing_but_its_lease_its_state_and_events(dry: World) -> None:
    waiting_pod(dry)
    dry.policy("pauseWhen: {pendingPods: 50%}")
    dry.rounds(3)
    written = [" ".join(each) for each in dry.written()]
    assert written
    assert [each for each in written if not OWN_WRITES.fullmatch(each)] == []
    assert {each["reason"] for each in dry.events()} == {"Explained"}


def test_rounds_begin_a_period_apart(dry: World) -> None:
    dry.rounds(3)
    starts = [each.started.timestamp() for each in dry.state().rounds]
    assert [later - starts[0] for later in starts] == pytest.approx([0, 300, 600], abs=2)


def test_what_was_done_outlives_the_process(dry: World) -> None:
    dry.rounds(2)
    again = dry.replica("planner-1")
    again.rounds(1)
    assert [each.number for each in again.state().rounds] == [1, 2, 3]


def test_a_broken_policy_is_no_policy_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("apiVersion: planner/v1\nkind: RunPolicy\ngoals: [x]\n")
    with pytest.raises(PlannerError) as caught, world(tmp_path):
        pass
    assert caught.value.field == "goals[0]"


def test_the_last_good_policy_is_the_one_that_plans_are_made_under(dry: World) -> None:
    def between(number: int) -> None:
        if number == 2:
            dry.policy("goals: [spreed]")

    dry.rounds(2, between)
    assert dry.value("planner_policy_valid") == 0
    assert dry.state().rounds[-1].planned == 10
    error = dry.state().policy_error
    assert error is not None
    assert "spreed" in error


def test_the_second_replica_stands_by_until_the_first_lets_go(dry: World) -> None:
    other = dry.replica("planner-1")
    dry.loop._take()
    assert not other.loop._turn()
    assert (other.health.ready, other.value("planner_leader")) == (True, 0)
    dry.loop._release()
    dry.clock.time += 10
    assert other.loop._turn()
    assert other.value("planner_leader") == 1


def test_the_second_replica_takes_over_from_one_that_died(dry: World) -> None:
    other = dry.replica("planner-1")
    dry.loop._take()
    dry.clock.time += 59
    assert not other.loop._turn()
    dry.clock.time += 10
    assert other.loop._turn()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("hours: [{days: [fri], from: '13:00', to: '14:00'}]", "outside of the policy's hours"),
        ("hours: [{days: [thu], from: '00:00', to: '24:00'}]", "outside of the policy's hours"),
        (
            "hours: [{from: '12:00', to: '13:00', timeZone: Asia/Tokyo}]",
            "outside of the policy's hours",
        ),
    ],
)
def test_outside_of_its_hours_nothing_is_planned(dry: World, policy: str, said: str) -> None:
    dry.policy(policy)
    assert f"round 1: paused: {said}" in dry.rounds(1)
    assert dry.calls == []
    assert dry.value("planner_rounds_total", result="paused") == 1


def test_many_waiting_pods_are_a_pause(dry: World) -> None:
    for number in range(6):
        waiting_pod(dry, f"waits-{number}", "2026-05-01T12:05:00Z")
    assert "paused: 6 of 57 pods wait for a node (10 %, pauseWhen 5 %)" in dry.rounds(1)


def test_gated_pods_are_no_outage(dry: World) -> None:
    for number in range(6):
        made = pod(f"gated-{number}", spec={"schedulingGates": [{"name": "quota"}]})
        dry.api.put(made)
    assert "paused" not in dry.rounds(1)


# What goes wrong in a child


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Ended(-9, b"", "", 1.0), "no plan: it was killed (SIGKILL; out of memory?)"),
        (Ended(-6, b"", "", 1.0), "no plan: it was killed (SIGABRT)"),
        (
            Ended(1, b"", "warning: x\nerror: there is not enough memory\n", 1.0),
            "not enough memory",
        ),
        (Ended(-2, b"", "", 1.0, "it took too long"), "no plan: it took too long"),
        (Ended(0, b"{", "", 1.0), "the plan can't be read"),
    ],
)
def test_a_child_that_fails_is_a_round_that_failed(dry: World, ended: Ended, words: str) -> None:
    dry.answers["evict"] = lambda *_: ended
    said = dry.rounds(2)
    assert words in said
    assert [each.result for each in dry.state().rounds] == ["failed", "failed"]
    assert dry.value("planner_rounds_total", result="failed") == 2
    assert not dry.health.ready


def test_a_server_that_does_not_answer_is_a_round_that_failed(
    dry: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.sources.live.requests.PAUSES", ())
    dry.api.faults.append(always("nodes", Fault(status=500, reason="InternalError")))
    assert "round 1: failed: InternalError by a test" in dry.rounds(1)


# Apply


def test_an_applied_round_tells_the_owners(applying: World) -> None:
    said = applying.rounds(1)
    assert "up to 10 evictions a round (mode: Apply); leader is planner-0" in said
    assert "round 1: evicts 10 of 12 (limit perRound 10) in 3 waves" in said
    assert "round 1: evicted 10 of 10, excess 27 -> 2" in said
    about = {(each["regarding"]["kind"], each["reason"]) for each in applying.events()}
    assert about == {("Pod", "EvictedByPlanner"), ("Deployment", "EvictedByPlanner")}
    note = next(e["note"] for e in applying.events() if e["regarding"]["kind"] == "Pod")
    assert re.fullmatch(
        r"\S+ was evicted from \w+: .* of .*; expected on c.* \(plan 5c1e09a4f2d7\)", note
    )
    assert applying.value("planner_landings_total", outcome="expected") == 10
    assert (
        applying.value(
            "planner_evictions_total", result="evicted", goal="spread", namespace="default"
        )
        == 10
    )


def test_a_workload_that_landed_elsewhere_is_left_alone_for_the_cooldown(applying: World) -> None:
    applying.answers["apply"] = elsewhere("deploy/api")
    applying.policy("limits: {perRound: 100, perNode: 100, perNamespace: 100}\nperiod: 1m")

    def between(number: int) -> None:
        if number == 2:
            applying.answers["apply"] = as_promised

    said = applying.rounds(2, between)
    line = "round 1: stopped: deploy/api landed elsewhere; left alone until 13:05 (cooldown 1h)"
    assert line in said
    assert applying.value("planner_suspended_workloads") == 1
    plans = [call for call in applying.calls if call[0] == "evict"]
    assert "default/deploy/api" not in plans[0]
    assert "default/deploy/api" in plans[1]
    reasons = [e["reason"] for e in applying.events() if e["regarding"]["name"] == "api"]
    assert {"NotLanded", "WorkloadSuspended"} <= set(reasons)


def test_the_second_miss_lasts_until_the_policy_changes(applying: World) -> None:
    applying.answers["apply"] = elsewhere("deploy/api")
    applying.policy("cooldown: 0s\nperiod: 10s")
    applying.rounds(2)
    (entry,) = applying.state().missed
    assert (entry.times, entry.until) == (2, None)
    applying.rounds(1)
    assert "default/deploy/api" in applying.calls[-2]
    applying.policy("cooldown: 0s\nperiod: 11s")
    applying.rounds(1)
    assert "default/deploy/api" not in [c for c in applying.calls if c[0] == "evict"][-1]


def test_beside_a_descheduler_apply_does_not_start(applying: World) -> None:
    applying.api.put(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "descheduler", "namespace": "kube-system"},
            "spec": {"renewTime": "2026-05-01T12:04:20.000000Z"},
        }
    )
    with pytest.raises(PlannerError) as caught:
        applying.loop.run()
    assert caught.value.render() == (
        "error: the descheduler is active (lease kube-system/descheduler, 40 s old)\n"
        "help: two of them undo each other; scale it to 0, or keep mode: DryRun"
    )
    assert not applying.written()


def test_a_descheduler_that_comes_later_is_a_pause(applying: World) -> None:
    def between(number: int) -> None:
        if number == 2:
            labels = {"app.kubernetes.io/name": "descheduler"}
            applying.api.put(pod("d", "a1", metadata={"labels": labels}))

    said = applying.rounds(2, between)
    assert "round 2: paused: the descheduler is active (pod default/d)" in said
    assert [call[0] for call in applying.calls] == ["evict", "apply"]


def test_who_loses_the_lease_before_an_eviction_evicts_nothing(applying: World) -> None:
    def stolen(words: Sequence[str], tick: Tick) -> Ended:
        lease = applying.api.found("leases", f"{OWN}/planner-run")
        assert lease is not None
        spec = {**lease["spec"], "holderIdentity": "planner-1_x"}
        applying.api.put({**lease, "kind": "Lease", "spec": spec})
        applying.clock.time += 20
        return planner_on(applying.api, words)

    applying.answers["evict"] = stolen
    said = applying.rounds(1)
    assert (
        "stopped before anything was evicted: the lock planner-system/planner-run is lost" in said
    )
    assert [call[0] for call in applying.calls] == ["evict"]


def test_who_loses_the_lease_meanwhile_stops_the_child(applying: World) -> None:
    def child(words: Sequence[str], tick: Tick) -> Ended:
        applying.api.faults.append(always("planner-run", Fault(status=403, reason="Forbidden")))
        applying.clock.time += 44
        assert tick() is None
        applying.clock.time += 2
        why = tick()
        assert why is not None
        plan = json.loads(Path(words[1]).read_text())
        return Ended(130, report(plan, result="interrupted"), "", 3.0, why)

    applying.answers["apply"] = child
    assert "round 1: stopped: the lock planner-system/planner-run is lost" in applying.rounds(1)


def test_planner_never_evicts_its_own_pods(dry: World) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "planner-77", "uid": "r"}
    dry.api.put(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": "planner-77",
                "namespace": OWN,
                "ownerReferences": [
                    {"kind": "Deployment", "name": "planner", "uid": "d", "controller": True}
                ],
            },
            "spec": {},
        }
    )
    meta = {"namespace": OWN, "ownerReferences": [{**owner, "controller": True}]}
    dry.api.put(pod("planner-0", "a1", metadata=meta))
    dry.rounds(1)
    words = dry.calls[0]
    assert words[words.index("--leave-alone") + 1] == f"{OWN}/deploy/planner"


def test_cordons_of_a_plan_that_was_killed_are_lifted_by_the_next_leader(
    applying: World,
) -> None:
    def killed(words: Sequence[str], tick: Tick) -> Ended:
        for name, mark in (("a1", "5c1e09a4f2d7/1"), ("a2", "other/1")):
            node = applying.api.found("nodes", f"/{name}")
            assert node is not None
            meta = {**node["metadata"], "annotations": {"planner/cordon": mark}}
            spec = {**node.get("spec", {}), "unschedulable": True}
            applying.api.put({**node, "kind": "Node", "metadata": meta, "spec": spec})
        return Ended(-9, b"", "", 3.0)

    applying.answers["evict"] = with_plan_id(applying)
    applying.answers["apply"] = killed
    applying.policy("cordons: true")
    assert "the plan was not carried out: it was killed (SIGKILL" in applying.rounds(1)
    other = applying.replica("planner-1")
    other.loop._take()
    assert "lifted cordons that plan 5c1e09a4f2d7 had left: a1\n" in other.log.getvalue()
    cordoned = [n for n in applying.api.all_of("nodes") if n.get("spec", {}).get("unschedulable")]
    assert [node["metadata"]["name"] for node in cordoned] == ["a2"]


def with_plan_id(world: World) -> Any:
    """Plans of a running cluster have an id."""

    def child(words: Sequence[str], tick: Tick) -> Ended:
        ended = planner_on(world.api, words)
        plan = {**json.loads(ended.output), "planId": "5c1e09a4f2d7"}
        return replace(ended, output=json.dumps(plan).encode())

    return child


# Pods that wait


def test_a_pod_that_waits_is_explained_once_in_15_minutes(dry: World) -> None:
    waiting_pod(dry)
    dry.policy("pauseWhen: {pendingPods: 50%}")
    dry.rounds(6)  # 25 minutes
    (first, second) = dry.events()
    note = first["note"]
    assert note + "\n" == (SNAPSHOTS / "run-explained.txt").read_text()
    assert first["regarding"]["uid"] == "uid-waits"
    assert second["note"] == note
    assert len([call for call in dry.calls if call[0] == "explain"]) == 2
    assert dry.value("planner_pending_pods", verdict="impossible") == 1


def test_a_pod_that_has_waited_too_shortly_is_not_explained(dry: World) -> None:
    waiting_pod(dry, since="2026-05-01T12:05:00Z")
    dry.policy("pauseWhen: {pendingPods: 50%}\nexplain: {pendingFor: 10m}")
    dry.rounds(2)
    assert dry.events() == []


def test_without_events_the_numbers_are_there_all_the_same(dry: World) -> None:
    waiting_pod(dry)
    dry.policy("pauseWhen: {pendingPods: 50%}\nexplain: {events: false}")
    dry.rounds(2)
    assert dry.events() == []
    assert dry.value("planner_pending_pods", verdict="impossible") == 1


def test_who_may_not_write_events_goes_on(dry: World) -> None:
    waiting_pod(dry)
    dry.policy("pauseWhen: {pendingPods: 50%}")
    dry.api.forbidden.add("events")
    said = dry.rounds(2)
    assert "no event on Pod default/waits: events is forbidden" in said
    assert "round 2: would evict" in said


# Once


@pytest.mark.parametrize(
    ("policy", "code"),
    [("", 3), ("limits: {perRound: 99, perNode: 99, perNamespace: 99}", 0)],
)
def test_once_ends_as_evict_does(dry: World, policy: str, code: int) -> None:
    dry.policy(policy)
    assert dry.loop.once() == code
    lease = dry.api.found("leases", f"{OWN}/planner-run")
    assert lease is not None
    assert "holderIdentity" not in lease["spec"]


def test_once_fails_if_somebody_else_runs(dry: World) -> None:
    dry.loop._take()
    other = dry.replica("planner-1")
    with pytest.raises(PlannerError, match="planner-0 holds the lock planner-system/planner-run"):
        other.loop.once()


def test_a_log_for_machines_is_one_object_a_line(tmp_path: Path) -> None:
    with world(tmp_path, log_format="json") as found:
        found.rounds(1)
        lines = [json.loads(line) for line in found.log.getvalue().splitlines()]
    assert lines[0]["msg"].startswith("dry run: ")
    assert lines[-1]["result"] == "done"
    assert lines[-1]["round"] == 1
    assert lines[-1]["time"].startswith("2026-05-01T12:05:")
