"""Rollouts against a small Kubernetes that was written without planner's controllers.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 500 random worlds.
"""

from __future__ import annotations

import os

import pytest

from planner.scenario.controller_run import manners
from planner.scenario.rollout import rollout_of
from planner.scheduler.profile import default_profile
from planner_models.workload import Deployment
from tests.objects import HOSTNAME, merged
from tests.scenario.running_workloads import apart, changed, ref
from tests.world.random_worlds import random_world
from tests.world.world import Json, World, leaving, of_kind, owned_by

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
WORLDS, SEEDS = (range(500), 6) if LONG else (range(25), 3)


@pytest.mark.parametrize("number", WORLDS)
def test_a_rollout_ends_as_in_the_world(number: int) -> None:
    """Some end of the world is one of planner's; the only one, where each has only one."""
    start = random_world(number)
    start.settle()
    for name in [each["metadata"]["name"] for each in of_kind(start, "Deployment")]:
        world = start.again(0)
        _change_template(world, name, number)
        expected = {_outcome(world.again(seed), name) for seed in range(1, SEEDS + 1)}
        found = _simulated(world, name)
        assert found & expected, name


@pytest.mark.parametrize("number", WORLDS)
@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_so_does_that_of_other_workloads(kind: str, number: int) -> None:
    start = random_world(number)
    start.settle()
    for owner in list(of_kind(start, kind)):
        name, replicas = owner["metadata"]["name"], owner["spec"].get("replicas", len(start.nodes))
        if len(start.pods_of(owner)) != replicas:
            continue
        expected = set()
        for seed in range(1, SEEDS + 1):
            world = start.again(seed)
            _change_labels(world, kind, name, number)
            expected.add(_updated(world, kind, name))
        cluster, workload = start.dump(), ref(name, kind)
        rules = {"runtimeClassName": "other", **(apart(HOSTNAME, app=name) if number % 3 else {})}
        template = changed(cluster, name, rules, kind)
        rollout = rollout_of(cluster, default_profile(), workload, template)
        runs = [rollout.run(manner) for manner in manners(8)]
        assert {(run.complete, run.replaced) for run in runs} & expected, name


def _change_labels(world: World, kind: str, name: str, number: int) -> None:
    """A new template, by a label that tells its pods apart."""
    owner = next(each for each in of_kind(world, kind) if each["metadata"]["name"] == name)
    rules = apart(HOSTNAME, app=name) if number % 3 else {}
    new = {"metadata": {"labels": {"new": "yes"}}, "spec": {"runtimeClassName": "other", **rules}}
    owner["spec"]["template"] = merged(owner["spec"]["template"], new)
    owner["status"]["updateRevision"] = "new"


def _updated(world: World, kind: str, name: str) -> tuple[bool, int]:
    world.settle()
    owner = next(each for each in of_kind(world, kind) if each["metadata"]["name"] == name)
    pods = [pod for pod in world.pods_of(owner) if not leaving(pod)]
    new = [pod for pod in pods if pod["metadata"]["labels"].get("new") and pod["ready"]]
    return len(new) == len(world.pods_of(owner)) == len(pods), len(new)


def _change_template(world: World, name: str, number: int) -> None:
    """Another runtime class, and in some worlds a rule that keeps the pods apart by node."""
    owner = _deployment(world, name)
    rules = apart(HOSTNAME, app=name) if number % 3 == 0 else {}
    owner["spec"]["template"] = merged(
        owner["spec"]["template"], {"spec": {"runtimeClassName": "other", **rules}}
    )
    made = merged(
        next(each for each in world.workloads if owned_by(each, owner)),
        {"metadata": {"name": f"{name}-h9", "uid": f"uid-{name}-h9"}},
    )
    template = merged(
        owner["spec"]["template"], {"metadata": {"labels": {"pod-template-hash": "h9"}}}
    )
    made["spec"] = {**made["spec"], "replicas": 0, "template": template}
    world.workloads.append(made)


def _deployment(world: World, name: str) -> Json:
    return next(each for each in of_kind(world, "Deployment") if each["metadata"]["name"] == name)


def _outcome(world: World, name: str) -> tuple[bool, int]:
    world.settle()
    sets = [each for each in world.workloads if owned_by(each, _deployment(world, name))]
    new = next(each for each in sets if each["metadata"]["name"] == f"{name}-h9")
    ready = sum(pod["ready"] and not leaving(pod) for pod in world.pods_of(new))
    everybody = sum(not leaving(pod) for each in sets for pod in world.pods_of(each))
    wanted = _deployment(world, name)["spec"]["replicas"]
    return ready == everybody == wanted, ready


def _simulated(world: World, name: str) -> set[tuple[bool, int]]:
    cluster = world.dump()
    found = cluster.owners.controllers[ref(name)]
    assert isinstance(found, Deployment)
    rollout = rollout_of(cluster, default_profile(), ref(name), found.spec.template)
    runs = [rollout.run(manner) for manner in manners(8)]
    return {(run.complete, run.replaced) for run in runs}
