"""Which of the checked workloads a budget is over."""

from __future__ import annotations

from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.sources.locations import ObjectName
from planner_models.policy import PodDisruptionBudget
from planner_models.selectors import selector_matches


def budget_object(budget: PodDisruptionBudget) -> ObjectName:
    """What findings about it name."""
    return ObjectName("PodDisruptionBudget", budget.namespace, budget.name)


def selects(budget: PodDisruptionBudget, subject: Subject, workload: CheckedWorkload) -> bool:
    """Whether the budget counts the workload's pods."""
    labels = subject.sample(workload).labels
    same = budget.namespace == workload.ref.namespace
    return same and selector_matches(budget.spec.selector, labels)


def over(subject: Subject, budget: PodDisruptionBudget) -> tuple[CheckedWorkload, ...]:
    """The checked workloads whose pods it counts."""
    return tuple(each for each in subject.workloads if selects(budget, subject, each))


def budgets_of(subject: Subject, workload: CheckedWorkload) -> tuple[PodDisruptionBudget, ...]:
    """All budgets over a workload, those of the cluster included."""
    return tuple(each for each in subject.inventory.budgets if selects(each, subject, workload))
