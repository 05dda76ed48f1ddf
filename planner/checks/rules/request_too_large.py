"""`request-too-large`: no node could hold the pod, even if nothing but DaemonSets ran there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.finding import COUNTED, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.words import amount, conjoined, resource_word

ID = "request-too-large"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    cluster, spec = subject.samples, subject.spec(workload)
    rules = subject.node_rules
    usable = np.flatnonzero(rules.affinity(spec) & rules.taints(spec.tolerations))
    if not len(usable):
        return
    room = (cluster.resources.allocatable - daemons(subject))[usable]
    asked = cluster.resources.requests[subject.group(workload).index]
    short = (room < asked) & (asked > 0)
    if not short.any(axis=1).all():
        return
    names = cluster.resources.names
    never = np.flatnonzero(short.all(axis=0)).tolist() or np.flatnonzero(short.any(axis=0)).tolist()
    told = [
        f"{resource_word(names[r])} {amount(names[r], int(asked[r]))}, "
        f"at most {amount(names[r], int(room[:, r].max()))}"
        for r in never
    ]
    words = conjoined([resource_word(names[r]) for r in never])
    yield Finding(
        rule=ID,
        severity="error",
        objects=(workload.object,),
        field=workload.field("containers[*].resources.requests"),
        title=f"no node is large enough for {workload.name}: {words}",
        text=(
            f"Asked and there, on the largest empty node that it may use: {'; '.join(told)}. "
            "DaemonSet pods are taken off.",
        ),
        proof=COUNTED,
    )


def daemons(subject: Subject) -> IntArray:
    """What the running DaemonSet pods of each node request: they stay, whoever else goes."""
    if ID not in subject.memo:
        cluster = subject.samples
        of_daemons = [i for i, ref in enumerate(cluster.workloads) if ref.kind == "DaemonSet"]
        pods = cluster.running[np.isin(cluster.group_of[cluster.running], of_daemons)]
        requests = cluster.resources.requests[cluster.group_of[pods]]
        subject.memo[ID] = sum_by(cluster.node_of[pods], requests, len(cluster.nodes))
    found: IntArray = subject.memo[ID]
    return found
