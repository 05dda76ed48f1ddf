from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.evict import random_cluster
from planner.cluster import PENDING
from planner.disruption.budgets import Allowance
from planner.scheduler.profile import default_profile
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import plan_outcome
from planner.solver.problem.options import SolveOptions


@given(number=st.integers(0, 5_000))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_within_a_wave_budgets_hold_and_old_and_new_pods_fit_together(number: int) -> None:
    """A naive twin of the waves: everything of a wave is down at once, and nothing is gone yet."""
    cluster, _ = random_cluster(number)
    if len(cluster.nodes) > 30:
        return
    options = SolveOptions(rebalance=True, time_limit=2.0)
    outcome = plan_outcome(cluster, options, default_profile())
    replay(outcome)


def replay(outcome: PlanOutcome) -> None:
    cluster = outcome.before
    budgets = [each for each in outcome.allowances.each if each.budget]
    requests, allocatable = cluster.resources.requests, cluster.resources.allocatable
    node_of = cluster.node_of.copy()
    beyond = set(outcome.waves.beyond)
    for wave in outcome.waves.waves:
        used = np.zeros_like(allocatable)
        running = np.flatnonzero(node_of >= 0)
        np.add.at(used, node_of[running], requests[cluster.group_of[running]])
        before = used.copy()
        going = Counter[int]()
        for step in wave:
            group = int(cluster.group_of[step.pod])
            if step.evicts:
                going[group] += 1
            if step.lands:
                used[step.node] += requests[group]
        assert not (used > np.maximum(allocatable, before)).any()
        for budget in budgets:
            if budget.name not in beyond:
                assert down(node_of, cluster.group_of, budget, going) <= budget.limit
        for step in wave:
            node_of[step.pod] = PENDING if step.action == "evict" else step.node


def down(node_of: np.ndarray, group_of: np.ndarray, budget: Allowance, going: Counter[int]) -> int:
    waiting = np.isin(group_of, budget.groups) & (node_of == PENDING)
    taken = sum(going[group] for group in budget.groups)
    return int(np.count_nonzero(waiting)) + taken if taken else 0
