"""The `Diagnosis` of workloads all of whose pods have a node: there is nothing to explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.words import NAMED
from planner_models.diagnosis import Diagnosis


def nothing_pending(cluster: Cluster, pods: Sequence[int]) -> Diagnosis:
    """How many pods of each workload run."""
    running: dict[WorkloadRef, int] = {}
    for pod in pods:
        ref = cluster.workloads[int(cluster.group_of[pod])]
        running[ref] = running.get(ref, 0) + int(cluster.node_of[pod] >= 0)
    told = list(_told(cluster, running))
    if not told:
        return Diagnosis(
            targets=(), verdict="schedulable", headline="there is no pending pod to explain"
        )
    more = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return Diagnosis(
        targets=(),
        verdict="schedulable",
        workloads=tuple(ref.short for ref in sorted(running)),
        headline=f"no pod is pending: {', '.join(told[:NAMED])}{more}",
    )


def _told(cluster: Cluster, running: dict[WorkloadRef, int]) -> Iterator[str]:
    """`deploy/api has 12 of 12 running`."""
    for ref, number in sorted(running.items()):
        wanted = cluster.owners.desired(ref)
        of = f"{number}" if wanted is None else f"{number} of {wanted}"
        yield f"{ref.short} has {of} running"
