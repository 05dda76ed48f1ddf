"""Who a pod belongs to: Pod -> ReplicaSet -> Deployment, as far as the input shows the chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from planner_models.pod import Pod
from planner_models.workload import (
    HASH_LABEL,
    Controller,
    DaemonSet,
    Job,
    ReplicaSet,
    ReplicationController,
)

SHORT = {
    "Deployment": "deploy",
    "ReplicaSet": "rs",
    "StatefulSet": "sts",
    "DaemonSet": "ds",
    "Job": "job",
    "ReplicationController": "rc",
    "Pod": "pod",
}
"""kubectl's short names, for output."""


class WorkloadRef(NamedTuple):
    """The controller at the top of the chain; a pod without one stands for itself."""

    namespace: str
    kind: str
    name: str

    @property
    def short(self) -> str:
        """`deploy/web`, as kubectl users write it."""
        return f"{SHORT.get(self.kind, self.kind.lower())}/{self.name}"

    @property
    def key(self) -> str:
        """`Deployment default/web`."""
        return f"{self.kind} {self.namespace}/{self.name}"


class Owners:
    """The controllers of the input, and the way from a pod to its workload."""

    def __init__(self, controllers: Iterable[Controller]) -> None:
        self._by_ref: dict[WorkloadRef, Controller] = {
            WorkloadRef(c.namespace, type(c).__name__, c.name): c for c in controllers
        }

    @property
    def controllers(self) -> Mapping[WorkloadRef, Controller]:
        """Every controller by its reference."""
        return self._by_ref

    def with_controllers(self, changed: Iterable[Controller]) -> Owners:
        """These in the place of those with their names, or beside all others."""
        found = Owners(changed)
        found._by_ref = {**self._by_ref, **found._by_ref}
        return found

    def replica_sets_of(self, deployment: WorkloadRef) -> Sequence[ReplicaSet]:
        """Those that say that they belong to the Deployment."""
        return [each for each in self.owned_by(deployment) if isinstance(each, ReplicaSet)]

    def owned_by(self, owner: WorkloadRef) -> Sequence[ReplicaSet | ReplicationController]:
        """ReplicaSets of a Deployment, or of whatever it is that owns them."""
        return self._owned.get(owner, ())

    @cached_property
    def _owned(self) -> Mapping[WorkloadRef, Sequence[ReplicaSet | ReplicationController]]:
        found: dict[WorkloadRef, list[ReplicaSet | ReplicationController]] = {}
        for each in self._by_ref.values():
            if isinstance(each, ReplicaSet | ReplicationController):
                owner = each.metadata.controller
                if owner is not None:
                    ref = WorkloadRef(each.namespace, owner.kind, owner.name)
                    found.setdefault(ref, []).append(each)
        return found

    def workload_of(self, pod: Pod) -> WorkloadRef:
        """The topmost controller that the input shows or the owner references name."""
        if pod.owner is None:
            return WorkloadRef(pod.namespace, "Pod", pod.name)
        ref = WorkloadRef(pod.namespace, pod.owner.kind, pod.owner.name)
        if ref not in self._by_ref and ref.kind == "ReplicaSet":
            return self._deployment_by_name(pod, ref)
        return self._top(ref)

    def _deployment_by_name(self, pod: Pod, replica_set: WorkloadRef) -> WorkloadRef:
        """The Deployment, if the input lacks its ReplicaSets: they are named `deployment-hash`."""
        hashed = pod.labels.get(HASH_LABEL, "")
        name = replica_set.name.removesuffix(f"-{hashed}")
        deployment = WorkloadRef(pod.namespace, "Deployment", name)
        return self._top(deployment) if deployment in self._by_ref else replica_set

    def _top(self, ref: WorkloadRef) -> WorkloadRef:
        """Up the chain, which ends at the latest where it would come back to itself."""
        seen = {ref}
        while True:
            found = self._by_ref.get(ref)
            owner = found.metadata.controller if found else None
            if owner is None or owner.kind not in SHORT:
                return ref
            ref = WorkloadRef(ref.namespace, owner.kind, owner.name)
            if ref in seen:
                return ref
            seen.add(ref)

    def desired(self, ref: WorkloadRef) -> int | None:
        """How many pods the controller wants, where it says a number."""
        found = self._by_ref.get(ref)
        return None if found is None or isinstance(found, DaemonSet | Job) else found.spec.replicas
