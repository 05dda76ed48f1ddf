"""`priority-unknown`: a PriorityClass that does not exist. The API server refuses such pods."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_spec
from planner.checks.finding import API, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.explain.situation.lookalikes import lookalike
from planner_models.workload import SYSTEM_PRIORITY_CLASSES

ID = "priority-unknown"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    name = subject.spec(workload).priority_class_name
    known = {*SYSTEM_PRIORITY_CLASSES, *(each.name for each in subject.inventory.priority_classes)}
    if not name or name in known:
        return
    meant = lookalike(known, name)
    yield Finding(
        rule=ID,
        severity="error",
        objects=(workload.object,),
        field=workload.field("priorityClassName"),
        title=f"there is no PriorityClass {name}",
        text=(
            f"The API server refuses every pod of {workload.name}, unless the class is created "
            "first.",
        ),
        proof=API,
        ideas=tuple(_ideas(workload, meant)),
    )


def _ideas(workload: CheckedWorkload, meant: str | None) -> Iterator[Idea]:
    if meant is not None:
        change = in_spec(workload, priority_class_name=meant)
        yield Idea(f"priorityClassName: {meant}", change)
