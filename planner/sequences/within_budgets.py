"""Plans whose evictions the Eviction API lets through.

Pods that wait for a node count as down for their budget. A budget that allows nothing because of
them may allow more once they run, so a plan may take them for granted: place them first, evict
others then. Where they stay waiting after all, such an eviction is refused whatever the order. Then
the pods under that budget stay where they are, and the plan is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from planner.cluster import Cluster
from planner.scheduler.profile import Profile
from planner.sequences.decision import bound_from, under_bound, value_from
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import plan_outcome
from planner.sequences.value import coherent, trivial_bound
from planner.solver.problem.options import SolveOptions
from planner.solver.progress import Report

Plan = Callable[[Cluster, SolveOptions, Profile, Report | None], PlanOutcome]


def plan_within_budgets(
    cluster: Cluster,
    options: SolveOptions,
    profile: Profile,
    report: Report | None = None,
    plan: Plan = plan_outcome,
    first: PlanOutcome | None = None,
) -> PlanOutcome:
    """The best plan that `plan` finds whose evictions every budget allows at their moment.

    `first` is the best one without that, for whoever has it already.

    What `--preempt` takes away is kube-scheduler's matter, which may break a budget.
    """
    first = found = first or plan(cluster, options, profile, report)
    reasons: dict[int, str] = {}
    while found.waves.beyond:
        more = _refused(found, reasons.keys())
        if not more or found.decision.stopped == "interrupted":
            break
        reasons |= more
        spared = options.spared | reasons.keys()
        found = plan(cluster, replace(options, spared=spared), profile, report)
    return found if found is first else _told(found, first, reasons)


def _refused(found: PlanOutcome, known: Collection[int]) -> dict[int, str]:
    """Pods whose eviction takes from a budget that the plan can't keep, with the reason."""
    limits, problem = found.allowances, found.problem
    numbers = {i for i, each in enumerate(limits.each) if each.name in found.waves.beyond}
    return {
        pod: f"the budget {limits.each[min(taken)].name} does not allow it: pods of it stay waiting"
        for pods in problem.movable.values()
        for pod in pods
        if pod not in known and (taken := numbers.intersection(limits.of_pod(pod)))
    }


def _told(found: PlanOutcome, first: PlanOutcome, reasons: dict[int, str]) -> PlanOutcome:
    """The bounds are those of all plans: others may place the waiting pods and evict then."""
    decision, problem = found.decision, found.problem
    every = bound_from(first.decision.objectives)
    bound = coherent(value_from(decision.objectives), every, trivial_bound(first.problem))
    objectives = under_bound(decision.objectives, bound)
    optimal = decision.status == "optimal" and all(level.proven for level in objectives)
    return replace(
        found,
        problem=replace(problem, left_alone={**problem.left_alone, **reasons}),
        decision=replace(
            decision,
            status="optimal" if optimal else "feasible",
            objectives=objectives,
            stopped=None if optimal else decision.stopped or "budgets",
            spent=first.decision.spent + decision.spent,
        ),
    )
