"""Every filter but those that depend on what is picked, on every cluster.

Fleet stops at the first filter that refuses a cluster and reports that one; all of them are kept
here, in Fleet's order.
"""

from __future__ import annotations

from typing import NamedTuple

from planner.fleet import affinity, eligibility, namespaces, taints
from planner_models.fleet import Placement
from planner_models.member_cluster import MemberCluster


class Refusal(NamedTuple):
    """A filter that refuses a cluster, and why in Fleet's own words."""

    plugin: str
    reason: str


ORDER = (affinity.NAME, eligibility.NAME, namespaces.NAME, taints.NAME)


def refusals(cluster: MemberCluster, placement: Placement, now: int) -> tuple[Refusal, ...]:
    """Every filter that refuses the cluster, whatever else is picked."""
    policy = placement.policy
    taint = taints.untolerated(cluster, policy.tolerations)
    found = {
        affinity.NAME: None if affinity.matches_required(cluster, policy) else affinity.NO_TERM,
        eligibility.NAME: eligibility.ineligible(cluster, now),
        namespaces.NAME: namespaces.lacks_namespace(cluster, placement),
        taints.NAME: None if taint is None else taints.refusal(taint),
    }
    return tuple(Refusal(plugin, reason) for plugin in ORDER if (reason := found[plugin]))
