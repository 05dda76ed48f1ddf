"""What a result can't promise, in words: nothing in a snapshot is ignored silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from planner.solver.problem.problem import Problem
from planner.solver.problem.volume_reach import claims_of, delayed, fitting

SHOWN = 3
"""Names in a list before the rest is only counted."""


def notes_on(problem: Problem, displaced: Mapping[int, int]) -> tuple[str, ...]:
    """All notes about a problem and the pods that lose their place in its solution."""
    return (
        *_volumes(problem),
        *_resource_claims(problem),
        *_scheduler_rules(problem),
        *_budgets(problem, displaced),
    )


def _volumes(problem: Problem) -> Iterator[str]:
    """What about volumes is left to the order of placements."""
    cluster = problem.cluster
    users: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for g in problem.groups:
        for entry in claims_of(cluster.storage, cluster.groups[g]):
            claim = entry.claim
            if claim is None or claim.fully_bound or not delayed(cluster.storage, claim):
                continue
            users[entry.key] += 1
            wanted.update(volume.name for volume in fitting(cluster.storage, claim))
    contested = sorted(name for name, count in wanted.items() if count > 1)
    shared = sorted(key for key, count in users.items() if count > 1)
    if contested:
        yield f"several unbound claims fit the free volumes {_named(contested)}"
    if shared:
        yield f"several groups of pods share the unbound claims {_named(shared)}"


def _resource_claims(problem: Problem) -> Iterator[str]:
    groups = problem.cluster.groups
    claiming = [groups[g].example.key for g in problem.groups if groups[g].spec.resource_claims]
    if claiming:
        yield f"resource claims (devices) are not looked at: {_named(claiming)}"


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


def _named(names: Sequence[str]) -> str:
    """The first few names, and how many there are besides."""
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
