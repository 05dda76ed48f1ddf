"""Plans of every goal, carried out again by other means than those that made them.

Pods are evicted one by one or a wave at once, nodes are really cordoned, and `simulate` places what
waits, under seeds that no plan was tried with.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.evict import random_cluster
from planner.cluster import PENDING, Cluster
from planner.evictions.goals import Goal
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions, Suggestion
from planner.replay.cordons import cordoned_node
from planner.replay.trial import WavePlan
from planner.replay.violations import total, violations
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate

PROFILE = default_profile()
OTHER_SEEDS = (1_001, 1_002, 1_003, 1_004)
GOALS: tuple[tuple[Goal, ...], ...] = (
    ("spread",),
    ("soft",),
    ("utilization",),
    ("consolidate",),
    ("spread", "consolidate"),
    ("spread", "utilization"),
)
SMALL = [number for number in range(60) if len(random_cluster(number)[0].nodes) <= 12][:4]


@pytest.mark.parametrize("number", SMALL)
@pytest.mark.parametrize("goals", GOALS, ids="+".join)
def test_what_is_said_to_converge_does_so_under_other_seeds(
    goals: tuple[Goal, ...], number: int
) -> None:
    cluster, _ = random_cluster(number)
    found = find_evictions(cluster, EvictOptions(goals=goals, time_limit=2.0), PROFILE)
    for seed in OTHER_SEEDS:
        final = carried_out(found, seed)
        if found.tried.converges:
            after = found.aim.at(final.node_of)
            assert total(violations(after, PROFILE)) <= total(violations(found.after, PROFILE))
            assert waiting(final) <= waiting(found.after)


@pytest.mark.parametrize("number", SMALL[:3])
def test_a_drain_takes_pods_from_its_nodes_only_and_they_stay_empty(number: int) -> None:
    cluster, _ = random_cluster(number)
    found = find_evictions(cluster, EvictOptions(goals=(), nodes=(0, 1), time_limit=2.0), PROFILE)
    pods = [pod for wave in found.tried.waves for pod in wave.evictions]
    assert {int(cluster.node_of[pod]) for pod in pods} <= {0, 1}
    for seed in OTHER_SEEDS:
        final = carried_out(found, seed)
        if found.tried.converges and not found.remaining:
            assert not np.isin(final.node_of, (0, 1)).any()


def waiting(cluster: Cluster) -> int:
    return int(np.count_nonzero(cluster.node_of == PENDING))


def carried_out(found: Suggestion, seed: int) -> Cluster:
    """The cluster after all waves; budgets and room are looked at on the way."""
    chance = random.Random(seed)
    now = found.aim.real
    for number, wave in enumerate(found.tried.waves):
        assert_within_budgets(found, now, wave)
        now = cordoned(found, now, wave.cordons)
        pods = list(wave.evictions)
        chance.shuffle(pods)
        for i, pod in enumerate(pods):
            now = now.with_placement({pod: PENDING})
            if seed % 2 or i == len(pods) - 1:
                now = placed(now, seed * 1_000 + 100 * number + i)
        if not wave.holds and waiting(now):
            now = placed(cordoned(found, now, ()), seed)
    return now


def cordoned(found: Suggestion, now: Cluster, nodes: tuple[int, ...]) -> Cluster:
    """Exactly these nodes, beside those that the plan empties."""
    real = found.aim.real.nodes
    return replace(
        now,
        nodes=tuple(cordoned_node(n, True) if i in nodes else n for i, n in enumerate(real)),
    )


def placed(cluster: Cluster, seed: int) -> Cluster:
    final = simulate(cluster, (PROFILE,), seed=seed).final
    used = np.zeros_like(final.resources.allocatable)
    running = np.flatnonzero(final.node_of >= 0)
    np.add.at(used, final.node_of[running], final.resources.requests[final.group_of[running]])
    assert not (used > final.resources.allocatable).any()
    return final


def assert_within_budgets(found: Suggestion, now: Cluster, wave: WavePlan) -> None:
    """maxUnavailable of each app, counted by labels: who waits and who goes is down."""
    going = Counter(now.pods[pod].labels["app"] for pod in wave.evictions)
    down = Counter(now.pods[pod].labels["app"] for pod in now.pending.tolist())
    for budget in now.budgets:
        app = budget.name
        assert not going[app] or going[app] + down[app] <= int(budget.spec.max_unavailable or 0)
