"""Which kinds planner reads, and where the model of each is.

A model is imported when the input has an object of its kind: most clusters have nothing of Fleet's
or of the descheduler's, and building those models would be a quarter of the time to start.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel

KINDS: dict[tuple[str, str], str] = {
    ("", "Node"): "models.node",
    ("apps", "Deployment"): "models.workload",
    ("apps", "ReplicaSet"): "models.workload",
    ("apps", "StatefulSet"): "models.workload",
    ("apps", "DaemonSet"): "models.workload",
    ("batch", "Job"): "models.workload",
    ("", "ReplicationController"): "models.workload",
    ("", "Service"): "models.workload",
    ("", "Namespace"): "models.workload",
    ("scheduling.k8s.io", "PriorityClass"): "models.workload",
    ("policy", "PodDisruptionBudget"): "models.policy",
    ("", "PersistentVolume"): "models.volume",
    ("", "PersistentVolumeClaim"): "models.volume",
    ("storage.k8s.io", "StorageClass"): "models.volume",
    ("storage.k8s.io", "CSINode"): "models.volume",
    ("storage.k8s.io", "CSIDriver"): "models.volume",
    ("storage.k8s.io", "CSIStorageCapacity"): "models.volume",
    ("storage.k8s.io", "VolumeAttachment"): "models.volume",
    ("kubescheduler.config.k8s.io", "KubeSchedulerConfiguration"): "models.scheduler_config",
    ("descheduler", "DeschedulerPolicy"): "models.descheduler_policy",
    ("cluster.kubernetes-fleet.io", "MemberCluster"): "models.member_cluster",
    ("placement.kubernetes-fleet.io", "ClusterResourcePlacement"): "models.fleet",
    ("placement.kubernetes-fleet.io", "ResourcePlacement"): "models.fleet",
    ("placement.kubernetes-fleet.io", "ClusterResourceBinding"): "models.fleet_binding",
    ("placement.kubernetes-fleet.io", "ResourceBinding"): "models.fleet_binding",
    ("placement.kubernetes-fleet.io", "ClusterSchedulingPolicySnapshot"): "models.fleet_binding",
    ("placement.kubernetes-fleet.io", "SchedulingPolicySnapshot"): "models.fleet_binding",
}
"""API group and kind of everything but pods, which have a decoder of their own."""

CLUSTER_SCOPED = frozenset(
    (
        "Node",
        "Namespace",
        "PriorityClass",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "VolumeAttachment",
        "MemberCluster",
        "ClusterResourcePlacement",
        "ClusterResourceBinding",
        "ClusterSchedulingPolicySnapshot",
    )
)
"""Kinds whose objects are in no namespace."""

UNNAMED = frozenset(("KubeSchedulerConfiguration", "DeschedulerPolicy"))
"""Configuration files carry no metadata."""


FLEET = frozenset(kind for group, kind in KINDS if group.endswith(".kubernetes-fleet.io"))
"""Kinds of a fleet of clusters."""


@lru_cache(maxsize=1024)
def model_of(group: str, kind: str) -> type[BaseModel] | None:
    """The model of a kind, which has its name; None if planner does not read it."""
    module = KINDS.get((group, kind))
    if module is None:
        return None
    model: Any = getattr(import_module(module), kind)
    return model if issubclass(model, BaseModel) else None
