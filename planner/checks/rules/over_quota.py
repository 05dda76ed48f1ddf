"""`over-quota`: replicas that a ResourceQuota keeps from being created."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.finding import COUNTED, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import Cluster
from planner.cluster.quotas import Quotas
from planner.words import count_of

ID = "over-quota"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    if all(quota.namespace != workload.ref.namespace for quota in subject.inventory.quotas):
        return
    samples = subject.samples
    first = len(samples.pods) - len(subject.sample_pods)
    cluster = samples.without(range(first, len(samples.pods)))
    wanted = max(0, workload.most - _running(cluster, workload))
    room = Quotas(cluster).room(workload.ref.namespace, subject.spec(workload)) if wanted else None
    if room is None or room.pods >= wanted:
        return
    left = room.pods
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


def _running(cluster: Cluster, workload: CheckedWorkload) -> int:
    groups = [i for i, ref in enumerate(cluster.workloads) if ref == workload.ref]
    return int(np.count_nonzero(np.isin(cluster.group_of[cluster.running], groups)))
