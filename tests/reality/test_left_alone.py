"""Pods that don't come back as they were, or that nobody lets go: left alone, with the reason."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import pytest

from planner.cli import app
from planner.disruption.movability import MovePolicy
from tests.objects import cluster_of
from tests.reality.dumps import (
    DATA,
    Json,
    changed,
    dump,
    evicted,
    evictions,
    loaded,
    moved,
    rebalanced,
)

LEFT_ALONE = [
    pytest.param(
        "live-job", "a Job counts a deleted pod as a failure", id="one-failed-pod-ends-it"
    ),
    pytest.param("job", "a Job counts a deleted pod as a failure", id="job-without-status"),
    pytest.param("live-unreachable", "its node is not ready", id="stay-terminating"),
    pytest.param("unreachable", "its node is not ready", id="stay-terminating-by-hand"),
    pytest.param("live-gates", "scheduling gates (example.com/quota)", id="gated-replacements"),
    pytest.param("gates", "scheduling gates", id="gated-replacements-by-hand"),
    pytest.param("live-ondelete", "from another revision", id="on-delete-brings-the-new-template"),
    pytest.param("ondelete", "from another revision", id="on-delete-by-hand"),
    pytest.param("template-nodename", "its template names the node na", id="pinned-by-template"),
    pytest.param("live-midrollout", "a rollout of deploy/web is under way", id="stuck-rollout"),
    pytest.param("midrollout", "a rollout of deploy/web is under way", id="rollout-by-hand"),
    pytest.param("taskrun", "--allow-owner TaskRun", id="nobody-restarts-a-taskrun"),
    pytest.param("pdb-crd", "--allow-owner StrimziPodSet", id="custom-controller"),
    pytest.param("deleting-owner", "is being deleted", id="owner-on-its-way-out"),
    pytest.param("scaledown", "has more pods than it wants", id="scale-down-pending"),
    pytest.param("karpenter", "an annotation asks", id="do-not-disrupt"),
    pytest.param("dra", "resource claims", id="devices-are-not-modelled"),
    pytest.param("live-twopdb", "two PodDisruptionBudgets", id="two-budgets-answer-500"),
    pytest.param("twopdb", "two PodDisruptionBudgets", id="two-budgets-by-hand"),
    pytest.param("otherscheduler", "its scheduler is volcano", id="who-knows-what-volcano-does"),
    pytest.param("pdb0", "never allows it (maxUnavailable 0)", id="budget-of-nothing"),
]


@pytest.mark.parametrize(("name", "reason"), LEFT_ALONE)
def test_evict_leaves_them_alone_and_says_why(name: str, reason: str) -> None:
    plan = evictions(dump(name))
    assert evicted(plan) == []
    assert plan.after.excess == plan.before.excess > 0
    assert plan.protected
    assert all(reason in pod.reason for pod in plan.protected)


@pytest.mark.parametrize(("name", "reason"), LEFT_ALONE)
def test_rebalancing_leaves_them_alone_and_says_why(name: str, reason: str) -> None:
    plan = rebalanced(dump(name))
    assert moved(plan) == []
    assert plan.excess_after == plan.excess_before > 0
    assert plan.protected
    assert all(reason in pod.reason for pod in plan.protected)


@pytest.mark.parametrize("name", ["live-ordered", "ordered-unready"])
def test_an_ordered_set_brings_back_no_pod_above_one_that_is_not_ready(name: str) -> None:
    """db-0 itself, which is not ready, comes back at once; db-1 to db-3 would wait for it."""
    plan = evictions(dump(name))
    assert evicted(plan) == ["db-0"]
    assert plan.converges
    (alone,) = plan.left_alone
    assert (alone.pods, alone.reason) == (3, "sts/db makes it anew only when db-0 is ready")


def test_a_job_with_backoff_limit_0_is_left_alone_even_if_jobs_are_allowed() -> None:
    plan = evictions(dump("live-job"), MovePolicy(jobs=True))
    assert evicted(plan) == []
    assert "job/train counts it as a failure, and could fail" in plan.protected[0].reason


def test_a_job_that_ignores_disruptions_may_lose_a_pod_if_jobs_are_allowed() -> None:
    def ignoring(each: Json) -> None:
        if each["kind"] == "Job":
            condition = {"type": "DisruptionTarget", "status": "True"}
            rules = [{"action": "Ignore", "onPodConditions": [condition]}]
            each["spec"]["podFailurePolicy"] = {"rules": rules}

    cluster = changed("live-job", ignoring)
    assert evicted(evictions(cluster)) == []
    plan = evictions(cluster, MovePolicy(jobs=True))
    assert len(plan.evictions) == 1
    assert plan.after.excess == 0


def test_an_owner_that_is_trusted_brings_its_pods_back() -> None:
    plan = evictions(dump("pdb-crd"), MovePolicy(owners=frozenset(("StrimziPodSet",))))
    assert len(plan.evictions) == 1
    assert plan.after.excess == 0


def test_a_trusted_kind_does_not_make_others_movable() -> None:
    plan = evictions(dump("taskrun"), MovePolicy(owners=frozenset(("StrimziPodSet",))))
    assert evicted(plan) == []


def test_a_budget_over_bare_pods_counts_what_controllers_want() -> None:
    """maxUnavailable 2 of the 3 that the ReplicaSet wants: 1 of 6 healthy pods has to stay."""
    plan = evictions(dump("pdb-bare"))
    assert evicted(plan) == ["web-abc123-p0", "web-abc123-p1"]
    assert len(plan.waves) == 1
    assert {pod.reason for pod in plan.protected} == {"no controller would bring it back"}


def test_two_replica_sets_of_an_unknown_owner_may_be_a_rollout() -> None:
    """An Argo Rollout decides how many pods each of them has, and the input does not say what."""
    assert len(evictions(dump("rollout")).evictions) == 3
    objects = loaded("rollout")
    other = copy.deepcopy(next(each for each in objects if each["kind"] == "ReplicaSet"))
    other["metadata"] |= {"name": "web-x2", "uid": "x2"}
    plan = evictions(cluster_of(*objects, other))
    assert evicted(plan) == []
    assert {each.reason for each in plan.left_alone} == {
        "a rollout of rollout/web may be under way"
    }


@pytest.mark.parametrize(
    "output", ["table", "wide", "json", "markdown", "github", "junit", "sarif"]
)
@pytest.mark.parametrize("command", [["evict", "--seeds", "2"], ["solve", "--rebalance"]])
def test_every_format_says_why_a_pod_stays(
    command: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [] if output == "table" else ["-o", output]
    app.main([*command, "-f", str(DATA / "live-gates.json.gz"), *options])
    assert "wait for its scheduling gates" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", [["evict", "--seeds", "2"], ["solve", "--rebalance"]])
def test_the_page_says_why_a_pod_stays(command: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    app.main([*command, "-f", str(DATA / "live-gates.json.gz"), "--report", str(page)])
    assert "Left alone in any case" in page.read_text()


def test_what_is_proven_is_about_the_pods_that_may_move(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["solve", "--rebalance", "-f", str(DATA / "job-in-the-way.yaml")])
    text = " ".join(capsys.readouterr().out.split())
    assert "no sequence of moves gets further while 1 pod is left alone" in text
    assert "Left alone in any case: 1 of job/train (a Job counts a deleted pod" in text


@pytest.mark.parametrize(
    "lacking", [("ReplicaSet",), ("Deployment",), ("ReplicaSet", "Deployment")]
)
def test_pods_of_two_revisions_are_a_rollout_whatever_the_input_lacks(
    lacking: Sequence[str],
) -> None:
    objects = [each for each in loaded("live-midrollout") if each["kind"] not in lacking]
    plan = evictions(cluster_of(*objects))
    assert evicted(plan) == []
    assert plan.protected
    assert all("a rollout of deploy/web may be under way" in pod.reason for pod in plan.protected)
