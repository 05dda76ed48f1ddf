"""Which running pods may be moved, and why the others may not.

The same pods that drain tools and the descheduler leave alone, because evicting them loses
something that no controller brings back; and those of which their controller, the Eviction API or
the node make something else than the same pod on another node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.disruption.budgets import Allowances, allowances
from planner.disruption.replacement import Replacements, known_controller, replacements_of
from planner_models.node import Node
from planner_models.pod import DEFAULT_SCHEDULER, Pod
from planner_models.workload import SYSTEM_CRITICAL_PRIORITY

MIRROR = "kubernetes.io/config.mirror"
PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
"""`true`, or for how long after the pod's start."""
AWAY = frozenset(("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"))
"""Taints of nodes whose kubelet does not answer: nobody ends a pod there."""

Immovable = Literal[
    "terminating",
    "mirror",
    "daemonSet",
    "noController",
    "localStorage",
    "volume",
    "resourceClaim",
    "systemCritical",
    "annotation",
    "otherScheduler",
    "nodeNotReady",
    "job",
    "unknownOwner",
    "notReplaced",
    "budget",
]

WHY: dict[Immovable, str] = {
    "terminating": "it is terminating already",
    "mirror": "it is a static pod of its node",
    "daemonSet": "a DaemonSet runs it on its node",
    "noController": "no controller would bring it back",
    "localStorage": "it has local storage",
    "volume": "it has a volume claim",
    "resourceClaim": "it has resource claims, which planner does not model",
    "systemCritical": "it has a system-critical priority",
    "annotation": "an annotation asks to leave it alone",
    "otherScheduler": "another scheduler places it",
    "nodeNotReady": "its node is not ready, so nobody would end it there",
    "job": "a Job counts a deleted pod as a failure (--allow-jobs)",
    "unknownOwner": "its owner's kind is not known",
    "notReplaced": "its controller does not bring the same pod back",
    "budget": "its budget never allows it",
}


WITH_THEIR_NODE: frozenset[Immovable] = frozenset(("daemonSet", "mirror", "terminating"))
"""Pods that are no obstacle to emptying a node: they stay with it, or leave by themselves."""


@dataclass(frozen=True)
class Stay:
    """Why a pod stays: a kind to tell reasons apart by, and the reason in words."""

    kind: Immovable
    text: str


@dataclass(frozen=True)
class MovePolicy:
    """What may be moved beyond the usual."""

    bare_pods: bool = False
    local_storage: bool = False
    host_path: bool = False
    """Pods with hostPath volumes: `kubectl drain` takes these for no local storage."""
    volumes: bool = False
    system_critical: bool = False
    jobs: bool = False
    owners: frozenset[str] = frozenset()
    """Kinds of owners that are trusted to bring the same pod back."""


DEFAULT_POLICY = MovePolicy()


def immovable(pod: Pod, policy: MovePolicy = DEFAULT_POLICY) -> Immovable | None:
    """Why the pod has to stay by what it says of itself; `Movability` knows the rest."""
    if pod.terminating:
        return "terminating"
    if MIRROR in pod.annotations or (pod.owner is not None and pod.owner.kind == "Node"):
        return "mirror"
    if pod.owner is not None and pod.owner.kind == "DaemonSet":
        return "daemonSet"
    if pod.owner is None and not policy.bare_pods:
        return "noController"
    if _annotated(pod):
        return "annotation"
    if pod.priority >= SYSTEM_CRITICAL_PRIORITY and not policy.system_critical:
        return "systemCritical"
    if pod.spec.resource_claims:
        return "resourceClaim"
    return _storage(pod, policy)


def goes_with_node(group: PodGroup) -> bool:
    """Whether a DaemonSet or the kubelet runs pods of the group, each on its own node."""
    kind = group.owner.kind if group.owner is not None else ""
    return kind in ("DaemonSet", "Node") or MIRROR in group.example.annotations


def _annotated(pod: Pod) -> bool:
    told = pod.annotations
    return (
        PREFER_NO_EVICTION in told
        or told.get(SAFE_TO_EVICT) == "false"
        or told.get(DO_NOT_DISRUPT, "false") != "false"
    )


def _storage(pod: Pod, policy: MovePolicy) -> Immovable | None:
    for volume in pod.volumes:
        harmless = policy.host_path and volume.empty_dir is None
        if volume.local and not (policy.local_storage or harmless):
            return "localStorage"
        claimed = volume.persistent_volume_claim or volume.ephemeral
        if claimed is not None and not policy.volumes:
            return "volume"
    return None


def answers(node: Node) -> bool:
    """Whether the kubelet of a node can be expected to end pods and to start them."""
    return node.ready and not any(taint.key in AWAY for taint in node.spec.taints)


class Movability:
    """Who may be moved in a snapshot, and why the others stay."""

    def __init__(
        self,
        cluster: Cluster,
        policy: MovePolicy = DEFAULT_POLICY,
        budgets: Allowances | None = None,
    ) -> None:
        self._cluster = cluster
        self._known = budgets
        self._policy = policy
        self._trusted = frozenset(kind.lower() for kind in policy.owners)
        self._away = frozenset(i for i, node in enumerate(cluster.nodes) if not answers(node))
        self._group_of: list[int] = cluster.group_of.tolist()
        self._node_of: list[int] = cluster.node_of.tolist()
        self._told: dict[tuple[object, ...], Stay | None] = {}
        """By what pods of a group may differ in; members of StatefulSets differ in their number."""

    def why(self, pod: int) -> Stay | None:
        """Why a running pod stays, or None if it may move."""
        found = self._cluster.pods[pod]
        if found.owner is not None and found.owner.kind == "StatefulSet":
            return self._asked(pod)
        group, away = self._group_of[pod], self._node_of[pod] in self._away
        key = (group, id(found.annotations), found.terminating, found.ready, away)
        if key not in self._told:
            self._told[key] = self._asked(pod)
        return self._told[key]

    def _asked(self, pod: int) -> Stay | None:
        found = self._cluster.pods[pod]
        stays = immovable(found, self._policy)
        if stays is not None:
            return Stay(stays, WHY[stays])
        if found.spec.scheduler_name != DEFAULT_SCHEDULER:
            return Stay("otherScheduler", f"its scheduler is {found.spec.scheduler_name}")
        if self._node_of[pod] in self._away:
            return Stay("nodeNotReady", WHY["nodeNotReady"])
        return self._not_replaced(pod) or self._refused(pod)

    @cached_property
    def _replacements(self) -> Replacements:
        """What controllers make of evicted pods."""
        return replacements_of(self._cluster)

    @cached_property
    def _budgets(self) -> Allowances:
        return self._known or allowances(self._cluster)

    def _not_replaced(self, pod: int) -> Stay | None:
        owner = self._cluster.pods[pod].owner
        if owner is None or owner.kind.lower() in self._trusted:
            return None
        if not known_controller(owner):
            text = f"what a {owner.kind} does with a deleted pod is not known"
            return Stay("unknownOwner", f"{text} (--allow-owner {owner.kind})")
        if owner.kind == "Job" and not self._policy.jobs:
            return Stay("job", WHY["job"])
        comes = self._replacements.of(pod)
        if comes.fate in ("equal", "assumed"):
            return None
        return Stay("notReplaced", comes.reason)

    def _refused(self, pod: int) -> Stay | None:
        why = self._budgets.refusal(pod)
        return None if why is None else Stay("budget", why)
