"""What the controller of a pod makes after the pod was evicted.

A ReplicaSet counts its pods that are not terminating and makes new ones from its own template up to
`replicas`; a Deployment decides how many each of its ReplicaSets has. A StatefulSet makes a pod of
the same name, from the revision that is due for its ordinal, when the old one is gone. What a Job
does is in `jobs`. Where the input lacks the controller, the pod is assumed to come back equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planner.cluster import GONE, Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.jobs import job_replacement
from planner.disruption.rollouts import revision_of, rollout_of
from planner.disruption.templates import another_pod
from planner_models.meta import OwnerReference
from planner_models.pod import Pod
from planner_models.workload import (
    HASH_LABEL,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

Fate = Literal["equal", "assumed", "other", "none", "unknown"]
"""Comes back equal, or is assumed to (its controller is not in the input); from another template;
not at all; nobody knows."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "ReplicaSet": ("apps", "extensions"),
    "StatefulSet": ("apps",),
    "DaemonSet": ("apps", "extensions"),
    "Job": ("batch",),
    "ReplicationController": ("",),
}
"""The controllers of pods whose rules are known, with their API groups."""


@dataclass(frozen=True)
class Replacement:
    """What comes after a pod, and why it is not the same again."""

    fate: Fate
    reason: str = ""


EQUAL = Replacement("equal")
ASSUMED = Replacement("assumed")


def known_controller(owner: OwnerReference) -> bool:
    """Whether this is one of Kubernetes' own controllers, and not another of the same kind."""
    if not owner.api_version:
        return owner.kind in GROUPS
    group = owner.api_version.rpartition("/")[0]
    return group in GROUPS.get(owner.kind, ())


class Replacements:
    """What would come after each pod of a snapshot, if it was evicted."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._controllers = cluster.owners.controllers

    def of(self, pod: int, *, before: int = 0, together: int | None = None) -> Replacement:
        """What the pod's controller does once the pod is gone.

        `before` pods of its controller are gone already, and no longer too many. `together` pods of
        a Job go at about the same time; unless it is said, all of them may.
        """
        found = self._cluster.pods[pod]
        if found.namespace in self._cluster.terminating_namespaces:
            return Replacement("none", f"its namespace {found.namespace} is being deleted")
        if found.owner is None:
            return Replacement("none", "no controller would bring it back")
        if not known_controller(found.owner):
            kind = found.owner.kind
            return Replacement("unknown", f"what a {kind} does with a deleted pod is not known")
        ref = WorkloadRef(found.namespace, found.owner.kind, found.owner.name)
        controller = self._controllers.get(ref)
        match controller:
            case ReplicaSet() | ReplicationController():
                return self._replicated(ref, controller, found, before)
            case StatefulSet():
                return self._stateful(ref, controller, pod)
            case Job():
                mine = [self._cluster.pods[each] for each in self._pods_of[ref][before:]]
                return Replacement(*job_replacement(controller, mine, together))
            case _:
                return self._without_controller(found)

    def surplus(self, controller: WorkloadRef) -> int:
        """How many pods the controller has beyond those that it wants."""
        match self._controllers.get(controller):
            case ReplicaSet() | ReplicationController() as found:
                wanted = found.spec.replicas
            case Job() as found:
                wanted = found.wanted
            case _:
                return 0
        return max(0, len(self._pods_of.get(controller, ())) - wanted)

    @cached_property
    def _pods_of(self) -> Mapping[WorkloadRef, Sequence[int]]:
        """The pods of each controller that count for it: who is leaving does not."""
        found: dict[WorkloadRef, list[int]] = defaultdict(list)
        gone = (self._cluster.node_of == GONE).tolist()
        for index, pod in enumerate(self._cluster.pods):
            if pod.owner is not None and not pod.terminating and not gone[index]:
                found[WorkloadRef(pod.namespace, pod.owner.kind, pod.owner.name)].append(index)
        return found

    # ReplicaSets

    def _replicated(
        self,
        ref: WorkloadRef,
        controller: ReplicaSet | ReplicationController,
        pod: Pod,
        before: int,
    ) -> Replacement:
        if controller.metadata.deletion_timestamp is not None:
            return Replacement("none", f"{ref.short} is being deleted")
        deployment = self._deployment_of(controller)
        if deployment is not None:
            rollout = self._rollout(deployment)
            if rollout:
                return Replacement("other", rollout)
        if controller.status.refused:
            return Replacement("none", f"the API server refuses new pods of {ref.short}")
        if len(self._pods_of[ref]) - before > controller.spec.replicas:
            return Replacement("none", f"{ref.short} has more pods than it wants")
        template = controller.spec.template
        hashed = template.metadata.labels.get(HASH_LABEL)
        same_template = hashed is not None and pod.labels.get(HASH_LABEL) == hashed
        changed = another_pod(template, pod, same_template=same_template)
        return Replacement("other", changed) if changed else EQUAL

    def _deployment_of(self, controller: ReplicaSet | ReplicationController) -> Deployment | None:
        owner = controller.metadata.controller
        if owner is None or owner.kind != "Deployment":
            return None
        found = self._controllers.get(WorkloadRef(controller.namespace, "Deployment", owner.name))
        return found if isinstance(found, Deployment) else None

    def _rollout(self, deployment: Deployment) -> str:
        ref = WorkloadRef(deployment.namespace, "Deployment", deployment.name)
        return rollout_of(
            ref.short,
            deployment,
            [
                (
                    each,
                    len(
                        self._pods_of.get(WorkloadRef(each.namespace, "ReplicaSet", each.name), ())
                    ),
                )
                for each in self._replica_sets[ref]
            ],
        )

    @cached_property
    def _replica_sets(self) -> Mapping[WorkloadRef, Sequence[ReplicaSet]]:
        """By Deployment."""
        found: dict[WorkloadRef, list[ReplicaSet]] = defaultdict(list)
        for ref, controller in self._controllers.items():
            owner = controller.metadata.controller
            if isinstance(controller, ReplicaSet) and owner is not None:
                found[WorkloadRef(ref.namespace, owner.kind, owner.name)].append(controller)
        return found

    # StatefulSets

    def _stateful(self, ref: WorkloadRef, controller: StatefulSet, index: int) -> Replacement:
        pod = self._cluster.pods[index]
        if controller.metadata.deletion_timestamp is not None:
            return Replacement("none", f"{ref.short} is being deleted")
        ordinal, start = ordinal_of(pod.name), controller.spec.ordinals.start
        if ordinal is None:
            return Replacement("unknown", f"its name is not one that {ref.short} gives")
        if not start <= ordinal < start + controller.spec.replicas:
            return Replacement("none", f"{ref.short} has more pods than it wants")
        if controller.spec.pod_management_policy != "Parallel":
            waits = self._unready_below(ref, start, ordinal)
            if waits is not None:
                return Replacement("none", f"{ref.short} makes it anew only when {waits} is ready")
        mine = {
            number: self._cluster.pods[each]
            for each in self._pods_of[ref]
            if (number := ordinal_of(self._cluster.pods[each].name)) is not None
        }
        due = revision_of(ref.short, controller, mine, ordinal)
        if due.under_way:
            return Replacement("other", due.under_way)
        changed = another_pod(controller.spec.template, pod, same_template=due.same)
        return Replacement("other", changed) if changed else EQUAL

    def _unready_below(self, ref: WorkloadRef, start: int, ordinal: int) -> str | None:
        """The first pod below that the set waits for, before it makes this one."""
        name = ref.name
        ready = self._ready_of(ref)
        return next(
            (f"{name}-{below}" for below in range(start, ordinal) if below not in ready), None
        )

    def _ready_of(self, ref: WorkloadRef) -> frozenset[int]:
        if ref not in self._ready:
            node_of, pods = self._cluster.node_of, self._cluster.pods
            ready = (p for p in self._pods_of[ref] if pods[p].ready and node_of[p] >= 0)
            numbers = (ordinal_of(pods[each].name) for each in ready)
            self._ready[ref] = frozenset(number for number in numbers if number is not None)
        return self._ready[ref]

    @cached_property
    def _ready(self) -> dict[WorkloadRef, frozenset[int]]:
        return {}

    # Others

    def _without_controller(self, pod: Pod) -> Replacement:
        """The input lacks the controller; the Deployment above may still be there."""
        if pod.owner is not None and pod.owner.kind == "Job":
            return Replacement("unknown", "its Job is not in the input, nor its backoffLimit")
        top = self._cluster.owners.workload_of(pod)
        found = self._controllers.get(top)
        if found is not None and found.metadata.deletion_timestamp is not None:
            return Replacement("none", f"{top.short} is being deleted")
        return ASSUMED


def ordinal_of(name: str) -> int | None:
    """The number at the end of a StatefulSet pod's name."""
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isascii() and tail.isdigit() else None
