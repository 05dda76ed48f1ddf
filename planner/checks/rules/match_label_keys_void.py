"""`match-label-keys-void`: a key of matchLabelKeys that the pods do not have is ignored."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_constraint
from planner.checks.finding import READ, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import LABELS_BY_CONTROLLER, CheckedWorkload

ID = "match-label-keys-void"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    labels = subject.sample(workload).labels
    for index, constraint in enumerate(subject.spec(workload).topology_spread_constraints):
        for number, key in enumerate(constraint.match_label_keys):
            if key in labels:
                continue
            yield Finding(
                rule=ID,
                severity="warning",
                objects=(workload.object,),
                field=workload.field(
                    f"topologySpreadConstraints[{index}].matchLabelKeys[{number}]"
                ),
                title=f"no {workload.name} pod has the label {key} of matchLabelKeys",
                text=("A key that the pods lack is ignored: all revisions are counted together.",),
                proof=READ,
                ideas=tuple(_given_by_controller(subject, workload, index, key)),
            )


def _given_by_controller(
    subject: Subject, workload: CheckedWorkload, index: int, key: str
) -> Iterator[Idea]:
    """The label by which this kind of controller tells revisions apart."""
    for known in LABELS_BY_CONTROLLER.get(workload.ref.kind, ())[:1]:
        keys = (known,)
        change = in_constraint(workload, index, match_label_keys=keys)
        yield Idea(f"matchLabelKeys: [{known}] instead of {key}", change)
