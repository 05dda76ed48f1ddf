"""Pods on their way out hold room until they are gone: whoever waits for it runs by itself."""

from __future__ import annotations

import pytest

from planner.cli import app
from planner.cluster import Cluster
from planner.documents.plan import make_plan
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods, explain_workloads
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.solver.problem.options import SolveOptions
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import requests, workload
from tests.objects import Json, cluster_of, merged, node, pod
from tests.reality.dumps import DATA, dump

DELETED = {"metadata": {"deletionTimestamp": "2026-11-17T10:00:00Z"}}


def explained(cluster: Cluster) -> Diagnosis:
    """Why the pods of `web` wait."""
    pending = cluster.pending.tolist()
    pods = [p for p in pending if cluster.workloads[int(cluster.group_of[p])].name == "web"]
    return explain_pods(cluster, pods, default_profile(), ExplainOptions())


def ending(objects: list[Json]) -> list[Json]:
    """Objects of a workload whose running pods are being deleted."""
    return [
        merged(each, DELETED) if each["kind"] == "Pod" and each["spec"].get("nodeName") else each
        for each in objects
    ]


def is_pod(each: Json) -> bool:
    """Without the controller nothing takes the place of a pod."""
    return bool(each["kind"] == "Pod")


@pytest.mark.parametrize(
    ("name", "pod"),
    [("live-terminating", "old-796f75bb5d-9fpt7"), ("term-room", "old-abc123-p0")],
)
def test_a_pod_waits_for_a_terminating_one_to_end(name: str, pod: str) -> None:
    found = explained(dump(name))
    assert found.verdict == "stuck"
    assert found.headline.endswith(f"waits for pod/{pod} to end")
    assert "no eviction is needed" in found.rearranging[0]
    assert found.rearrangement is None
    assert found.counting is None
    assert found.remedy == "waiting"


def test_the_room_of_a_terminating_pod_goes_to_the_one_that_is_nominated_for_it() -> None:
    """hi has preempted the pod that is ending; lo comes after it, and finds 1 CPU."""
    cluster = dump("nominated")
    hi, lo = (cluster.pod_index[f"default/{name}"] for name in ("hi", "lo"))
    first, second = (
        explain_pods(cluster, [pod], default_profile(), ExplainOptions()) for pod in (hi, lo)
    )
    assert (first.verdict, first.headline) == ("stuck", "hi waits for pod/dying to end")
    assert first.displaces == ()
    assert second.verdict == "impossible"
    assert second.narrative[0].startswith("hi on na counts as running")
    both = explain_workloads(cluster, [hi, lo], default_profile(), ExplainOptions())
    assert [part.verdict for part in both.parts] == ["stuck", "impossible"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["simulate"], "hi: waits for pod/dying to end"),
        (["solve"], "1 waiting pod counts as running"),
        (["solve", "--rebalance"], "1 waiting pod counts as running"),
    ],
)
def test_every_command_says_who_waits_for_whom(
    command: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main([*command, "-f", str(DATA / "nominated.json.gz")]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert told in text
    assert "lo no node has 2 CPU free" in text.replace(":", "")
    assert "drive" not in text


@pytest.mark.parametrize("reason", ["PreemptionByScheduler", "DeletionByTaintManager"])
def test_nobody_takes_a_node_that_is_promised_to_a_pod_which_preempted_others(reason: str) -> None:
    """2 CPU are free, but all 4 are promised to hi, which waits for a pod to end."""
    target = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    dying = pod("dying", "n1", spec=requests("2"), metadata=DELETED["metadata"])
    hi = pod("hi", spec={**requests("4"), "priority": 9}, status={"nominatedNodeName": "n1"})
    cluster = cluster_of(
        node("n1"),
        merged(dying, {"status": {"conditions": [target]}}),
        hi,
        pod("lo", spec=requests("2")),
    )
    lo = cluster.pod_index["default/lo"]
    results = {result.pod: result.node for result in simulate(cluster).results}
    assert results[lo] is None
    plan = make_plan(cluster, SolveOptions(), default_profile())
    assert plan.placements == ()
    assert [each.pod for each in plan.unplaced] == ["default/lo"]
    found = explain_pods(cluster, [lo], default_profile(), ExplainOptions())
    assert found.verdict == "impossible"


def test_the_end_of_a_pod_and_an_eviction_together_may_be_enough() -> None:
    old = [each for each in ending(workload("old", ["n1"], spec=requests("3"))) if is_pod(each)]
    found = explained(
        cluster_of(
            node("n1"),
            node("n2"),
            *old,
            *workload("kept", ["n1"], spec=requests("100m")),
            *workload("busy", ["n2"], spec=requests("2")),
            *workload("web", pending=1, spec=requests("4")),
        )
    )
    assert (found.verdict, found.remedy) == ("stuck", "waiting")
    assert "once it has ended 1 eviction makes it so" in found.rearranging[0]


def test_the_replacement_of_a_terminating_pod_may_take_its_room() -> None:
    found = explained(
        cluster_of(
            node("n1"),
            *ending(workload("old", ["n1"], spec={**requests("3"), "priority": 7})),
            *workload("web", pending=1, spec=requests("2")),
        )
    )
    assert found.verdict == "impossible"
    assert found.headline.startswith("deploy/web has no node beside the other pending pods")


def test_replicas_wait_for_all_the_pods_whose_room_they_need_and_for_no_other() -> None:
    found = explained(
        cluster_of(
            *(node(name) for name in ("n1", "n2", "n3")),
            *ending(workload("old", ["n1", "n2"], spec=requests("3"))),
            *workload("kept", ["n3"], spec=requests("3")),
            *ending(workload("small", ["n3"], spec=requests("100m"))),
            *workload("web", pending=2, spec=requests("2")),
        )
    )
    assert found.verdict == "stuck"
    assert "pod/old-7d9f-" in found.rearranging[0]
    assert "small" not in found.rearranging[0]


def test_the_end_of_a_pod_that_is_too_small_changes_nothing() -> None:
    found = explained(
        cluster_of(
            node("n1"),
            *ending(workload("old", ["n1"], spec=requests("1"))),
            *workload("web", pending=1, spec=requests("5")),
        )
    )
    assert found.verdict == "impossible"


def silent(name: str) -> Json:
    """A node whose kubelet is not heard of."""
    ready = {"type": "Ready", "status": "Unknown"}
    return node(name, status={"conditions": [ready]})


def test_a_node_that_does_not_answer_is_named_since_nobody_ends_pods_there() -> None:
    found = explained(
        cluster_of(
            silent("n1"),
            *ending(workload("old", ["n1"], spec=requests("3"))),
            *workload("web", pending=1, spec=requests("2")),
        )
    )
    assert found.verdict == "stuck"
    assert "But n1 is not ready" in found.rearranging[0]


def test_an_eviction_is_better_than_waiting_for_a_node_that_does_not_answer() -> None:
    found = explained(
        cluster_of(
            silent("n1"),
            node("n2"),
            node("n3"),
            *ending(workload("old", ["n1"], spec=requests("4"))),
            *workload("busy", ["n2"], spec=requests("2")),
            *workload("other", ["n3"], spec=requests("2")),
            *workload("web", pending=1, spec=requests("3")),
        )
    )
    assert found.verdict == "stuck"
    assert found.rearrangement is not None
