"""TaintToleration: one taint that the placement does not tolerate is enough to filter a cluster."""

from __future__ import annotations

from collections.abc import Collection

from planner_models.fleet import ClusterToleration
from planner_models.member_cluster import ClusterTaint, MemberCluster

NAME = "TaintToleration"
UNTOLERATED = "taint &{{Key:{key} Value:{value} Effect:{effect}}} cannot be tolerated"


def untolerated(
    cluster: MemberCluster, tolerations: Collection[ClusterToleration]
) -> ClusterTaint | None:
    """The first taint, in the cluster's order, that no toleration answers."""
    for taint in cluster.spec.taints:
        if not any(toleration.tolerates(taint) for toleration in tolerations):
            return taint
    return None


def refusal(taint: ClusterTaint) -> str:
    """Why the cluster is filtered, in Fleet's own words."""
    return UNTOLERATED.format(key=taint.key, value=taint.value, effect=taint.effect)
