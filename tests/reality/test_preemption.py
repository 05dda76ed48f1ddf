"""Replacements of high priority drive others off; a plan must not make that happen."""

from __future__ import annotations

import pytest

from planner.disruption.budgets import allowances
from planner.replay.trial import Manner, Trial, WavePlan
from planner.report.tables import evict_table
from planner.report.text.blocks import plain_text
from planner.scheduler.profile import default_profile
from tests.reality.dumps import Json, changed, dump, evicted, evictions, moved, rebalanced


def test_an_evicted_web_takes_the_only_node_of_a_pod_whose_budget_allows_nothing() -> None:
    cluster = dump("live-preempt")
    web, victim = (cluster.pod_index[f"default/{n}-abc123-p0"] for n in ("web", "victim"))
    trial = Trial(cluster, default_profile(), allowances(cluster), [web])
    run = trial.run([WavePlan((web,))], Manner(seed=0))
    assert run.preempted == (victim,)
    assert run.node_of[victim] < 0


def test_evict_keeps_its_replacements_from_driving_the_victim_off() -> None:
    plan = evictions(dump("live-preempt"))
    assert plan.converges
    assert "nb2" in plan.waves[0].cordon
    assert all(wave.cordon == ("nb2",) for wave in plan.waves)
    assert (plan.after.excess, plan.after.pending) == (0, 0)


def test_a_plan_that_can_only_end_in_preemption_is_not_recommended() -> None:
    """batch may take the node that web needs, and then web drives the victim off."""
    plan = evictions(dump("preempt-while-waiting"))
    assert len(evicted(plan)) == 2
    assert not plan.converges
    (notice,) = (notice for notice in plan.notices if notice.code == "preempts")
    assert notice.objects == ("default/victim-abc123-p0",)
    text = " ".join(plain_text(evict_table.blocks(plan, wide=False)).split())
    assert "Carry none of it out." in text


@pytest.mark.parametrize("name", ["live-preempt", "preempt-while-waiting"])
def test_rebalancing_leaves_pods_whose_replacements_would_drive_others_off(name: str) -> None:
    plan = rebalanced(dump(name))
    assert moved(plan) == []
    assert plan.status == "feasible"
    assert {pod.pod for pod in plan.protected} == {f"default/web-abc123-p{i}" for i in (0, 1)}
    assert all("drive off default/victim-abc123-p0" in pod.reason for pod in plan.protected)
    assert all(notice.code != "preempts" for notice in plan.notices)


def test_a_plan_that_drives_nobody_off_keeps_its_proof() -> None:
    """The victim's node is no longer one that web may go to."""

    def pinned(each: Json) -> None:
        if each["kind"] == "Node" and each["metadata"]["name"] == "nb2":
            each["spec"] = {"taints": [{"key": "pool", "value": "victim", "effect": "NoSchedule"}]}

    plan = rebalanced(changed("live-preempt", pinned))
    assert plan.status == "optimal"
    assert all("drive off" not in notice.text for notice in plan.notices)
