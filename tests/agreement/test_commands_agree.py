"""No command says 'proven', 'fewest' or 'optimal' where another finds better on the same input.

60 random clusters run with every test; the profile `long` runs 1,000.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from planner.cluster import GONE, Cluster
from planner.disruption.budgets import allowances
from planner.disruption.node_lifecycle import with_condition_taints
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.evictions.suggestion import EvictOptions
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.replay.trial import Manner, Trial
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.diagnosis import Diagnosis
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from tests.agreement.clusters import random_cluster

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
CASES, PARTS = (1_000, 20) if LONG else (60, 6)
PROFILE = default_profile()


@pytest.mark.parametrize("part", range(PARTS))
def test_what_one_command_proves_no_other_one_beats(part: int) -> None:
    size = CASES // PARTS
    for seed in range(part * size, (part + 1) * size):
        cluster = random_cluster(seed, nodes=3 + seed % 4, pods=6 + seed % 3)
        plan = make_plan(cluster, SolveOptions(rebalance=True), PROFILE)
        evictions = make_eviction_plan(cluster, EvictOptions(seeds=2), PROFILE)
        first = driven_off(cluster)
        if not cluster.terminating[first].any():  # Solve never counts on the end of a pod.
            solve_and_evict_agree(seed, plan, evictions, len(first))
        for pod in cluster.pending.tolist()[:2]:
            explain_and_solve_agree(seed, waiting_alone(cluster, pod), pod)


def waiting_alone(cluster: Cluster, pod: int) -> Cluster:
    """The cluster without the other pending pods."""
    others = (other for other in cluster.pending.tolist() if other != pod)
    return cluster.with_placement(dict.fromkeys(others, GONE))


def driven_off(cluster: Cluster) -> list[int]:
    """Running pods that kube-scheduler drives off before evict has to do anything.

    They may come back to where they were.
    """
    now = with_condition_taints(cluster)
    run = Trial(now, PROFILE, allowances(now), ()).run((), Manner(seed=0))
    running = set(cluster.running.tolist())
    landed = {landing.pod for landing in run.landings}
    return sorted(running & (landed | set(np.flatnonzero(run.node_of < 0).tolist())))


def solve_and_evict_agree(seed: int, plan: Plan, evictions: EvictionPlan, driven_off: int) -> None:
    """By pods that wait in the end, what stays broken, and pods that lose their place for it."""
    if sum(each.name.startswith("placed") for each in plan.objectives) > 1:
        return  # Fewer pods of a higher priority are better than more of a lower one.
    solved = (len(plan.unplaced) + len(plan.left_aside), plan.excess_after, plan.evictions)
    evicted = (
        evictions.after.pending,
        evictions.after.excess,
        len(evictions.evictions) + driven_off,
    )
    if plan.status == "optimal" and not plan.hops:
        assert solved <= evicted, f"seed {seed}"
    if evictions.fewest:
        assert evicted[:2] != solved[:2] or evicted <= solved, f"seed {seed}"


def explain_and_solve_agree(seed: int, cluster: Cluster, pod: int) -> None:
    """Both about the only pod that waits; solve evicts more where it repairs other rules, too."""
    found = explain_pods(cluster, [pod], PROFILE, ExplainOptions())
    plan = make_plan(cluster, SolveOptions(rebalance=True), PROFILE)
    by_itself = found.remedy == "waiting"  # A terminating pod ends without any step of a plan.
    if plan.unplaced and plan.status == "optimal" and not by_itself:
        assert found.verdict not in ("schedulable", "stuck"), f"seed {seed}"
    if not plan.unplaced and not plan.left_aside:
        assert found.verdict != "impossible", f"seed {seed}"
        assert fewest(found) <= plan.evictions, f"seed {seed}"


def fewest(found: Diagnosis) -> int:
    """What explain says that no sequence goes below."""
    room = found.rearrangement
    if room is None:
        return 0
    return room.evictions if room.fewest else room.at_least
