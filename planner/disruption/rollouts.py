"""Whether a Deployment or a StatefulSet is in the middle of a change of its pods.

Then it makes and deletes pods on its own, from one template or the other, and nobody can promise
what comes after an evicted pod.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.disruption.counted_pods import CountedPods
from planner_models.pod import Pod, PodTemplate
from planner_models.workload import (
    HASH_LABEL,
    REVISION_LABEL,
    Deployment,
    ReplicaSet,
    StatefulSet,
)


def rollout_of(
    name: str, deployment: Deployment, replica_sets: Sequence[tuple[ReplicaSet, int]]
) -> str:
    """What the Deployment is about to do, in words; `replica_sets` come with their pods' number.

    The ReplicaSet in force is the one with the Deployment's own template, as its controller finds
    it. A paused Deployment leaves its ReplicaSets as they are.
    """
    if deployment.metadata.deletion_timestamp is not None:
        return f"{name} is being deleted"
    if deployment.spec.paused:
        return ""
    wanted = deployment.spec.template
    new = [each for each, _ in replica_sets if same_template(each.spec.template, wanted)]
    old = [each for each in replica_sets if each[0] not in new]
    if not new or any(each.spec.replicas or pods for each, pods in old):
        return f"a rollout of {name} is under way"
    if sum(each.spec.replicas for each in new) != deployment.spec.replicas:
        return f"{name} is being scaled"
    return ""


def same_template(one: PodTemplate, other: PodTemplate) -> bool:
    """Whether both make the same pods, but for the hash that tells revisions apart."""
    return one.spec == other.spec and _labels(one) == _labels(other)


def _labels(template: PodTemplate) -> dict[str, str]:
    return {k: v for k, v in template.metadata.labels.items() if k != HASH_LABEL}


@dataclass(frozen=True)
class DueRevision:
    """What a StatefulSet makes for an ordinal: a word on a change under way, or the revision.

    `same` says that the pod of that ordinal carries the revision which is due.
    """

    under_way: str = ""
    same: bool = False


def revision_of(
    name: str, controller: StatefulSet, pods: Mapping[int, Pod], ordinal: int
) -> DueRevision:
    """The revision that is due for an ordinal, against the one that its pod has.

    `RollingUpdate` replaces the pods from `partition` on by itself. Below it, and without it as
    long as the ordinal is among the first `status.currentReplicas`, a new pod is of the current
    revision; otherwise, and with `OnDelete` always, of the latest.
    """
    status, strategy = controller.status, controller.spec.update_strategy
    label = pods[ordinal].labels.get(REVISION_LABEL, "") if ordinal in pods else ""
    if not status.update_revision or not label:
        return DueRevision()
    rolling, start = strategy.rolling_update, controller.spec.ordinals.start
    first = start + (rolling.partition if rolling is not None else 0)
    if strategy.type == "RollingUpdate" and any(
        number >= first
        and pod.labels.get(REVISION_LABEL, status.update_revision) != status.update_revision
        for number, pod in pods.items()
    ):
        return DueRevision(under_way=f"a rollout of {name} is under way")
    current = (
        ordinal < first
        if rolling is not None
        else (strategy.type == "RollingUpdate" and ordinal < start + status.current_replicas)
    )
    due = status.current_revision if current else status.update_revision
    if label != due:
        return DueRevision(under_way=f"{name} would make it from another revision ({due})")
    return DueRevision(same=True)


def deployment_name(pod: Pod) -> str:
    """Of a pod whose ReplicaSet is called `deployment-hash`; empty for others."""
    hashed = pod.labels.get(HASH_LABEL, "")
    if pod.owner is None or pod.owner.kind != "ReplicaSet" or not hashed:
        return ""
    name = pod.owner.name.removesuffix(f"-{hashed}")
    return name if name != pod.owner.name else ""


def revisions_by_name(cluster: Cluster, pods_of: CountedPods) -> Mapping[tuple[str, str], set[str]]:
    """ReplicaSets with pods, by the namespace and name of the Deployment that they tell of."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for ref, pods in pods_of.items():
        name = deployment_name(cluster.pods[pods[0]])
        if name:
            found[ref.namespace, name].add(ref.name)
    return found
