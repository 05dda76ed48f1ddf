"""The filters that judge a cluster by itself, whatever else is picked.

Fleet asks them in the order of `ORDER`, stops at the first that refuses, and reports that one; all
refusals are kept here. ClusterAffinity has a module of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from planner.fleet import affinity
from planner_models.fleet import ClusterToleration, Placement, ResourcePlacement
from planner_models.member_cluster import AgentStatus, ClusterTaint, MemberCluster

ELIGIBILITY = "ClusterEligibility"
LEFT = "cluster has left the fleet"
NOT_ONLINE = "cluster is not connected to the fleet: member agent not online yet"
NO_HEARTBEAT = (
    "cluster is not connected to the fleet: no recent heartbeat signals "
    "(last received {minutes} minutes ago)"
)
NEVER_HEARD = "cluster is not connected to the fleet: no recent heartbeat signals (none received)"
NOT_JOINED = "cluster is not connected to the fleet: member agent not joined yet"
NO_HEALTH = (
    "cluster is not connected to the fleet: health condition from member agent is not available"
)
UNHEALTHY = (
    "cluster is not connected to the fleet: unhealthy for a prolonged period of time "
    "(last transitioned {minutes} minutes ago)"
)
ALWAYS_UNHEALTHY = (
    "cluster is not connected to the fleet: unhealthy for a prolonged period of time "
    "(since when is not reported)"
)
TIMEOUT_SECONDS = 5 * 60

NAMESPACES = "NamespaceAffinity"
COLLECTS = "NamespaceCollectionSucceeded"
NO_NAMESPACES = "cluster has no namespace information available"
NO_SUCH_NAMESPACE = "target namespace does not exist on cluster"

TAINTS = "TaintToleration"
UNTOLERATED = "taint &{{Key:{key} Value:{value} Effect:{effect}}} cannot be tolerated"

ORDER = (affinity.NAME, ELIGIBILITY, NAMESPACES, TAINTS)


class Refusal(NamedTuple):
    """A filter that refuses a cluster, and why in Fleet's own words."""

    plugin: str
    reason: str


def refusals(cluster: MemberCluster, placement: Placement, now: int) -> tuple[Refusal, ...]:
    """Every filter that refuses the cluster, in Fleet's order."""
    policy = placement.policy
    found = {
        affinity.NAME: None if affinity.matches_required(cluster, policy) else affinity.NO_TERM,
        ELIGIBILITY: ineligible(cluster, now),
        NAMESPACES: lacks_namespace(cluster, placement),
        TAINTS: _tainted(cluster, policy.tolerations),
    }
    return tuple(Refusal(plugin, reason) for plugin in ORDER if (reason := found[plugin]))


def ineligible(cluster: MemberCluster, now: int) -> str | None:
    """ClusterEligibility: only clusters in touch with their hub receive anything.

    The member agent must have joined and sent a heartbeat within five minutes; reported as
    unhealthy it may be for five minutes, too. A cluster that does not come from a hub was written
    by hand and counts as joined and healthy. `now` is in seconds.
    """
    if cluster.leaving:
        return LEFT
    if not cluster.observed:
        return None
    agent = cluster.member_agent
    return NOT_ONLINE if agent is None else _silent(agent, now) or _unwell(agent, now)


def newest_heartbeat(clusters: Iterable[MemberCluster]) -> int:
    """The time at which a dump was taken, as near as the dump itself tells it."""
    beats = (cluster.member_agent for cluster in clusters)
    times = [beat.last_received_heartbeat for beat in beats if beat is not None]
    return max((time for time in times if time is not None), default=0)


def _silent(agent: AgentStatus, now: int) -> str | None:
    if agent.last_received_heartbeat is None:
        return NEVER_HEARD
    silent = now - agent.last_received_heartbeat
    return NO_HEARTBEAT.format(minutes=_minutes(silent)) if silent > TIMEOUT_SECONDS else None


def _unwell(agent: AgentStatus, now: int) -> str | None:
    joined, healthy = agent.condition("Joined"), agent.condition("Healthy")
    if joined is None or joined.status != "True":
        return NOT_JOINED
    if healthy is None:
        return NO_HEALTH
    if healthy.status == "True":
        return None
    if healthy.last_transition_time is None:
        return ALWAYS_UNHEALTHY
    since = now - healthy.last_transition_time
    return UNHEALTHY.format(minutes=_minutes(since)) if since > TIMEOUT_SECONDS else None


def _minutes(seconds: int) -> str:
    return f"{seconds / 60:.2f}"


def lacks_namespace(cluster: MemberCluster, placement: Placement) -> str | None:
    """NamespaceAffinity: a ResourcePlacement needs its namespace on the cluster.

    Clusters that don't collect their namespaces are not asked.
    """
    status = cluster.status
    if not isinstance(placement, ResourcePlacement) or status is None:
        return None
    if all(condition.type != COLLECTS for condition in status.conditions):
        return None
    if status.namespaces is None:
        return NO_NAMESPACES
    return None if placement.namespace in status.namespaces else NO_SUCH_NAMESPACE


def untolerated(
    cluster: MemberCluster, tolerations: Collection[ClusterToleration]
) -> ClusterTaint | None:
    """TaintToleration: the first taint, in the cluster's order, that no toleration answers."""
    for taint in cluster.spec.taints:
        if not any(toleration.tolerates(taint) for toleration in tolerations):
            return taint
    return None


def _tainted(cluster: MemberCluster, tolerations: Collection[ClusterToleration]) -> str | None:
    taint = untolerated(cluster, tolerations)
    if taint is None:
        return None
    return UNTOLERATED.format(key=taint.key, value=taint.value, effect=taint.effect)
