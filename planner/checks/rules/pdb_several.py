"""`pdb-several`: two budgets over one pod. The Eviction API answers 500 and evicts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.checks.budgets import budget_object, budgets_of
from planner.checks.finding import API, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.sources.inventory import Inventory
from planner.words import conjoined

ID = "pdb-several"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    budgets = budgets_of(subject, workload)
    if len(budgets) < 2:
        return
    names = conjoined([each.name for each in budgets])
    yield Finding(
        rule=ID,
        severity="error",
        objects=(budget_object(budgets[-1]), workload.object),
        field="spec.selector",
        title=f"{len(budgets)} budgets select {workload.name}: no eviction is ever accepted",
        text=(f"{names} select its pods, and the Eviction API refuses a pod with two budgets.",),
        proof=API,
        ideas=(
            Idea(
                f"only one of {names}",
                lambda given: _without(given, frozenset(each.key for each in budgets[1:])),
            ),
        ),
    )


def _without(inventory: Inventory, keys: frozenset[str]) -> Inventory:
    return replace(
        inventory, budgets=tuple(each for each in inventory.budgets if each.key not in keys)
    )
