"""Scripts wait for pods of whatever kind, for those that had to wait, and keep to their cordons."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.report.scripts import eviction_script, plan_script
from planner_models.evictions import EvictionPlan
from planner_models.node import ZONE
from planner_models.plan import Plan
from tests.reality.dumps import dump, evicted, evictions, rebalanced
from tests.report.shell import Shell


def lands(plan: EvictionPlan | Plan) -> dict[str, str]:
    """Where the replacement of each evicted pod ends."""
    if isinstance(plan, Plan):
        return {each.pod.partition("/")[2]: each.node for each in plan.placements}
    found = (each for wave in plan.waves for each in wave.landings if each.node is not None)
    return {each.pod.partition("/")[2]: each.node for each in found if each.node is not None}


@pytest.mark.parametrize(
    ("name", "controller", "evictions_of", "allowed"),
    [
        ("live-rs-waves", "ReplicaSet/web", 4, 2),
        ("rs-waves", "ReplicaSet/web", 4, 2),
        ("rollout", "ReplicaSet/web-x1", 3, 3),
        ("rollout-waves", "ReplicaSet/web-x1", 2, 1),
    ],
)
def test_no_more_pods_are_down_than_a_quarter_of_a_replica_set_without_a_budget(
    tmp_path: Path, name: str, controller: str, evictions_of: int, allowed: int
) -> None:
    """Neither a bare ReplicaSet nor that of an Argo Rollout has a rollout to wait for."""
    cluster = dump(name)
    plans: tuple[EvictionPlan | Plan, ...] = (evictions(cluster), rebalanced(cluster))
    for number, plan in enumerate(plans):
        folder = tmp_path / str(number)
        folder.mkdir()
        shell = Shell.of(folder, cluster, ZONE, lands=lands(plan), slow=3)
        made = eviction_script(plan) if isinstance(plan, EvictionPlan) else plan_script(plan)
        done = shell.run(made, "--run")
        assert (done.returncode, done.stderr) == (0, "")
        assert len(shell.state["evicted"]) == evictions_of
        assert shell.state["mostDown"] == {controller: allowed}
        assert ", as planned" in done.stdout


@pytest.mark.parametrize("name", ["live-stops-halfway", "stops-halfway"])
def test_a_pod_that_waits_for_a_later_wave_is_waited_for_before_the_end(
    tmp_path: Path, name: str
) -> None:
    """web finds room only once batch has gone; api's budget allows one pod at a time."""
    cluster = dump(name)
    after = {"web-abc123-p0": "batch-abc123-p0"}
    plans: tuple[EvictionPlan | Plan, ...] = (evictions(cluster), rebalanced(cluster))
    for number, plan in enumerate(plans):
        folder = tmp_path / str(number)
        folder.mkdir()
        shell = Shell.of(folder, cluster, ZONE, lands=lands(plan), after=after, slow=3)
        made = eviction_script(plan) if isinstance(plan, EvictionPlan) else plan_script(plan)
        done = shell.run(made, "--run")
        assert (done.returncode, done.stderr) == (0, "")
        assert max(shell.state["mostDown"].values()) == 1
        web = next(c for c in shell.state["mostDown"] if c.startswith("ReplicaSet/web-"))
        assert f"wait until 2 pods of {web} in default are ready" in done.stdout
        assert "deploy/web in default: a 1, b 1, as planned" in done.stdout


def test_a_cordon_that_somebody_set_after_the_dump_stays(tmp_path: Path) -> None:
    cluster = dump("live-grid")
    plan = evictions(cluster)
    (node,) = plan.waves[0].cordon
    assert plan.converges
    assert (plan.before.pending, plan.after.pending) == (1, 0)
    shell = Shell.of(tmp_path, cluster, "rack", lands=lands(plan), after={})
    nodes = shell.state["nodes"]
    shell.change(nodes=nodes | {node: nodes[node] | {"cordoned": True}})
    done = shell.run(eviction_script(plan), "--run")
    assert shell.state["evicted"] == evicted(plan)
    assert "somebody else has cordoned it, and it stays so" in done.stdout
    assert shell.state["nodes"][node]["cordoned"]
