"""PrioritySort: higher priority first, then the earlier arrival."""

from __future__ import annotations

from planner_models.pod import Pod

NAME = "PrioritySort"


def sort_key(pod: Pod, arrival: float) -> tuple[int, float]:
    """Smaller keys leave the queue first; `creationTimestamp` plays no role."""
    return -pod.priority, arrival
