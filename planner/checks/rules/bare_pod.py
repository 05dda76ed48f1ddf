"""`bare-pod`: a pod that no controller brings back. kubectl drain refuses it without --force."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import READ, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload

ID = "bare-pod"


@per_workload
def find(_: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    if workload.ref.kind == "Pod":
        yield Finding(
            rule=ID,
            severity="note",
            objects=(workload.object,),
            field="metadata.ownerReferences",
            title=f"no controller brings {workload.name} back",
            text=("kubectl drain refuses its node without --force, and then the pod is gone.",),
            proof=READ,
        )
