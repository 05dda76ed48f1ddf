"""The pods of a checked workload in the cluster, and the cluster with nobody else waiting."""

from __future__ import annotations

import numpy as np

from planner.checks.workloads import CheckedWorkload
from planner.cluster import GONE, PENDING, Cluster
from planner_models.pod import DEFAULT_SCHEDULER


def own_pods(cluster: Cluster, workload: CheckedWorkload) -> list[int]:
    """All that run or wait; who is leaving does not count."""
    pods = np.sort(cluster.pods_of(cluster.groups_of(workload.ref)))
    there = (cluster.node_of[pods] != GONE) & ~cluster.terminating[pods]
    found: list[int] = pods[there].tolist()
    return found


def waiting_pods(cluster: Cluster, workload: CheckedWorkload) -> list[int]:
    """Those without a node that kube-scheduler would look at."""
    waiting = [pod for pod in own_pods(cluster, workload) if cluster.node_of[pod] == PENDING]
    return [
        pod
        for pod in waiting
        if not cluster.pods[pod].spec.scheduling_gates
        and cluster.pods[pod].spec.scheduler_name == DEFAULT_SCHEDULER
    ]


def alone(cluster: Cluster, pods: list[int]) -> Cluster:
    """The cluster in which only these pods wait: what others wait for is their own matter."""
    mine = set(pods)
    return cluster.with_placement(
        {pod: GONE for pod in cluster.pending.tolist() if pod not in mine}
    )
