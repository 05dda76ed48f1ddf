"""What is left uneven when lost nodes come back, empty: nothing moves by itself."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cluster import Cluster
from planner.replay.violations import violations
from planner.scheduler.profile import Profile

MOST_PODS = 3_000
"""Up to so many pods a rebalancing plan is made, to say how many it moves."""
SEARCH = 10.0
"""Seconds that the plan may take."""


@dataclass(frozen=True)
class ComesBack:
    """Pods over the limits of hard spread, in how many workloads; and what a plan makes of it.

    `moves` is None where no plan was made.
    """

    excess: int
    workloads: int
    moves: int | None = None
    excess_then: int | None = None


def comes_back(before: Cluster, back: Cluster, profile: Profile) -> ComesBack | None:
    """None if no more is broken than before the failure."""
    found = violations(back, profile)
    excess = sum(each.excess for each in found)
    if excess <= sum(each.excess for each in violations(before, profile)):
        return None
    workloads = len({back.workloads[each.group] for each in found})
    if len(back.pods) > MOST_PODS:
        return ComesBack(excess, workloads)
    return ComesBack(excess, workloads, *_planned(back, profile))


def _planned(cluster: Cluster, profile: Profile) -> tuple[int, int]:
    """How many pods `solve --rebalance` moves, and what is over the limits then."""
    from planner.sequences.within_budgets import plan_within_budgets
    from planner.solver.problem.options import SolveOptions

    options = SolveOptions(rebalance=True, time_limit=SEARCH)
    plan = plan_within_budgets(cluster, options, profile)
    left = sum(each.excess for each in violations(plan.after, profile))
    return len(plan.changed.moved), left
