"""The Eviction API: whether the API server lets a pod be evicted under its PodDisruptionBudget.

Pods that have ended, wait to start or are terminating go unasked, as does an unhealthy pod if the
budget always allows that or is met without it. A pod that two budgets select can't be evicted.
"""

from __future__ import annotations

from planner.cluster import Cluster
from planner.disruption.budget_status import budget_statuses
from planner_models.pod import Pod
from planner_models.policy import PodDisruptionBudget
from planner_models.selectors import selector_matches

REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which evictions do not support."


class BudgetedEvictions:
    """Evictions in a row; each one uses up a disruption of the pod's budget.

    `trust_status` takes the allowed disruptions from the budgets' own status where it has them;
    otherwise they are counted from the pods.
    """

    def __init__(self, cluster: Cluster, *, trust_status: bool = True) -> None:
        self._budgets = budget_statuses(cluster, trust_status=trust_status)
        self._left = [status.allowed for status in self._budgets]
        self._evicted: set[Pod] = set()

    def __call__(self, pod: Pod) -> str | None:
        """Evict the pod; the answer is why not."""
        if pod.finished or pod.phase == "Pending" or pod.terminating or pod in self._evicted:
            return None
        over = [i for i, each in enumerate(self._budgets) if _selects(each.budget, pod)]
        if len(over) > 1:
            return TWO_BUDGETS
        if over and not self._lets_go(pod, over[0]):
            return REFUSED
        self._evicted.add(pod)
        return None

    def _lets_go(self, pod: Pod, number: int) -> bool:
        if not pod.ready and self._budgets[number].unhealthy_may_go:
            return True
        if self._left[number] <= 0:
            return False
        self._left[number] -= 1
        return True


def _selects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    return budget.namespace == pod.namespace and selector_matches(budget.spec.selector, pod.labels)
