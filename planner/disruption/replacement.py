"""What the controller of a pod makes after the pod was evicted.

A ReplicaSet counts its pods that are not terminating and makes new ones from its own template up to
`replicas`; a Deployment decides how many each of its ReplicaSets has. A StatefulSet makes a pod of
the same name, from the revision that is due for its ordinal, when the old one is gone. What a Job
does is in `jobs`. Where the input lacks the controller, the pod is assumed to come back equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.admission import Admission
from planner.disruption.counted_pods import CountedPods
from planner.disruption.jobs import job_replacement
from planner.disruption.ordinals import Ordinals, ordinal_of
from planner.disruption.rollouts import (
    deployment_name,
    revision_of,
    revisions_by_name,
    rollout_of,
)
from planner.disruption.templates import another_pod
from planner_models.meta import OwnerReference
from planner_models.pod import Pod
from planner_models.workload import (
    HASH_LABEL,
    REVISION_LABEL,
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


_MEMO = "replacements"
EQUAL = Replacement("equal")
ASSUMED = Replacement("assumed")


def known_controller(owner: OwnerReference) -> bool:
    """Whether this is one of Kubernetes' own controllers, and not another of the same kind."""
    if not owner.api_version:
        return owner.kind in GROUPS
    group = owner.api_version.rpartition("/")[0]
    return group in GROUPS.get(owner.kind, ())


def replacements_of(cluster: Cluster) -> Replacements:
    """What is known of a snapshot; everybody who asks about the same one shares it."""
    memo = cluster.own_memo
    if _MEMO not in memo:
        memo[_MEMO] = Replacements(cluster)
    found: Replacements = memo[_MEMO]
    return found


class Replacements:
    """What would come after each pod of a snapshot, if it was evicted."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._controllers = cluster.owners.controllers
        self._rollouts: dict[WorkloadRef, str] = {}
        """What is known by now, by ReplicaSet."""
        self._numbered: dict[WorkloadRef, Mapping[int, Pod]] = {}

    def of(self, pod: int, *, before: int = 0, together: int | None = None) -> Replacement:
        """What the pod's controller does once the pod is gone, and the API server then.

        `before` pods of its controller are gone already, and no longer too many. `together` pods of
        a Job go at about the same time; unless it is said, all of them may.
        """
        comes = self._made(pod, before, together)
        if comes.fate not in ("equal", "assumed"):
            return comes
        found = self._cluster.pods[pod]
        refused = self._admission.refusal(found)
        if refused:
            return Replacement("none", refused)
        other = self._admission.another(found)
        return Replacement("other", other) if other else comes

    @cached_property
    def _admission(self) -> Admission:
        return Admission(self._cluster)

    def _made(self, pod: int, before: int, together: int | None) -> Replacement:
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
                return self._without_controller(pod)

    def surplus(self, controller: WorkloadRef) -> int:
        """How many pods the controller has beyond those that it wants."""
        match self._controllers.get(controller):
            case ReplicaSet() | ReplicationController() as found:
                wanted = found.spec.replicas
            case Job() as found:
                wanted = found.wanted
            case _:
                return 0
        return max(0, len(self._pods_of[controller]) - wanted)

    @cached_property
    def _pods_of(self) -> CountedPods:
        return CountedPods(self._cluster)

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
        if ref not in self._rollouts:
            self._rollouts[ref] = self._rollout_above(controller)
        rollout = self._rollouts[ref]
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

    def _rollout_above(self, controller: ReplicaSet | ReplicationController) -> str:
        """What the owner of the controller is about to do with its pods, if there is one.

        Of an owner that is unknown (an Argo Rollout) or not in the input, two controllers with pods
        are the sign of a rollout.
        """
        owner = controller.metadata.controller
        if owner is None:
            return ""
        above = WorkloadRef(controller.namespace, owner.kind, owner.name)
        found = self._controllers.get(above)
        if isinstance(found, Deployment):
            return self._rollout(found)
        siblings = self._cluster.owners.owned_by(above)
        several = sum(each.spec.replicas > 0 for each in siblings) > 1
        return f"a rollout of {above.short} may be under way" if several else ""

    def _rollout(self, deployment: Deployment) -> str:
        ref = WorkloadRef(deployment.namespace, "Deployment", deployment.name)
        return rollout_of(
            ref.short,
            deployment,
            [
                (
                    each,
                    len(self._pods_of[WorkloadRef(each.namespace, "ReplicaSet", each.name)]),
                )
                for each in self._cluster.owners.replica_sets_of(ref)
            ],
        )

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
        if pod.finalizers:
            return Replacement("unknown", f"it stays until its finalizers go ({pod.finalizers})")
        if controller.spec.pod_management_policy != "Parallel":
            waits = self._ordinals.unready_below(ref, start, ordinal)
            if waits is not None:
                return Replacement("none", f"{ref.short} makes it anew only when {waits} is ready")
        due = revision_of(ref.short, controller, self._by_ordinal(ref), ordinal)
        if due.under_way:
            return Replacement("other", due.under_way)
        changed = another_pod(controller.spec.template, pod, same_template=due.same)
        return Replacement("other", changed) if changed else EQUAL

    def _by_ordinal(self, ref: WorkloadRef) -> Mapping[int, Pod]:
        if ref not in self._numbered:
            pods = [self._cluster.pods[each] for each in self._pods_of[ref]]
            numbered = ((ordinal_of(each.name), each) for each in pods)
            self._numbered[ref] = {n: each for n, each in numbered if n is not None}
        return self._numbered[ref]

    def _stateful_unseen(self, ref: WorkloadRef, pod: Pod) -> Replacement:
        """Of a set that the input lacks: it may be ordered, as sets usually are."""
        revisions = {
            self._cluster.pods[each].labels.get(REVISION_LABEL) for each in self._pods_of[ref]
        }
        if len(revisions) > 1:
            return Replacement("other", f"a rollout of {ref.short} may be under way")
        ordinal = ordinal_of(pod.name)
        lowest = self._ordinals.lowest(ref)
        waits = None if ordinal is None else self._ordinals.unready_below(ref, lowest, ordinal)
        if waits is not None:
            return Replacement(
                "unknown", f"{ref.short} may make it anew only when {waits} is ready"
            )
        return ASSUMED

    @cached_property
    def _ordinals(self) -> Ordinals:
        return Ordinals(self._cluster, self._pods_of)

    # Others

    def _without_controller(self, index: int) -> Replacement:
        """The input lacks the controller; the Deployment above may still be there."""
        pod = self._cluster.pods[index]
        if pod.owner is not None and pod.owner.kind == "StatefulSet":
            return self._stateful_unseen(
                WorkloadRef(pod.namespace, "StatefulSet", pod.owner.name), pod
            )
        if pod.owner is not None and pod.owner.kind == "Job":
            return Replacement("unknown", "its Job is not in the input, nor its backoffLimit")
        top = self._cluster.owners.workload_of(pod)
        found = self._controllers.get(top)
        if found is not None and found.metadata.deletion_timestamp is not None:
            return Replacement("none", f"{top.short} is being deleted")
        name = deployment_name(pod)
        if name and len(self._revisions[pod.namespace, name]) > 1:
            return Replacement("other", f"a rollout of deploy/{name} may be under way")
        return ASSUMED

    @cached_property
    def _revisions(self) -> Mapping[tuple[str, str], set[str]]:
        return revisions_by_name(self._cluster, self._pods_of)
