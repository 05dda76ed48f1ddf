"""Which running pods may be moved, and why the others may not.

The same pods that drain tools and the descheduler leave alone: evicting them loses something that
no controller brings back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner_models.pod import Pod
from planner_models.workload import SYSTEM_CRITICAL_PRIORITY

MIRROR = "kubernetes.io/config.mirror"
PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"

Immovable = Literal[
    "terminating",
    "mirror",
    "daemonSet",
    "noController",
    "localStorage",
    "volume",
    "systemCritical",
    "annotation",
]

WHY: dict[Immovable, str] = {
    "terminating": "it is terminating already",
    "mirror": "it is a static pod of its node",
    "daemonSet": "a DaemonSet runs it on its node",
    "noController": "no controller would bring it back",
    "localStorage": "it has local storage",
    "volume": "it has a volume claim",
    "systemCritical": "it has a system-critical priority",
    "annotation": "an annotation asks to leave it alone",
}


@dataclass(frozen=True)
class MovePolicy:
    """What may be moved beyond the usual."""

    bare_pods: bool = False
    local_storage: bool = False
    volumes: bool = False
    system_critical: bool = False


DEFAULT_POLICY = MovePolicy()


def immovable(pod: Pod, policy: MovePolicy = DEFAULT_POLICY) -> Immovable | None:
    """Why the pod has to stay where it is, or None if it may move."""
    if pod.terminating:
        return "terminating"
    if MIRROR in pod.annotations or (pod.owner is not None and pod.owner.kind == "Node"):
        return "mirror"
    if pod.owner is not None and pod.owner.kind == "DaemonSet":
        return "daemonSet"
    if pod.owner is None and not policy.bare_pods:
        return "noController"
    if PREFER_NO_EVICTION in pod.annotations or pod.annotations.get(SAFE_TO_EVICT) == "false":
        return "annotation"
    if pod.priority >= SYSTEM_CRITICAL_PRIORITY and not policy.system_critical:
        return "systemCritical"
    return _storage(pod, policy)


def _storage(pod: Pod, policy: MovePolicy) -> Immovable | None:
    for volume in pod.volumes:
        if volume.local and not policy.local_storage:
            return "localStorage"
        claimed = volume.persistent_volume_claim or volume.ephemeral
        if claimed is not None and not policy.volumes:
            return "volume"
    return None
