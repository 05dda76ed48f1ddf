"""`priority-never`: preemptionPolicy Never. The pods go first in the queue and drive nobody off."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import READ, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload

ID = "priority-never"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    spec = subject.spec(workload)
    if spec.preemption_policy == "Never" and (spec.priority or 0) > 0:
        yield Finding(
            rule=ID,
            severity="note",
            objects=(workload.object,),
            field=workload.field("priorityClassName"),
            title=f"{workload.name} has priority {spec.priority} and preempts nobody",
            text=(
                "preemptionPolicy Never: its pods are scheduled before others, but wait where "
                "there is no room.",
            ),
            proof=READ,
        )
