"""Everything that was read, by kind, before it becomes a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.sources.errors import SourceError
    from planner.sources.origin import SnapshotOrigin
    from planner_models.descheduler_policy import DeschedulerPolicy
    from planner_models.fleet import ClusterResourcePlacement, ResourcePlacement
    from planner_models.fleet_binding import (
        ClusterResourceBinding,
        ClusterSchedulingPolicySnapshot,
        ResourceBinding,
        SchedulingPolicySnapshot,
    )
    from planner_models.limit_range import LimitRange
    from planner_models.member_cluster import MemberCluster
    from planner_models.node import Node
    from planner_models.notice import Notice
    from planner_models.pod import Pod
    from planner_models.policy import PodDisruptionBudget
    from planner_models.quota import HorizontalPodAutoscaler, ResourceQuota
    from planner_models.run_policy import RunPolicy
    from planner_models.scheduler_config import KubeSchedulerConfiguration
    from planner_models.volume import (
        CSIDriver,
        CSINode,
        CSIStorageCapacity,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        VolumeAttachment,
    )
    from planner_models.workload import (
        CronJob,
        DaemonSet,
        Deployment,
        Job,
        Namespace,
        PriorityClass,
        ReplicaSet,
        ReplicationController,
        Service,
        StatefulSet,
    )


@dataclass(frozen=True)
class Inventory:
    """The objects of the input; `notices` say what was odd about them."""

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    replica_sets: tuple[ReplicaSet, ...] = ()
    stateful_sets: tuple[StatefulSet, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    jobs: tuple[Job, ...] = ()
    cron_jobs: tuple[CronJob, ...] = ()
    autoscalers: tuple[HorizontalPodAutoscaler, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    replication_controllers: tuple[ReplicationController, ...] = ()
    services: tuple[Service, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    budgets: tuple[PodDisruptionBudget, ...] = ()
    persistent_volumes: tuple[PersistentVolume, ...] = ()
    claims: tuple[PersistentVolumeClaim, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_nodes: tuple[CSINode, ...] = ()
    csi_drivers: tuple[CSIDriver, ...] = ()
    storage_capacities: tuple[CSIStorageCapacity, ...] = ()
    volume_attachments: tuple[VolumeAttachment, ...] = ()
    scheduler_configs: tuple[KubeSchedulerConfiguration, ...] = ()
    descheduler_policies: tuple[DeschedulerPolicy, ...] = ()
    run_policies: tuple[RunPolicy, ...] = ()
    member_clusters: tuple[MemberCluster, ...] = ()
    cluster_placements: tuple[ClusterResourcePlacement, ...] = ()
    resource_placements: tuple[ResourcePlacement, ...] = ()
    cluster_bindings: tuple[ClusterResourceBinding, ...] = ()
    resource_bindings: tuple[ResourceBinding, ...] = ()
    cluster_policy_snapshots: tuple[ClusterSchedulingPolicySnapshot, ...] = ()
    policy_snapshots: tuple[SchedulingPolicySnapshot, ...] = ()
    notices: tuple[Notice, ...] = ()
    origins: tuple[SnapshotOrigin, ...] = ()
    """Of the dumps among the input that say where they come from."""
    refused: tuple[SourceError, ...] = ()
    """Objects that could not be used, where the user asked to go on without them."""


def counted(number: int, noun: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def name_some(names: Iterable[str]) -> tuple[str, ...]:
    """The names in order, for a notice: same input, same bytes."""
    return tuple(sorted(set(names)))
