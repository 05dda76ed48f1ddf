"""`local-storage`: emptyDir volumes lose their data with the pod. kubectl drain asks for a flag."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import READ, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.words import conjoined, count_of

ID = "local-storage"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    volumes = subject.sample(workload).volumes
    local = [index for index, each in enumerate(volumes) if each.local]
    if local and workload.ref.kind != "DaemonSet":
        names = conjoined([volumes[index].name for index in local])
        verb = "is" if len(local) == 1 else "are"
        yield Finding(
            rule=ID,
            severity="note",
            objects=(workload.object,),
            field=workload.field(f"volumes[{local[0]}]"),
            title=f"{workload.name} keeps data on its node",
            text=(
                f"{count_of(len(local), 'volume')} ({names}) {verb} lost when a pod moves; "
                "kubectl drain needs --delete-emptydir-data.",
            ),
            proof=READ,
        )
