"""What the disruption controller counts for a PodDisruptionBudget.

A number in `minAvailable` asks nobody. `maxUnavailable` and percentages are parts of what the
controllers of the selected pods want to run, percentages rounded up; pods without a controller are
left out of that sum, and where a controller has no scale (a Job, a DaemonSet) the controller gives
up and allows nothing. As many disruptions are allowed as pods are healthy beyond those that have
to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.owners import WorkloadRef
from planner_models.policy import PodDisruptionBudget, PodDisruptionBudgetStatus, scaled

WITHOUT_SCALE = frozenset(("DaemonSet", "Job", "Node"))
"""Owners that have no number of replicas which the disruption controller could read."""


@dataclass(frozen=True)
class BudgetStatus:
    """A budget over these groups of pods: all of them, and how many are and have to be healthy."""

    budget: PodDisruptionBudget
    groups: tuple[int, ...]
    pods: int
    down: int
    """Pods that wait or are not ready, counted in the snapshot."""
    waiting: int
    """Those of them that wait for a node."""
    healthy: int
    desired: int
    allowed: int
    never: str = ""
    """Why no eviction of a healthy pod is ever allowed, if that is so."""

    @property
    def name(self) -> str:
        """`namespace/name`."""
        return self.budget.key

    @property
    def met(self) -> bool:
        """Whether enough pods are healthy, so that those that are not may go."""
        return self.healthy >= self.desired > 0

    @property
    def unhealthy_may_go(self) -> bool:
        """Whether a pod that is not ready may be evicted without asking the budget."""
        return self.met or self.budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"


def budget_statuses(
    cluster: Cluster, *, trust_status: bool = True, only: Set[str] | None = None
) -> tuple[BudgetStatus, ...]:
    """All budgets by name, or `only` those of these keys.

    `trust_status` takes what the controller itself last wrote down.
    """
    wanted = [each for each in cluster.budgets if only is None or each.key in only]
    if not wanted:
        return ()
    counts = PodCounts(cluster)
    budgets = sorted(wanted, key=lambda each: (each.namespace, each.name))
    return tuple(_status(cluster, budget, counts, trust_status) for budget in budgets)


def recounted(cluster: Cluster, pods: Iterable[int]) -> tuple[PodDisruptionBudget, ...]:
    """The budgets, of which those over any of these pods forget what was counted before."""
    groups = np.unique(cluster.group_of[list(pods)])
    namespaces = {cluster.groups[group].namespace for group in groups.tolist()}
    found: list[PodDisruptionBudget] = []
    for budget in cluster.budgets:
        if budget.namespace not in namespaces:
            found.append(budget)
            continue
        over = cluster.group_index.matching(budget.spec.selector, (budget.namespace,))
        touched = bool(np.isin(groups, over).any())
        status = PodDisruptionBudgetStatus.defaults()
        found.append(budget.replace(status=status) if touched else budget)
    return tuple(found)


def _status(
    cluster: Cluster, budget: PodDisruptionBudget, counts: PodCounts, trust_status: bool
) -> BudgetStatus:
    groups = tuple(cluster.group_index.matching(budget.spec.selector, (budget.namespace,)).tolist())
    pods, down = counts.of(groups)
    waiting = sum(counts.waiting[group] for group in groups)
    healthy = pods - down
    scale = _scale(cluster, groups, counts.all)
    desired, expected = _desired(budget, scale, pods)
    allowed = max(0, healthy - desired) if expected > 0 else 0
    never = _never(budget, scale, desired, max(expected, pods) if expected > 0 else 0)
    status = budget.status
    if trust_status and status.disruptions_allowed is not None and _current(budget):
        allowed = max(0, status.disruptions_allowed)
        healthy = healthy if status.current_healthy is None else status.current_healthy
        desired = desired if status.desired_healthy is None else status.desired_healthy
        never = "" if allowed else _failed(budget) or never
    return BudgetStatus(budget, groups, pods, down, waiting, healthy, desired, allowed, never)


def _desired(budget: PodDisruptionBudget, scale: int | None, pods: int) -> tuple[int, int]:
    """How many pods have to be healthy, and how many are expected."""
    spec = budget.spec
    if isinstance(spec.min_available, int):
        return spec.min_available, pods
    if scale is None:
        return pods, 0
    if spec.max_unavailable is not None:
        return max(0, scale - scaled(spec.max_unavailable, scale)), scale
    if spec.min_available is not None:
        return scaled(spec.min_available, scale), scale
    return 0, 0


def _scale(cluster: Cluster, groups: Iterable[int], pods: Sequence[int]) -> int | None:
    """What the controllers of these pods want to run; None if one of them has no such number.

    A controller that the input lacks is taken to want the pods that there are.
    """
    present: Counter[WorkloadRef] = Counter()
    for group in groups:
        if pods[group]:
            present[cluster.workloads[group]] += pods[group]
    total = 0
    for workload, count in present.items():
        if workload.kind in WITHOUT_SCALE:
            return None
        if workload.kind != "Pod":
            wanted = cluster.owners.desired(workload)
            total += count if wanted is None else wanted
    return total


def _never(budget: PodDisruptionBudget, scale: int | None, desired: int, most: int) -> str:
    spec = budget.spec
    if spec.min_available is None and spec.max_unavailable is None:
        return "it names neither minAvailable nor maxUnavailable"
    if scale is None and not isinstance(spec.min_available, int):
        return "it selects pods whose controller has no scale"
    if desired < most:
        return ""
    if spec.max_unavailable is not None:
        return f"maxUnavailable {spec.max_unavailable}"
    return f"minAvailable {spec.min_available} of {most}"


def _current(budget: PodDisruptionBudget) -> bool:
    """Whether the status is about the budget as it is; until then the Eviction API says wait."""
    seen, now = budget.status.observed_generation, budget.metadata.generation
    return seen is None or now is None or seen >= now


def _failed(budget: PodDisruptionBudget) -> str:
    """What kept the disruption controller from counting, as its condition says."""
    for condition in budget.status.conditions:
        if condition.type == "DisruptionAllowed" and condition.reason == "SyncFailed":
            return f"sync failed: {condition.message}"
    return ""


class PodCounts:
    """Pods per group, and those of them that wait or are not ready; who is leaving is neither."""

    def __init__(self, cluster: Cluster) -> None:
        there = (cluster.node_of != GONE) & ~cluster.terminating
        waiting = cluster.node_of == PENDING
        self._number, self._group_of = len(cluster.groups), cluster.group_of
        self.all = self._counted(there)
        self.waiting = self._counted(there & waiting)
        self._down = self._counted(there & (~cluster.ready | waiting))

    def _counted(self, pods: NDArray[np.bool_]) -> list[int]:
        found: list[int] = np.bincount(self._group_of[pods], minlength=self._number).tolist()
        return found

    def of(self, groups: Iterable[int]) -> tuple[int, int]:
        """(all pods, those that are down)."""
        members = list(groups)
        down = sum(self._down[group] for group in members)
        return sum(self.all[group] for group in members), down
