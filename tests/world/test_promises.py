"""Whatever planner proposes keeps its promise in a world of controllers, budgets and preemption.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 500 random worlds under 20 seeds each.
"""

from __future__ import annotations

import os

import pytest

from planner.disruption.movability import MovePolicy
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.evictions.protection import Protection
from planner.evictions.suggestion import EvictOptions
from planner.replay import total, violations
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.plan import Plan
from tests.world.carrying_out import carry_out, idle_world, lost_pods, places
from tests.world.random_worlds import random_world
from tests.world.world import RefusedError, World

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
BROKEN_ONCE = (14, 111, 162, 478, 554, 855, 954)
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
        world, idle = start.again(seed), idle_world(start, seed)
        carry_out(world, plan.waves, plan.evictions, plan.converges)
        after = world.dump()
        assert not lost_pods(idle, world), f"seed {seed}"
        if plan.converges and places(idle) == places(start):
            assert len(world.waiting()) <= plan.after.pending, f"seed {seed}"
            excess = total(violations(after, default_profile()))
            assert excess <= plan.after.excess, f"seed {seed}"


@pytest.mark.parametrize("number", WORLDS)
def test_what_rebalancing_moves_comes_back(number: int) -> None:
    start = random_world(number)
    options = SolveOptions(rebalance=True, policy=POLICY, hops=False, time_limit=5.0)
    plan = make_plan(start.dump(), options, default_profile())
    assert all(notice.code != "preempts" for notice in plan.notices)
    if not plan.evictions:
        return
    assert plan.verification.budgets
    for seed in range(1, SEEDS + 1):
        world = start.again(seed)
        _carry_out_moves(world, plan)
        assert not lost_pods(idle_world(start, seed), world), f"seed {seed}"


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
