"""Which pods `planner evict` leaves alone, and why.

The pods that nobody may move (`disruption.movability`), and those at or above a priority.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.disruption.movability import DEFAULT_POLICY, Movability, MovePolicy


@dataclass(frozen=True)
class Protection:
    """What may be evicted beyond the usual, and the priority from which on nothing may."""

    policy: MovePolicy = DEFAULT_POLICY
    priority_threshold: int | None = None


def protected(cluster: Cluster, protection: Protection) -> Mapping[int, str]:
    """The running pods that stay, with the reason."""
    found: dict[int, str] = {}
    movability = Movability(cluster, protection.policy)
    threshold = protection.priority_threshold
    for pod in cluster.running.tolist():
        stays, priority = movability.why(pod), cluster.pods[pod].priority
        if stays is not None:
            found[pod] = stays.text
        elif threshold is not None and priority >= threshold:
            found[pod] = f"its priority {priority} is not below {threshold}"
    return found
