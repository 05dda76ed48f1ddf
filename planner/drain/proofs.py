"""What is certain about pods for which no way to leave was found.

In a small cluster all orders of evictions are searched, workload by workload. In a large one a pod
is judged alone, where no other pod that leaves has a say in where it may go: with all of these out
of the way, no node takes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from planner.cluster import GONE, PENDING
from planner.disruption.budgets import Allowances
from planner.drain.all_orders import least_stuck
from planner.evictions.emptying import Emptying
from planner.evictions.goals import Aim
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.sequences.exhaustive import NODE_LIMIT
from planner.solver import route
from planner.solver.problem.problem import Problem

COUNTED = "workload by workload; no order of evictions helps"
ALONE = "pod by pod; no order of evictions helps"
TOGETHER = "counted for all pods together; no order of evictions helps"
SEARCHED = "all orders of evictions were searched"


@dataclass(frozen=True)
class Proof:
    """So many pods can't leave, whatever is evicted in whatever order, and how that is known."""

    text: str
    stuck: int


NOTHING = Proof("", 0)


def is_large(aim: Aim) -> bool:
    """Whether the cluster is too large for a search over states."""
    return len(aim.real.nodes) > NODE_LIMIT


def by_workload(problem: Problem, profile: Profile, budgets: Allowances) -> Proof:
    """Small clusters: all orders of each workload."""
    return Proof(COUNTED, sum(least_stuck(problem, profile, budgets).values()))


def all_together(problem: Problem, nodes: Sequence[int]) -> Proof:
    """The solver's bound for all pods, where its model is not too large."""
    if not route.whole_model_fits(problem):
        return NOTHING
    return Proof(TOGETHER, route.least_left(problem, nodes))


def pod_by_pod(
    emptying: Emptying, going: Sequence[int], stuck: Sequence[int], preemptors: Collection[int]
) -> Proof:
    """Large clusters: pods that no node takes with all others that leave out of the way.

    Nothing is said of those that would drive others off.
    """
    real, group_of = emptying.aim.real, emptying.aim.real.group_of
    leaving = Counter(group_of[list(going)].tolist())
    others = dict.fromkeys(going, GONE) | dict.fromkeys(stuck, PENDING)
    scheduler = Scheduler(SchedulingState(real.with_placement(others)), emptying.profile)
    certain = 0
    for pod in (each for each in stuck if each not in preemptors):
        related = emptying.dependencies.by_rules(int(group_of[pod]))
        alone = sum(leaving[group] for group in related) == 1
        certain += alone and not len(scheduler.evaluate(pod).feasible)
    return Proof(ALONE, certain)
