"""`no-budget`: replicas without a PodDisruptionBudget. A drain may take all of them at once."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.budgets import budgets_of
from planner.checks.finding import READ, Finding
from planner.checks.subject import Subject
from planner.words import conjoined

ID = "no-budget"
SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for all: a list of names says it better than a list of findings."""
    bare = [
        each
        for each in subject.workloads
        if each.ref.kind in SCALED and each.most > 1 and not budgets_of(subject, each)
        if ID not in each.silent
    ]
    if not bare:
        return
    verb = "has" if len(bare) == 1 else "have"
    them = "its pods" if len(bare) == 1 else "their pods"
    yield Finding(
        rule=ID,
        severity="note",
        objects=tuple(each.object for each in bare),
        field="",
        title=f"{conjoined([each.name for each in bare])} {verb} no budget",
        text=(f"A drain may take down all of {them} on its nodes at once.",),
        proof=READ,
    )
