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
    ("", "Node"): "planner_models.node",
    ("apps", "Deployment"): "planner_models.workload",
    ("apps", "ReplicaSet"): "planner_models.workload",
    ("apps", "StatefulSet"): "planner_models.workload",
    ("apps", "DaemonSet"): "planner_models.workload",
    ("batch", "Job"): "planner_models.workload",
    ("batch", "CronJob"): "planner_models.workload",
    ("", "ReplicationController"): "planner_models.workload",
    ("", "Service"): "planner_models.workload",
    ("", "Namespace"): "planner_models.workload",
    ("scheduling.k8s.io", "PriorityClass"): "planner_models.workload",
    ("", "LimitRange"): "planner_models.limit_range",
    ("", "ResourceQuota"): "planner_models.quota",
    ("autoscaling", "HorizontalPodAutoscaler"): "planner_models.quota",
    ("policy", "PodDisruptionBudget"): "planner_models.policy",
    ("", "PersistentVolume"): "planner_models.volume",
    ("", "PersistentVolumeClaim"): "planner_models.volume",
    ("storage.k8s.io", "StorageClass"): "planner_models.volume",
    ("storage.k8s.io", "CSINode"): "planner_models.volume",
    ("storage.k8s.io", "CSIDriver"): "planner_models.volume",
    ("storage.k8s.io", "CSIStorageCapacity"): "planner_models.volume",
    ("storage.k8s.io", "VolumeAttachment"): "planner_models.volume",
    (
        "kubescheduler.config.k8s.io",
        "KubeSchedulerConfiguration",
    ): "planner_models.scheduler_config",
    ("descheduler", "DeschedulerPolicy"): "planner_models.descheduler_policy",
    ("planner", "RunPolicy"): "planner_models.run_policy",
    ("cluster.kubernetes-fleet.io", "MemberCluster"): "planner_models.member_cluster",
    ("placement.kubernetes-fleet.io", "ClusterResourcePlacement"): "planner_models.fleet",
    ("placement.kubernetes-fleet.io", "ResourcePlacement"): "planner_models.fleet",
    ("placement.kubernetes-fleet.io", "ClusterResourceBinding"): "planner_models.fleet_binding",
    ("placement.kubernetes-fleet.io", "ResourceBinding"): "planner_models.fleet_binding",
    (
        "placement.kubernetes-fleet.io",
        "ClusterSchedulingPolicySnapshot",
    ): "planner_models.fleet_binding",
    ("placement.kubernetes-fleet.io", "SchedulingPolicySnapshot"): "planner_models.fleet_binding",
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

UNNAMED = frozenset(("KubeSchedulerConfiguration", "DeschedulerPolicy", "RunPolicy"))
"""Configuration files carry no metadata."""


FLEET = frozenset(kind for group, kind in KINDS if group.endswith(".kubernetes-fleet.io"))
"""Kinds of a fleet of clusters."""


def right_version(group: str, kind: str) -> str | None:
    """The apiVersion of a kind of Kubernetes' own that stands in another of its groups.

    Groups of others may have kinds of the same name: there are Jobs and Services enough.
    """
    own = [known for known, each in (("", "Pod"), *KINDS) if each == kind and _is_own(known)]
    if not own or not _is_own(group):
        return None
    return f"{own[0]}/v1" if own[0] else "v1"


def _is_own(group: str) -> bool:
    own = ("", "apps", "autoscaling", "batch", "policy", "extensions")
    return group in own or group.endswith(".k8s.io")


@lru_cache(maxsize=1024)
def model_of(group: str, kind: str) -> type[BaseModel] | None:
    """The model of a kind, which has its name; None if planner does not read it."""
    module = KINDS.get((group, kind))
    if module is None:
        return None
    model: Any = getattr(import_module(module), kind)
    return model if issubclass(model, BaseModel) else None
