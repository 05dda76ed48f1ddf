"""Fewer replicas: which pods go, and how often the choice is left to chance.

A ReplicaSet ranks its pods (`replica_set`); a StatefulSet deletes from the highest ordinal down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from planner.cluster import GONE, Cluster
from planner.cluster.owners import Owners, WorkloadRef
from planner.cluster.topology import IntArray
from planner.disruption.replacement import ordinal_of
from planner.errors import UsageError
from planner.scenario.replica_set import Candidate, acted_at, as_stored, deleted_first, ranks
from planner_models.workload import (
    Controller,
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)


@dataclass(frozen=True, eq=False)
class ScaleDown:
    """Pods of a workload of which so many go, as its controller compares them at that moment."""

    workload: WorkloadRef
    candidates: tuple[Candidate, ...]
    count: int
    now: int

    def chosen(self, random: Random | None) -> list[int]:
        """The pods that go: ties drawn, or without `random` by the UIDs of the snapshot."""
        if self.workload.kind == "StatefulSet":
            return [each.pod for each in self.candidates[: self.count]]
        return [e.pod for e in deleted_first(self.candidates, self.count, self.now, random)]

    @property
    def drawn(self) -> bool:
        """Whether the choice is left to chance."""
        return self.workload.kind != "StatefulSet" and not self.certain(self.candidates)

    def certain(self, candidates: Iterable[Candidate]) -> frozenset[int]:
        """The pods that go in every order of ties; none if several choices are left."""
        gone: set[int] = set()
        for rank in ranks(candidates, self.now):
            if len(gone) < self.count:
                gone |= {each.pod for each in rank.candidates}
        return frozenset(gone) if len(gone) == self.count else frozenset()


def scale_down_of(cluster: Cluster, ref: WorkloadRef, replicas: int) -> ScaleDown:
    """What the workload's controller has to choose from.

    A Deployment with pods of several ReplicaSets is in the middle of a rollout: how it shares out
    fewer replicas then is not modelled.
    """
    pods = pods_of(cluster, ref)
    owners = {cluster.pods[pod].owner for pod in pods}
    if len({owner.name for owner in owners if owner is not None}) > 1:
        raise UsageError(
            f"{ref.short} has pods of several ReplicaSets: its rollout has to end first",
            object=ref.key,
        )
    together = Counter(cluster.node_of[pods].tolist())
    candidates = [
        replace(
            as_stored(pod, cluster.pods[pod]),
            assigned=bool(cluster.node_of[pod] >= 0),
            together=together[int(cluster.node_of[pod])],
        )
        for pod in pods.tolist()
    ]
    if ref.kind == "StatefulSet":
        candidates.sort(key=lambda each: -(ordinal_of(cluster.pods[each.pod].name) or 0))
    return ScaleDown(ref, tuple(candidates), len(pods) - replicas, acted_at(cluster))


def scaled_down(cluster: Cluster, down: ScaleDown, replicas: int, random: Random | None) -> Cluster:
    """The cluster without the pods that go; its controllers want no more than are left."""
    gone = frozenset(down.chosen(random))
    controllers = [
        _wanting(each, replicas) if _concerned(cluster, ref, down) else each
        for ref, each in cluster.owners.controllers.items()
    ]
    return cluster.without(gone).with_owners(Owners(controllers))


def _concerned(cluster: Cluster, ref: WorkloadRef, down: ScaleDown) -> bool:
    """The workload itself, and the ReplicaSet of its pods."""
    first = cluster.pods[down.candidates[0].pod]
    own = first.owner is not None and (ref.namespace, ref.kind, ref.name) == (
        first.namespace,
        first.owner.kind,
        first.owner.name,
    )
    return own or ref == down.workload


def _wanting(controller: Controller, replicas: int) -> Controller:
    match controller:
        case Deployment():
            return controller.replace(spec=controller.spec.replace(replicas=replicas))
        case ReplicaSet():
            return controller.replace(spec=controller.spec.replace(replicas=replicas))
        case StatefulSet():
            return controller.replace(spec=controller.spec.replace(replicas=replicas))
        case ReplicationController():
            return controller.replace(spec=controller.spec.replace(replicas=replicas))
        case _:
            return controller


def pods_of(cluster: Cluster, ref: WorkloadRef) -> IntArray:
    """Pods of the workload but those that are leaving."""
    groups = [group for group, workload in enumerate(cluster.workloads) if workload == ref]
    pods = cluster.pods_of(np.array(groups, np.int64))
    return np.sort(pods[(cluster.node_of[pods] != GONE) & ~cluster.terminating[pods]])
