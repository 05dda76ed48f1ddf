"""`pdb-unhealthy-stuck`: pods that are not ready block drains under IfHealthyBudget.

Unless the budget is met without them, the Eviction API refuses to evict even a pod that never
became ready; AlwaysAllow lets such pods go.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.budgets import budget_object
from planner.checks.changes import in_budget
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.subject import Subject
from planner.disruption.budget_status import BudgetStatus, budget_statuses
from planner.words import count_of

ID = "pdb-unhealthy-stuck"


def find(subject: Subject) -> Iterator[Finding]:
    checked = {budget.key for budget in subject.budgets}
    for status in budget_statuses(subject.cluster, trust_status=False, only=checked):
        unready = status.down - status.waiting
        untried = status.pods > 0 and status.waiting == status.pods
        always = status.budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
        if always or not (unready or untried):
            continue
        if unready and status.unhealthy_may_go:
            continue
        yield Finding(
            rule=ID,
            severity="note",
            objects=(budget_object(status.budget),),
            field="spec.unhealthyPodEvictionPolicy",
            title=f"pods under {status.budget.name} that are not ready block drains",
            text=(_told(status, unready),),
            facts={"unready": unready, "desiredHealthy": status.desired},
            proof=COUNTED,
            ideas=(
                Idea(
                    "unhealthyPodEvictionPolicy: AlwaysAllow",
                    in_budget(status.budget, unhealthy_pod_eviction_policy="AlwaysAllow"),
                ),
            ),
        )


def _told(status: BudgetStatus, unready: int) -> str:
    wanted = f"the budget wants {status.desired} healthy ones"
    if not unready:
        return f"Should they never become ready, {wanted}: even they could then not be evicted."
    verb = "is" if unready == 1 else "are"
    pods = f"{count_of(unready, 'pod')} of {status.pods} {verb} not ready"
    return f"{pods}, and {wanted}: even those that never start can't be evicted."
