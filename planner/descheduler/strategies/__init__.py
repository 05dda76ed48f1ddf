"""The descheduler's own strategies, one module each, as the baseline that ours are held against."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from planner.descheduler.strategies import (
    high_node_utilization,
    low_node_utilization,
    pod_life_time,
    remove_duplicates,
    remove_failed_pods,
    remove_pods_having_too_many_restarts,
    remove_pods_violating_inter_pod_anti_affinity,
    remove_pods_violating_node_affinity,
    remove_pods_violating_node_taints,
    remove_pods_violating_topology_spread_constraint,
)
from planner.descheduler.strategies.framework import Strategy

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "HighNodeUtilization": high_node_utilization.balance,
        "LowNodeUtilization": low_node_utilization.balance,
        "PodLifeTime": pod_life_time.deschedule,
        "RemoveDuplicates": remove_duplicates.balance,
        "RemoveFailedPods": remove_failed_pods.deschedule,
        "RemovePodsHavingTooManyRestarts": remove_pods_having_too_many_restarts.deschedule,
        "RemovePodsViolatingInterPodAntiAffinity": (
            remove_pods_violating_inter_pod_anti_affinity.deschedule
        ),
        "RemovePodsViolatingNodeAffinity": remove_pods_violating_node_affinity.deschedule,
        "RemovePodsViolatingNodeTaints": remove_pods_violating_node_taints.deschedule,
        "RemovePodsViolatingTopologySpreadConstraint": (
            remove_pods_violating_topology_spread_constraint.balance
        ),
    }
)
"""By the names that a policy enables them with."""

__all__ = ["STRATEGIES"]
