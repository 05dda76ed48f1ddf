"""Which pods `planner evict` leaves alone, and why.

The pods that nobody may move (`disruption.movability`), those at or above a priority, and those
that nobody asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.cluster import Cluster
from planner.disruption.movability import DEFAULT_POLICY, Movability, MovePolicy

NOT_ASKED = "it is not among the pods that were asked about"


@dataclass(frozen=True)
class Protection:
    """What may be evicted beyond the usual, and the priority from which on nothing may.

    `asked` are the pods that it is about; None means all. `spared` pods stay for a reason of the
    user's own.
    """

    policy: MovePolicy = DEFAULT_POLICY
    priority_threshold: int | None = None
    asked: frozenset[int] | None = None
    spared: Mapping[int, str] = field(default_factory=dict)


def protected(cluster: Cluster, protection: Protection) -> Mapping[int, str]:
    """The running pods that stay, with the reason."""
    found: dict[int, str] = {}
    movability = Movability(cluster, protection.policy)
    threshold = protection.priority_threshold
    for pod in cluster.running.tolist():
        stays, priority = movability.why(pod), cluster.pods[pod].priority
        if protection.asked is not None and pod not in protection.asked:
            found[pod] = NOT_ASKED
        elif stays is not None:
            found[pod] = stays.text
        elif threshold is not None and priority >= threshold:
            found[pod] = f"its priority {priority} is not below {threshold}"
        elif pod in protection.spared:
            found[pod] = protection.spared[pod]
    return found
