"""Pods that controllers want and have not made yet.

Of a running cluster only pods count that are there: whoever lacks some for long is kept from making
them, by a quota or by the order of a StatefulSet. Between a change of a controller and its pods,
though, their room looks free. So what is left of a plan is tried with them as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from planner.cluster import Cluster
from planner.scenario.made_pods import with_missing_pods
from planner.sources.synthesise import Workloads
from planner.words import count_of
from planner_models.workload import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

C = TypeVar("C")


def with_unmade_pods(cluster: Cluster) -> Cluster:
    """The cluster with them, waiting behind all others; the same one if there are none."""
    found = cluster.owners.controllers.values()
    workloads = Workloads(
        deployments=_of(Deployment, found),
        replica_sets=_of(ReplicaSet, found),
        stateful_sets=_of(StatefulSet, found),
        daemon_sets=_of(DaemonSet, found),
        jobs=_of(Job, found),
        replication_controllers=_of(ReplicationController, found),
    )
    return with_missing_pods(cluster, workloads, cluster.nodes)


def _of(kind: type[C], found: Iterable[object]) -> tuple[C, ...]:
    return tuple(each for each in found if isinstance(each, kind))


def lacking(cluster: Cluster, more: Cluster) -> tuple[str, ...]:
    """Who lacks how many of those that `more` has: `sts/web lacks 1 pod`."""
    made = more.group_of[len(cluster.pods) :].tolist()
    counts = Counter(more.workloads[group].short for group in made)
    return tuple(f"{name} lacks {count_of(count, 'pod')}" for name, count in sorted(counts.items()))
