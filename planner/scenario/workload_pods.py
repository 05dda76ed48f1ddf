"""The pods of a workload in a snapshot."""

from __future__ import annotations

from planner.cluster import GONE, Cluster
from planner.cluster.owners import WorkloadRef


def workload_pods(cluster: Cluster, workload: WorkloadRef) -> list[int]:
    """All that are there, terminating ones included."""
    pods: list[int] = cluster.pods_of(cluster.groups_of(workload)).tolist()
    return [pod for pod in pods if cluster.node_of[pod] != GONE]


def lasting_pods(cluster: Cluster, workload: WorkloadRef) -> list[int]:
    """Those that are not leaving."""
    return [pod for pod in workload_pods(cluster, workload) if not cluster.terminating[pod]]
