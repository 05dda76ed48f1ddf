"""When a snapshot was taken, as far as it tells."""

from __future__ import annotations

from planner.cluster.snapshot import Cluster


def latest(cluster: Cluster) -> int:
    """The newest time that any pod mentions: a snapshot is not older than that."""
    pods = (*cluster.pods, *cluster.finished_pods)
    times = (time for pod in pods for time in (pod.created, pod.started) if time is not None)
    return max(times, default=0)
