"""`affinity-nobody`: required pod affinity to pods that do not exist, its own included.

A workload whose term matches its own pods may start: kube-scheduler lets the first one pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import COUNTED, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.texts import selector_text
from planner.checks.workloads import CheckedWorkload

ID = "affinity-nobody"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    terms = subject.spec(workload).affinity.pod_affinity.required
    for index, term in enumerate(terms):
        namespace = workload.ref.namespace
        if len(subject.samples.groups_about(term, namespace)):
            continue
        if len(subject.cluster.groups_about(term, namespace)):
            continue
        selector = "" if term.label_selector is None else selector_text(term.label_selector)
        yield Finding(
            rule=ID,
            severity="error",
            objects=(workload.object,),
            field=workload.field(
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                f"[{index}].labelSelector"
            ),
            title=f"{workload.name} has to run beside pods that do not exist",
            text=(
                f"{selector or 'The selector'} matches no running or waiting pod and none of its "
                "own: no node ever passes.",
            ),
            proof=COUNTED,
        )
