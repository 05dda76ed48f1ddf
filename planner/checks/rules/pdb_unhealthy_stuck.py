"""`pdb-unhealthy-stuck`: pods that are not ready block drains under IfHealthyBudget.

Unless the budget is met without them, the Eviction API refuses to evict even a pod that never
became ready; AlwaysAllow lets such pods go.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.budgets import budget_object
from planner.checks.changes import in_budget
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.rule import Rule
from planner.checks.subject import Subject
from planner.disruption.budget_status import budget_statuses
from planner.words import count_of

ID = "pdb-unhealthy-stuck"


def _find(subject: Subject) -> Iterator[Finding]:
    checked = {budget.key for budget in subject.budgets}
    for status in budget_statuses(subject.cluster, trust_status=False):
        unready = status.down - status.waiting
        if status.name not in checked or not unready or status.unhealthy_may_go:
            continue
        yield Finding(
            rule=ID,
            severity="note",
            objects=(budget_object(status.budget),),
            field="spec.unhealthyPodEvictionPolicy",
            title=f"pods under {status.budget.name} that are not ready block drains",
            text=(
                f"{count_of(unready, 'pod')} of {status.pods} "
                f"{'is' if unready == 1 else 'are'} not ready, and the budget wants "
                f"{status.desired} healthy ones: even those that never start can't be evicted.",
            ),
            facts={"unready": unready, "desiredHealthy": status.desired},
            proof=COUNTED,
            ideas=(
                Idea(
                    "unhealthyPodEvictionPolicy: AlwaysAllow",
                    in_budget(status.budget, unhealthy_pod_eviction_policy="AlwaysAllow"),
                ),
            ),
        )


RULE = Rule(ID, "note", False, "unready pods that block drains", _find)
