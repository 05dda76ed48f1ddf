"""Whatever planner proposes keeps its promise in a world of controllers, budgets and preemption.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 500 random worlds under 20 seeds each.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from planner.disruption.movability import MovePolicy
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.evictions.protection import Protection
from planner.evictions.suggestion import EvictOptions
from planner.replay import total, violations
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from tests.world.random_worlds import random_world
from tests.world.world import RefusedError, World, leaving, owner_reference

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
BROKEN_ONCE = (14, 111, 162, 478, 554)
"""Worlds in which plans have met a refusal or driven pods off."""
WORLDS, SEEDS = (range(500), 20) if LONG else ((*range(12), *BROKEN_ONCE), 3)
POLICY = MovePolicy(jobs=True)


@pytest.mark.parametrize("number", WORLDS)
def test_what_evict_proposes_happens(number: int) -> None:
    start = random_world(number)
    options = EvictOptions(protection=Protection(POLICY), time_limit=5.0)
    plan = make_eviction_plan(start.dump(), options, default_profile())
    if not plan.evictions:
        return
    for seed in range(1, SEEDS + 1):
        world, idle = start.again(seed), _idle(start, seed)
        _carry_out(world, plan)
        after = world.dump()
        assert not _lost(idle, world), f"seed {seed}"
        if plan.converges and _places(idle) == _places(start):
            assert len(world.waiting()) <= plan.after.pending, f"seed {seed}"
            excess = total(violations(after, default_profile()))
            assert excess <= plan.after.excess, f"seed {seed}"


@pytest.mark.parametrize("number", WORLDS)
def test_what_rebalancing_moves_comes_back(number: int) -> None:
    start = random_world(number)
    options = SolveOptions(rebalance=True, policy=POLICY, hops=False, time_limit=5.0)
    plan = make_plan(start.dump(), options, default_profile())
    assert all(notice.code != "preempts" for notice in plan.notices)
    if not plan.evictions or not plan.verification.budgets:
        return
    for seed in range(1, SEEDS + 1):
        world = start.again(seed)
        _carry_out_moves(world, plan)
        assert not _lost(_idle(start, seed), world), f"seed {seed}"


def _carry_out_moves(world: World, plan: Plan) -> None:
    """Wave by wave as the script does, as long as budgets allow it; nobody is driven off."""
    uids = {f"default/{pod['metadata']['name']}": pod["metadata"]["uid"] for pod in world.pods}
    world.settle()
    drive_offs = len(world.preempted)
    for wave in plan.waves:
        going = [s.pod for s in wave.steps if s.action in ("evict", "move") and s.pod is not None]
        try:
            for pod in going:
                world.evict(pod, uids[pod])
        except RefusedError:
            replay = plan.verification.scheduler_replay
            if replay is not None and replay.agrees == replay.seeds and wave is plan.waves[0]:
                raise
            world.settle()
            break
        world.settle()
    assert world.preempted[drive_offs:] == []


def _idle(start: World, seed: int) -> World:
    """What becomes of the world if nobody does anything."""
    world = start.again(seed)
    world.settle()
    return world


def _places(world: World) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in world.pods}


def _carry_out(world: World, plan: EvictionPlan) -> None:
    """Wave by wave as the script does: cordon, evict, wait, lift.

    A plan that is not said to converge may meet a refusal, where the script stops.
    """
    world.settle()
    drive_offs = len(world.preempted)
    held: tuple[str, ...] = ()
    uids = {each.pod: each.uid for each in plan.evictions}
    for wave in plan.waves:
        for node in (*wave.drain, *wave.cordon):
            world.cordon(node, on=True)
        for node in set(held) - set(wave.cordon):
            world.cordon(node, on=False)
        order = list(wave.evictions)
        world.random.shuffle(order)
        try:
            for pod in order:
                world.evict(pod, uids[pod])
        except RefusedError:
            if plan.converges:
                raise
            world.settle()
            return
        world.settle()
        held = wave.cordon if wave.hold else ()
        for node in () if wave.hold else wave.cordon:
            world.cordon(node, on=False)
        world.settle()
    if plan.converges:
        assert world.preempted[drive_offs:] == []


def _lost(idle: World, now: World) -> Counter[str]:
    """Pods per owner that would still be there and have no successor."""
    return _pods(idle) - _pods(now)


def _pods(world: World) -> Counter[str]:
    owners = (owner_reference(pod) for pod in world.pods if not leaving(pod))
    return Counter("" if owner is None else f"{owner['kind']}/{owner['name']}" for owner in owners)
