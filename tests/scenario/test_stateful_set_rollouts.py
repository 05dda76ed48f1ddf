"""Rollouts of StatefulSets to their end."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import GONE, Cluster
from planner.replay.trial import Manner
from planner.scenario.rollout import rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner.scheduler.profile import default_profile
from planner_models.workload import REVISION_LABEL, StatefulSet
from tests.objects import Json, cluster_of, node, pod
from tests.scenario.running_workloads import apart, changed, ref, rolled, stateful, where

THREE = ("n1", "n2", "n3")
ALL_MANNERS = [Manner(s, t, o) for s in (0, 1, 2) for t in (False, True) for o in (False, True)]
in_every_manner = pytest.mark.parametrize("manner", ALL_MANNERS, ids=str)
FULL = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "4"}}}]}
LIMIT = {"rollingUpdate": {"maxUnavailable": 2}}


def three(*more: Json, spec: Json | None = None, **fields: Any) -> Cluster:
    return cluster_of(*map(node, THREE), *stateful("db", THREE, spec=spec, **fields), *more)


def restarted(cluster: Cluster, **manner: Any) -> RolloutRun:
    return rolled(cluster, "db", kind="StatefulSet", **manner)


@in_every_manner
@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_every_pod_is_replaced_one_at_a_time(policy: str, manner: Manner) -> None:
    cluster = three(spec=FULL, podManagementPolicy=policy)
    run = rollout_of(cluster, default_profile(), ref("db", "StatefulSet")).run(manner)
    assert run.complete
    assert (run.replaced, run.of, run.most_down, run.message) == (3, 3, 1, "")
    assert where(cluster, run) == list(THREE)


def test_new_pods_have_the_names_of_the_old_ones() -> None:
    run = restarted(three())
    there = [p for p in range(len(run.ended.pods)) if run.ended.node_of[p] != GONE]
    assert [run.ended.pods[pod].name for pod in there] == ["db-0", "db-1", "db-2"]
    assert [run.ended.pod_index[f"default/db-{i}"] for i in range(3)] == there
    assert list(run.updated) == there


def test_and_their_claims() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    run = restarted(three(volumeClaimTemplates=[claim]))
    assert 'persistentvolumeclaim "data-db-2" not found' in run.message


def test_a_pod_that_finds_no_node_stops_it_at_the_highest_ordinal() -> None:
    cluster = three()
    run = rolled(
        cluster, "db", changed(cluster, "db", {"nodeSelector": {"disk": "ssd"}}, "StatefulSet"),
        kind="StatefulSet",
    )  # fmt: skip
    assert (run.complete, run.replaced, run.most_down) == (False, 0, 1)
    assert [run.ended.pods[pod].name for pod in run.waiting] == ["db-2"]
    assert run.message.startswith("0/3 nodes are available: 3 node(s) didn't match")


def test_it_needs_no_room_beside_the_old_pods() -> None:
    """Anti-affinity on every node stops a surge (kubernetes#116891), but not a StatefulSet."""
    assert restarted(three(spec=apart(app="db"))).complete


def test_a_partition_keeps_the_lower_ordinals() -> None:
    cluster = three(updateStrategy={"rollingUpdate": {"partition": 2}})
    run = restarted(cluster)
    assert (run.complete, run.replaced, run.of) == (True, 1, 1)
    old = [cluster.pod_index[f"default/db-{i}"] for i in (0, 1)]
    assert (run.ended.node_of[old] == cluster.node_of[old]).all()


def test_on_delete_nothing_happens_by_itself() -> None:
    cluster = three(updateStrategy={"type": "OnDelete"})
    run = restarted(cluster)
    assert (run.complete, run.replaced, run.of, run.waiting) == (False, 0, 3, ())
    assert run.message == "OnDelete: pods are replaced when somebody deletes them"
    assert (run.ended.node_of[: len(cluster.pods)] == cluster.node_of).all()


@pytest.mark.parametrize(("policy", "down"), [("OrderedReady", 2), ("Parallel", 2)])
def test_max_unavailable_pods_go_together_where_it_is_stored(policy: str, down: int) -> None:
    run = restarted(three(podManagementPolicy=policy, updateStrategy=LIMIT))
    assert (run.complete, run.most_down) == (True, down)


def test_an_old_pod_that_is_not_ready_stops_an_ordered_set_for_good() -> None:
    """kubernetes#67250: somebody has to delete it."""
    made = stateful("db", THREE)
    made[1]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    run = restarted(cluster_of(*map(node, THREE), *made))
    assert (run.complete, run.replaced, run.waiting) == (False, 0, ())
    assert run.message == "the pod of ordinal 0 is not ready"


def test_a_parallel_set_replaces_it_in_its_turn() -> None:
    made = stateful("db", THREE, podManagementPolicy="Parallel")
    made[1]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert restarted(cluster_of(*map(node, THREE), *made)).complete


def test_pods_that_are_terminating_end_before_they_come_back() -> None:
    made = stateful("db", THREE)
    made[2]["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
    run = restarted(cluster_of(*map(node, THREE), *made))
    assert (run.complete, run.replaced) == (True, 3)


def test_on_a_silent_node_they_never_do() -> None:
    gone = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    made = stateful("db", ["n1", "n2"], podManagementPolicy="Parallel")
    run = restarted(cluster_of(node("n1"), node("n2", status=gone), *made))
    assert (run.complete, run.replaced) == (False, 0)
    assert run.ended.terminating.tolist()[:2] == [False, True]
    assert run.message == "the pod of ordinal 1 is not ready"


def test_surplus_pods_go_before_the_update() -> None:
    run = restarted(cluster_of(*map(node, THREE), *stateful("db", THREE, replicas=2)))
    assert (run.complete, run.replaced, run.of) == (True, 2, 2)


def test_a_rollout_that_is_under_way_goes_on() -> None:
    made = stateful("db", THREE)
    made[0]["status"]["updateRevision"] = "db-v2"
    made[3]["metadata"]["labels"] = {"app": "db", REVISION_LABEL: "db-v2"}
    cluster = cluster_of(*map(node, THREE), *made)
    owner = cluster.owners.controllers[ref("db", "StatefulSet")]
    run = rolled(cluster, "db", owner.spec.template, kind="StatefulSet")
    assert (run.complete, run.replaced) == (True, 3)
    assert cluster.pod_index["default/db-2"] in run.updated


def test_what_ended_can_be_rolled_out_again() -> None:
    first = restarted(three())
    owner = first.ended.owners.controllers[ref("db", "StatefulSet")]
    assert isinstance(owner, StatefulSet)
    assert owner.status.current_revision == owner.status.update_revision != "db-v1"
    again = rolled(first.ended, "db", owner.spec.template, kind="StatefulSet")
    assert (again.complete, again.most_down) == (True, 0)
    assert restarted(first.ended).replaced == 3


def test_a_pod_that_is_driven_off_comes_back_of_the_new_revision() -> None:
    """The urgent pod takes the room of one of them before the rollout begins."""
    made = stateful("db", ["n1", "n2"], spec=FULL)
    urgent = pod("urgent", spec={**FULL, "priority": 9})
    run = restarted(cluster_of(node("n1"), node("n2"), *made, urgent))
    assert (run.complete, run.replaced) == (False, 0)
    assert run.waiting == run.updated
    assert len(run.waiting) == 1
