"""Rollouts of DaemonSets to their end."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import Cluster
from planner.replay.trial import Manner
from planner.scenario.rollout import rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner.scheduler.profile import default_profile
from tests.objects import Json, cluster_of, merged, node
from tests.scenario.running_workloads import changed, daemons, ref, rolled, where

FIVE = tuple(f"n{i}" for i in range(5))
ALL_MANNERS = [Manner(s, t, o) for s in (0, 1, 2) for t in (False, True) for o in (False, True)]
in_every_manner = pytest.mark.parametrize("manner", ALL_MANNERS, ids=str)
BIG = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "3"}}}]}


def five(*, spec: Json | None = None, **strategy: Any) -> Cluster:
    return cluster_of(*map(node, FIVE), *daemons("log", FIVE, spec=spec, **strategy))


def restarted(cluster: Cluster, **manner: Any) -> RolloutRun:
    return rolled(cluster, "log", kind="DaemonSet", **manner)


@in_every_manner
@pytest.mark.parametrize(
    ("strategy", "down"),
    [({}, 1), ({"maxUnavailable": 2}, 2), ({"maxUnavailable": 0, "maxSurge": 1}, 0)],
)
def test_every_node_gets_a_new_pod(strategy: Json, down: int, manner: Manner) -> None:
    cluster = five(**strategy)
    run = rollout_of(cluster, default_profile(), ref("log", "DaemonSet")).run(manner)
    assert run.complete
    assert (run.replaced, run.of, run.most_down, run.message) == (5, 5, down, "")
    assert where(cluster, run) == list(FIVE)


def test_a_surge_needs_room_for_both_pods() -> None:
    run = restarted(five(spec=BIG, maxUnavailable=0, maxSurge=1))
    assert (run.complete, run.replaced, len(run.waiting), run.most_down) == (False, 0, 1, 0)
    assert run.message == (
        "0/5 nodes are available: 1 Insufficient cpu, "
        "4 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    assert restarted(five(spec=BIG)).complete


def test_a_pod_that_no_longer_fits_its_node_stops_the_update() -> None:
    cluster = five()
    bigger = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "5"}}}]}
    run = rolled(cluster, "log", changed(cluster, "log", bigger, "DaemonSet"), kind="DaemonSet")
    assert (run.complete, run.replaced, len(run.waiting), run.most_down) == (False, 0, 1, 1)


def test_cordons_do_not_keep_daemons_away() -> None:
    assert restarted(five(), cordoned=FIVE).complete


def test_a_new_selector_takes_pods_away_where_it_no_longer_fits() -> None:
    """All of those go at once, and pods come where it fits now."""
    labels = {"metadata": {"labels": {"disk": "ssd"}}}
    fast = merged(node("n9"), labels)
    cluster = cluster_of(
        merged(node("n0"), labels), node("n1"), fast, *daemons("log", ["n0", "n1"])
    )
    template = changed(cluster, "log", {"nodeSelector": {"disk": "ssd"}}, "DaemonSet")
    run = rolled(cluster, "log", template, kind="DaemonSet")
    assert (run.complete, run.of, where(cluster, run)) == (True, 2, ["n0", "n9"])


def test_a_taint_for_new_pods_lets_the_old_one_go_and_none_come() -> None:
    tainted = node("n1", spec={"taints": [{"key": "maintenance", "effect": "NoSchedule"}]})
    cluster = cluster_of(node("n0"), tainted, *daemons("log", ["n0", "n1"]))
    run = restarted(cluster)
    assert (run.complete, run.of, where(cluster, run)) == (True, 1, ["n0"])


def test_on_delete_nothing_happens_by_itself() -> None:
    made = daemons("log", FIVE)
    made[0]["spec"]["updateStrategy"] = {"type": "OnDelete"}
    run = restarted(cluster_of(*map(node, FIVE), *made))
    assert (run.complete, run.replaced, run.waiting) == (False, 0, ())
    assert run.message == "OnDelete: pods are replaced when somebody deletes them"


def test_a_silent_node_uses_up_what_may_be_down() -> None:
    silent = node("n4", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    made = daemons("log", FIVE)
    made[-1]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    run = restarted(cluster_of(*map(node, FIVE[:4]), silent, *made))
    assert (run.complete, run.replaced) == (False, 0)


def test_the_present_template_is_rolled_out_already() -> None:
    cluster = five()
    owner = cluster.owners.controllers[ref("log", "DaemonSet")]
    run = rolled(cluster, "log", owner.spec.template, kind="DaemonSet")
    assert (run.complete, run.replaced, run.most_down) == (True, 5, 0)
    assert (run.ended.node_of[: len(cluster.pods)] == cluster.node_of).all()


def test_what_ended_can_be_rolled_out_again() -> None:
    first = restarted(five())
    assert restarted(first.ended).complete
