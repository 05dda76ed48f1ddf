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
from tests.world.carrying_out import carry_out, idle_world, lost_pods, places
from tests.world.random_worlds import random_world

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
BROKEN_ONCE = (14, 111, 478, 554)
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
    warned = any(notice.code == "preempts" for notice in plan.notices)
    if not plan.evictions or not plan.verification.budgets or warned:
        return
    uids = {f"default/{pod['metadata']['name']}": pod["metadata"]["uid"] for pod in start.pods}
    for seed in range(1, SEEDS + 1):
        world = start.again(seed)
        for step in plan.waves[0].steps:
            if step.action in ("evict", "move") and step.pod is not None:
                world.evict(step.pod, uids[step.pod])
        world.settle()
        assert not lost_pods(idle_world(start, seed), world), f"seed {seed}"
