"""`pdb-blocks`: a budget that allows no disruption in any state, so that drains wait for ever.

The disruption controller wants as many healthy pods as there can be; all of them being ready does
not help.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.budgets import budget_object, over
from planner.checks.changes import in_budget, with_replicas
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.subject import Subject
from planner.disruption.budget_status import BudgetStatus, budget_statuses
from planner.words import conjoined

ID = "pdb-blocks"


def find(subject: Subject) -> Iterator[Finding]:
    checked = {budget.key for budget in subject.budgets}
    for status in budget_statuses(subject.cluster, trust_status=False, only=checked):
        if not status.never or not status.pods:
            continue
        names = [each.name for each in over(subject, status.budget)]
        whose = conjoined(names) if names else f"what {status.budget.name} selects"
        spec = status.budget.spec
        field = "spec.minAvailable" if spec.min_available is not None else "spec.maxUnavailable"
        yield Finding(
            rule=ID,
            severity="error",
            objects=(budget_object(status.budget),),
            field=field
            if spec.min_available is not None or spec.max_unavailable is not None
            else "spec",
            title=f"every drain of a node with a pod of {whose} waits for ever",
            text=(f"{_why(status)}: 0 disruptions are allowed in every state.",),
            facts={"pods": status.pods, "desiredHealthy": status.desired},
            proof=COUNTED,
            ideas=tuple(_ideas(subject, status)),
        )


def _why(status: BudgetStatus) -> str:
    spec = status.budget.spec
    if spec.min_available is not None and status.desired:
        return f"minAvailable {spec.min_available} of {status.pods} replicas"
    return status.never[:1].upper() + status.never[1:]


def _ideas(subject: Subject, status: BudgetStatus) -> Iterator[Idea]:
    budget = status.budget
    yield Idea(
        "maxUnavailable: 1",
        in_budget(budget, min_available=None, max_unavailable=1),
        then="1 disruption is allowed",
    )
    workloads = over(subject, budget)
    if len(workloads) == 1 and isinstance(budget.spec.min_available, int):
        wanted = budget.spec.min_available + 1
        yield Idea(
            f"{wanted} replicas",
            with_replicas(workloads[0], wanted),
            then="1 disruption is allowed",
        )
