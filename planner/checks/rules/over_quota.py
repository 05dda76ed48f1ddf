"""`over-quota`: replicas that a ResourceQuota keeps from being created."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import COUNTED, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster.quotas import Quotas
from planner.words import count_of

ID = "over-quota"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    cluster = subject.samples
    running = sum(
        cluster.workloads[int(cluster.group_of[pod])] == workload.ref
        for pod in cluster.running.tolist()
    )
    wanted = max(0, workload.most - running)
    room = Quotas(cluster).room(workload.ref.namespace, subject.spec(workload)) if wanted else None
    # The two samples are in the snapshot and count like any pod.
    left = None if room is None else room.pods + 2
    if room is None or left is None or left >= wanted:
        return
    yield Finding(
        rule=ID,
        severity="error",
        objects=(workload.object,),
        field="spec.replicas",
        title=f"{wanted - left} of {workload.most} {workload.name} pods are refused by a quota",
        text=(
            f"ResourceQuota {room.quota} has room for {count_of(left, 'more pod')} like it "
            f"({room.resource}), and {wanted} are wanted.",
        ),
        facts={"room": left, "wanted": wanted},
        proof=COUNTED,
    )
