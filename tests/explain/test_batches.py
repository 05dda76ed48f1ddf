"""Several pods judged as a set."""

from __future__ import annotations

import pytest

from planner.cluster import Cluster
from planner.explain import competition
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.replay.steps import Step
from planner.replay.verify import check_steps
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain import situations
from tests.explain.situations import THREE_ZONES, nodes, requests, spread, workload
from tests.objects import cluster_of


def explained(cluster: Cluster, *names: str) -> Diagnosis:
    pods = [p for p in cluster.pending.tolist() if cluster.pods[p].labels.get("app") in names]
    return explain_pods(cluster, pods, default_profile(), ExplainOptions())


def steps_of(cluster: Cluster, found: Diagnosis) -> list[Step]:
    assert found.rearrangement is not None
    return [
        Step(step.action, cluster.pod_index[step.pod], cluster.node_index[step.node])
        for step in found.rearrangement.steps
        if step.pod is not None
    ]


def test_one_eviction_lets_both_replicas_run() -> None:
    cluster = situations.all_pending()
    found = explained(cluster, "web")
    assert found.verdict == "stuck"
    assert len(found.targets) == 2
    steps = steps_of(cluster, found)
    assert sum(step.action == "evict" for step in steps) == 1
    checked = check_steps(cluster, steps, default_profile())
    assert checked.good
    assert all(checked.after.node_of[cluster.pod_index[t]] >= 0 for t in found.targets)


def test_places_that_are_not_proven_to_be_all_are_not_called_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(competition, "most_of", lambda subject, demands: (2, None))
    found = explained(situations.competing(), "train", "render")
    assert "2 were found" in found.headline
    assert "whether more do is not known" in found.narrative[0]


def test_two_workloads_that_fit_alone_compete_for_the_last_room() -> None:
    found = explained(situations.competing(), "train", "render")
    assert found.verdict == "impossible"
    assert found.conflicts[0].minimal
    assert [fact.name for fact in found.conflicts[0].constraints] == ["train", "render", "CPU"]
    assert found.counting is not None
    assert found.counting.numbers == {"wanted": 6000, "free": 4500}
    assert [(s.alone, s.if_first) for s in found.shares] == [
        (2, {"deploy/train": 2, "deploy/render": 1}),
        (2, {"deploy/train": 1, "deploy/render": 2}),
    ]


def test_workloads_that_fit_together_are_schedulable() -> None:
    cluster = cluster_of(
        *nodes(THREE_ZONES),
        *workload("one", pending=2, spec=requests("1")),
        *workload("two", pending=2, spec=requests("1")),
    )
    found = explained(cluster, "one", "two")
    assert found.verdict == "schedulable"
    assert found.headline == "all 4 pods of one and two find a node together"


def test_one_replica_more_than_fits_is_told_by_the_one_left_over() -> None:
    body = {**requests("3"), "topologySpreadConstraints": [spread("web")]}
    zones = {"eu-1a": ["a1"], "eu-1b": ["b1"]}
    cluster = cluster_of(*nodes(zones), *workload("web", pending=3, spec=body))
    found = explained(cluster, "web")
    assert found.verdict == "impossible"
    assert found.headline.startswith("1 of 3 web pods can't run: every node is short")


def test_a_gated_pod_is_left_aside() -> None:
    cluster = situations.all_pending()
    found = explained(cluster, "ml")
    assert found.verdict == "gated"
    assert found.headline == "schedulingGates keep ml-00000 out of the queue: quota"


def test_evictions_for_one_pod_more_are_not_told_where_not_all_can_run() -> None:
    cluster = cluster_of(
        *nodes({"a": ["n1", "n2"]}),
        *workload("batch", ["n1", "n1"], spec=requests("1")),
        *workload("web", pending=3, spec=requests("3")),
    )
    found = explained(cluster, "web")
    assert found.verdict == "impossible"
    assert "can't run: every node is short of CPU" in found.headline
    assert found.rearrangement is None
    assert all(repair.kind != "movePods" for repair in found.repairs)
