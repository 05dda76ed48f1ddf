"""The Eviction API: whether the API server lets a pod be evicted under its PodDisruptionBudget.

Pods that have ended, wait to start or are terminating go unasked, as does an unhealthy pod if the
budget always allows that or is met without it. A pod that two budgets select can't be evicted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from planner.cluster import GONE, Cluster
from planner_models.pod import Pod
from planner_models.policy import PodDisruptionBudget, scaled
from planner_models.selectors import selector_matches

REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which evictions do not support."


@dataclass
class _Count:
    """What the disruption controller writes into a budget's status."""

    budget: PodDisruptionBudget
    healthy: int
    desired: int
    allowed: int


class BudgetedEvictions:
    """Evictions in a row; each one uses up a disruption of the pod's budget.

    `trust_status` takes the allowed disruptions from the budgets' own status where it has them;
    otherwise they are counted from the pods.
    """

    def __init__(self, cluster: Cluster, *, trust_status: bool = True) -> None:
        self._counts = [_count(cluster, each, trust_status) for each in cluster.budgets]
        self._evicted: set[Pod] = set()

    def __call__(self, pod: Pod) -> str | None:
        """Evict the pod; the answer is why not."""
        if pod.finished or pod.phase == "Pending" or pod.terminating or pod in self._evicted:
            return None
        counts = [each for each in self._counts if _selects(each.budget, pod)]
        if len(counts) > 1:
            return TWO_BUDGETS
        if counts and not (_unhealthy_may_go(pod, counts[0]) or _use_up(counts[0])):
            return REFUSED
        self._evicted.add(pod)
        return None


def _selects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    return budget.namespace == pod.namespace and selector_matches(budget.spec.selector, pod.labels)


def _unhealthy_may_go(pod: Pod, count: _Count) -> bool:
    if pod.ready:
        return False
    if count.budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return count.healthy >= count.desired > 0


def _use_up(count: _Count) -> bool:
    if count.allowed <= 0:
        return False
    count.allowed -= 1
    return True


def _count(cluster: Cluster, budget: PodDisruptionBudget, trust_status: bool) -> _Count:
    groups = cluster.group_index.matching(budget.spec.selector, (budget.namespace,))
    mask = np.isin(cluster.group_of, groups) & (cluster.node_of != GONE)
    pods = np.flatnonzero(mask).tolist()
    running = [cluster.pods[i] for i in pods if cluster.node_of[i] >= 0]
    healthy = sum(pod.ready and not pod.terminating for pod in running)
    desired = _desired(cluster, budget, pods)
    allowed = max(0, healthy - desired) if pods else 0
    status = budget.status
    if not trust_status or status.disruptions_allowed is None:
        return _Count(budget, healthy, desired, allowed)
    return _Count(
        budget,
        healthy if status.current_healthy is None else status.current_healthy,
        desired if status.desired_healthy is None else status.desired_healthy,
        status.disruptions_allowed,
    )


def _desired(cluster: Cluster, budget: PodDisruptionBudget, pods: Iterable[int]) -> int:
    """How many pods have to be healthy; parts are parts of what the controllers want to run."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        expected = _expected(cluster, pods)
        return max(0, expected - scaled(spec.max_unavailable, expected))
    minimum = 1 if spec.min_available is None else spec.min_available
    return minimum if isinstance(minimum, int) else scaled(minimum, _expected(cluster, pods))


def _expected(cluster: Cluster, pods: Iterable[int]) -> int:
    """What the controllers of the pods want; without a number, the pods that there are."""
    present: dict[object, int] = {}
    wanted: dict[object, int | None] = {}
    for pod in pods:
        workload = cluster.workloads[int(cluster.group_of[pod])]
        present[workload] = present.get(workload, 0) + 1
        wanted[workload] = cluster.owners.desired(workload)
    return sum(
        count if (number := wanted[workload]) is None else number
        for workload, count in present.items()
    )
