"""What runs keep, to be fast, against asking and counting anew each time.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 300 random worlds.
"""

from __future__ import annotations

import os

import pytest

from planner.replay.refused_groups import RefusedGroups
from planner.replay.trial_state import TrialState
from planner.scenario.controller_run import ControllerRun, manners
from planner.scenario.deployment_pods import DeploymentPods
from planner.scenario.deployment_rollout import _DeploymentController
from planner.scenario.rollout import rollout_of
from planner.scheduler.profile import default_profile
from tests.scenario.running_workloads import ref
from tests.world.random_worlds import random_world
from tests.world.world import World, of_kind

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
WORLDS = range(300) if LONG else range(12)


def rollouts_end(world: World, seeds: int) -> list[list[int]]:
    """Where all pods are after restarts of every Deployment, seed by seed."""
    cluster, ends = world.dump(), []
    for owner in of_kind(world, "Deployment"):
        rollout = rollout_of(cluster, default_profile(), ref(owner["metadata"]["name"]))
        ends += [rollout.run(manner).ended.node_of.tolist() for manner in manners(seeds)]
    return ends


@pytest.mark.parametrize("number", WORLDS)
def test_pods_that_nothing_could_help_would_not_have_found_a_node(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = random_world(number)
    hinted = rollouts_end(world, 6)
    monkeypatch.setattr(RefusedGroups, "still", lambda self, group, fits: False)
    monkeypatch.setattr(TrialState, "rest", lambda self, group: None)
    assert rollouts_end(world, 6) == hinted


@pytest.mark.parametrize("number", WORLDS)
def test_a_run_does_not_depend_on_runs_before_it(number: int) -> None:
    world = random_world(number)
    cluster = world.dump()
    for owner in of_kind(world, "Deployment"):
        workload = ref(owner["metadata"]["name"])
        several = rollout_of(cluster, default_profile(), workload)
        for manner in manners(4):
            alone = rollout_of(cluster, default_profile(), workload).run(manner)
            assert several.run(manner).ended.node_of.tolist() == alone.ended.node_of.tolist()


@pytest.mark.parametrize("number", WORLDS)
def test_numbers_and_ranks_are_those_of_a_fresh_count(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = _DeploymentController.act

    def checked(self: _DeploymentController, run: ControllerRun) -> bool:
        kept = self._pods
        kept.catch_up(run)
        sets: dict[str, list[int]] = {name: [] for name in kept.rankings}
        for pod, name in kept._name_of.items():
            sets[name].append(pod)
        fresh = DeploymentPods(sets, kept._ages, run)
        for name in sets:
            assert kept.there[name] == fresh.there[name]
            assert kept.available[name] == fresh.available[name]
            assert kept.leaving[name] == fresh.leaving[name]
            assert kept.free[name].keys() == fresh.free[name].keys()
            ranked, anew = (list(each.rankings[name].ranks()) for each in (kept, fresh))
            assert [set(each.candidates) for each in ranked] == [set(e.candidates) for e in anew]
        return act(self, run)

    monkeypatch.setattr(_DeploymentController, "act", checked)
    rollouts_end(random_world(number), 4)
