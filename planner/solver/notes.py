"""What a result can't promise, in words: nothing in a snapshot is ignored silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.solver.constraints import volumes
from planner.solver.problem import Problem
from planner.solver.wording import named


def notes_on(problem: Problem, displaced: Mapping[int, int]) -> tuple[str, ...]:
    """All notes about a problem and the pods that lose their place in its solution."""
    return (
        *volumes.notes(problem.cluster, list(problem.groups)),
        *_resource_claims(problem),
        *_scheduler_rules(problem),
        *_budgets(problem, displaced),
    )


def _resource_claims(problem: Problem) -> Iterator[str]:
    groups = problem.cluster.groups
    claiming = [groups[g].example.key for g in problem.groups if groups[g].spec.resource_claims]
    if claiming:
        yield f"resource claims (devices) are not looked at: {named(claiming)}"


def _scheduler_rules(problem: Problem) -> Iterator[str]:
    args = problem.options.scheduler
    if any(constraint.hard for constraint in args.pod_topology_spread.effective_constraints):
        yield "the scheduler's default constraints with DoNotSchedule are not looked at"
    if args.node_affinity.added_affinity is not None:
        yield "the scheduler's addedAffinity is not looked at"


def _budgets(problem: Problem, displaced: Mapping[int, int]) -> Iterator[str]:
    groups = problem.cluster.groups
    for budget in problem.cluster.budgets:
        selector = budget.spec.selector
        if selector is None:
            continue
        lost = sum(
            count
            for g, count in displaced.items()
            if groups[g].namespace == budget.namespace and selector.matches(groups[g].labels)
        )
        allowed = budget.status.disruptions_allowed or 0
        if lost > allowed:
            yield (
                f"PodDisruptionBudget {budget.namespace}/{budget.name} allows {allowed} "
                f"disruptions now, and {lost} of its pods lose their place"
            )
