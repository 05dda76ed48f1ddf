"""ClusterEligibility: only clusters that are in touch with their hub receive anything.

The member agent must have joined and sent a heartbeat within five minutes; reported as unhealthy
it may be for five minutes, too. A cluster without a status was written by hand and counts as
joined and healthy.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner_models.member_cluster import AgentStatus, MemberCluster

NAME = "ClusterEligibility"
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

TIMEOUT_SECONDS = 5 * 60


def newest_heartbeat(clusters: Iterable[MemberCluster]) -> int:
    """The time at which a dump was taken, as near as the dump itself tells it."""
    beats = (cluster.member_agent for cluster in clusters)
    times = [beat.last_received_heartbeat for beat in beats if beat is not None]
    return max((time for time in times if time is not None), default=0)


def ineligible(cluster: MemberCluster, now: int) -> str | None:
    """Why the cluster may not receive anything, in Fleet's own words; `now` is in seconds."""
    if cluster.leaving:
        return LEFT
    if not cluster.observed:
        return None
    agent = cluster.member_agent
    return NOT_ONLINE if agent is None else _silent(agent, now) or _unwell(agent, now)


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
    since = now - (healthy.last_transition_time or 0)
    if healthy.status != "True" and since > TIMEOUT_SECONDS:
        return UNHEALTHY.format(minutes=_minutes(since))
    return None


def _minutes(seconds: int) -> str:
    return f"{seconds / 60:.2f}"
