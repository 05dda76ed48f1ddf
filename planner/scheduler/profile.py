"""From a resolved profile to the plugins that it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner.scheduler.framework.plugin import FilterPlugin, ScorePlugin
from planner.scheduler.plugins.image_locality import ImageLocality
from planner.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from planner.scheduler.plugins.node_affinity import NodeAffinity
from planner.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from planner.scheduler.plugins.node_name import NodeName
from planner.scheduler.plugins.node_ports import NodePorts
from planner.scheduler.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from planner.scheduler.plugins.node_resources_fit import NodeResourcesFit
from planner.scheduler.plugins.node_unschedulable import NodeUnschedulable
from planner.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from planner.scheduler.plugins.pod_topology_spread import PodTopologySpread
from planner.scheduler.plugins.taint_toleration import TaintToleration
from planner.scheduler.plugins.volume_binding import VolumeBinding
from planner.scheduler.plugins.volume_restrictions import VolumeRestrictions
from planner.scheduler.plugins.volume_zone import VolumeZone
from planner_models.scheduler_config import KubeSchedulerProfile
from planner_models.scheduler_profile import ProfileArgs, ResolvedProfile, resolve_profile

FILTERS: Mapping[str, Callable[[ProfileArgs], FilterPlugin]] = {
    NodeUnschedulable.name: lambda args: NodeUnschedulable(),
    NodeName.name: lambda args: NodeName(),
    TaintToleration.name: lambda args: TaintToleration(),
    NodeAffinity.name: lambda args: NodeAffinity(args.node_affinity.added_affinity),
    NodePorts.name: lambda args: NodePorts(),
    NodeResourcesFit.name: lambda args: NodeResourcesFit(args.node_resources_fit),
    VolumeRestrictions.name: lambda args: VolumeRestrictions(),
    NodeVolumeLimits.name: lambda args: NodeVolumeLimits(),
    VolumeBinding.name: lambda args: VolumeBinding(),
    VolumeZone.name: lambda args: VolumeZone(),
    PodTopologySpread.name: lambda args: PodTopologySpread(args.pod_topology_spread),
    InterPodAffinity.name: lambda args: InterPodAffinity(args.inter_pod_affinity),
    NodeDeclaredFeatures.name: lambda args: NodeDeclaredFeatures(),
}

SCORES: Mapping[str, Callable[[ProfileArgs], ScorePlugin]] = {
    TaintToleration.name: lambda args: TaintToleration(),
    NodeAffinity.name: lambda args: NodeAffinity(args.node_affinity.added_affinity),
    NodeResourcesFit.name: lambda args: NodeResourcesFit(args.node_resources_fit),
    PodTopologySpread.name: lambda args: PodTopologySpread(args.pod_topology_spread),
    InterPodAffinity.name: lambda args: InterPodAffinity(args.inter_pod_affinity),
    NodeResourcesBalancedAllocation.name: lambda args: NodeResourcesBalancedAllocation(
        args.node_resources_balanced_allocation
    ),
    ImageLocality.name: lambda args: ImageLocality(),
}


@dataclass(frozen=True)
class Profile:
    """The plugins of one scheduler profile, in their order, with the weights of the scores."""

    resolved: ResolvedProfile
    filters: tuple[FilterPlugin, ...]
    scores: tuple[tuple[ScorePlugin, int], ...]


def build_profile(resolved: ResolvedProfile) -> Profile:
    """Plugins that have nothing to model (bindings, resource claims) are left out."""
    return Profile(
        resolved,
        tuple(FILTERS[name](resolved.args) for name in resolved.filter if name in FILTERS),
        tuple(
            (SCORES[plugin.name](resolved.args), plugin.weight)
            for plugin in resolved.score
            if plugin.name in SCORES
        ),
    )


def default_profile() -> Profile:
    """kube-scheduler without a configuration file."""
    return build_profile(resolve_profile(KubeSchedulerProfile()))
