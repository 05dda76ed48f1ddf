"""Which pods `planner evict` leaves alone, and why.

The pods that SEMANTICS and drain tools spare, those at or above a priority, pods of other
schedulers, pods under two budgets, which the Eviction API refuses to evict, and pods that nobody
asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.cluster.movability import DEFAULT_POLICY, WHY, MovePolicy, immovable
from planner.disruption.budgets import Allowances
from planner_models.pod import DEFAULT_SCHEDULER

NOT_ASKED = "it is not among the pods that were asked about"

TWO_BUDGETS = "two PodDisruptionBudgets select it, so the Eviction API refuses"


@dataclass(frozen=True)
class Protection:
    """What may be evicted beyond the usual, and the priority from which on nothing may.

    `asked` are the pods that it is about; None means all.
    """

    policy: MovePolicy = DEFAULT_POLICY
    priority_threshold: int | None = None
    asked: frozenset[int] | None = None


def protected(cluster: Cluster, protection: Protection, budgets: Allowances) -> Mapping[int, str]:
    """The running pods that stay, with the reason."""
    found: dict[int, str] = {}
    for pod in cluster.running.tolist():
        why = _reason(cluster, pod, protection, budgets)
        if why is not None:
            found[pod] = why
    return found


def _reason(
    cluster: Cluster, index: int, protection: Protection, budgets: Allowances
) -> str | None:
    if protection.asked is not None and index not in protection.asked:
        return NOT_ASKED
    pod = cluster.pods[index]
    stays = immovable(pod, protection.policy)
    if stays is not None:
        return WHY[stays]
    threshold = protection.priority_threshold
    if threshold is not None and pod.priority >= threshold:
        return f"its priority {pod.priority} is not below {threshold}"
    if pod.spec.scheduler_name != DEFAULT_SCHEDULER:
        return f"its scheduler is {pod.spec.scheduler_name}"
    if int(cluster.group_of[index]) in budgets.contested:
        return TWO_BUDGETS
    return None
