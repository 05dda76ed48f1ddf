"""NamespaceAffinity: a ResourcePlacement needs its namespace on the cluster.

Clusters that don't collect their namespaces are not asked.
"""

from __future__ import annotations

from planner_models.fleet import Placement, ResourcePlacement
from planner_models.member_cluster import MemberCluster

NAME = "NamespaceAffinity"
COLLECTS = "NamespaceCollectionSucceeded"
NOTHING_KNOWN = "cluster has no namespace information available"
MISSING = "target namespace does not exist on cluster"


def lacks_namespace(cluster: MemberCluster, placement: Placement) -> str | None:
    """Why the namespace is in the way, in Fleet's own words."""
    status = cluster.status
    if not isinstance(placement, ResourcePlacement) or status is None:
        return None
    if all(condition.type != COLLECTS for condition in status.conditions):
        return None
    if status.namespaces is None:
        return NOTHING_KNOWN
    return None if placement.namespace in status.namespaces else MISSING
