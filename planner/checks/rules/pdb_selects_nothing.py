"""`pdb-selects-nothing`: a budget whose selector matches no pod and no template protects nobody."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.budgets import budget_object, over
from planner.checks.changes import in_budget
from planner.checks.finding import READ, Finding, Idea
from planner.checks.subject import Subject
from planner.checks.texts import braced, selector_text
from planner_models.policy import PodDisruptionBudget
from planner_models.selectors import LabelSelector

ID = "pdb-selects-nothing"


def find(subject: Subject) -> Iterator[Finding]:
    index = subject.cluster.group_index
    for budget in subject.budgets:
        selector = budget.spec.selector
        if len(index.matching(selector, (budget.namespace,))) or over(subject, budget):
            continue
        asked = (
            "It has no selector" if selector is None else f"{selector_text(selector)} matches none"
        )
        yield Finding(
            rule=ID,
            severity="warning",
            objects=(budget_object(budget),),
            field="spec.selector",
            title=f"the budget {budget.name} protects no pod",
            text=(f"{asked} of the pods and templates in namespace {budget.namespace}.",),
            proof=READ,
            ideas=tuple(_ideas(subject, budget)),
        )


def _ideas(subject: Subject, budget: PodDisruptionBudget) -> Iterator[Idea]:
    """The labels of the only workload beside it, or of the one of its name."""
    near = [each for each in subject.workloads if each.ref.namespace == budget.namespace]
    named = [each for each in near if each.name in budget.name] or near
    labels = dict(named[0].template.metadata.labels) if len(named) == 1 else {}
    if labels:
        selector = LabelSelector(match_labels=labels)
        yield Idea(
            f"selector: {{matchLabels: {braced(labels)}}}",
            in_budget(budget, selector=selector),
        )
