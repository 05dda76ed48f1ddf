"""How many pods of a workload may be down at once.

A PodDisruptionBudget says so for the pods that it selects. Where a workload has none, at most a
quarter of it, rounded up, is taken down together. Pods that wait for a node or are not ready are
down already: taking one of these away takes nothing from a budget that is met, or that always
allows it (`unhealthyPodEvictionPolicy`). Of several budgets over one pod, all have to allow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.spread import terminating
from planner.cluster.topology import IntArray
from planner_models.policy import PodDisruptionBudget, scaled

UNBUDGETED_PART = 4
"""One pod in four, where no budget says otherwise."""


@dataclass(frozen=True)
class Allowance:
    """`limit` pods of `groups` may be down together, those that are down now included."""

    name: str
    budget: bool
    groups: tuple[int, ...]
    limit: int
    down: int
    unhealthy_first: bool = True
    """Whether pods that are not ready may go without asking: the budget is met, or allows it."""

    @property
    def left(self) -> int:
        """How many more may go down now."""
        return max(0, self.limit - self.down)


@dataclass(frozen=True, eq=False)
class Allowances:
    """Every budget, and every workload that none selects.

    `most` is how many pods a plan may have down at once altogether. `group_of` and `unready` say of
    each pod which group it belongs to, and which pods run without being ready.
    """

    each: tuple[Allowance, ...]
    group_of: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    unready: frozenset[int] = frozenset()
    most: int | None = None

    @cached_property
    def of_group(self) -> Mapping[int, tuple[int, ...]]:
        """The allowances (by their number) that a pod of a group takes from when it goes down."""
        found: dict[int, list[int]] = {}
        for number, allowance in enumerate(self.each):
            for group in allowance.groups:
                found.setdefault(group, []).append(number)
        return {group: tuple(numbers) for group, numbers in found.items()}

    def of_pod(self, pod: int) -> tuple[int, ...]:
        """The allowances that the eviction of this pod takes from."""
        numbers = self.of_group.get(int(self.group_of[pod]), ())
        if pod not in self.unready:
            return numbers
        return tuple(number for number in numbers if not self.each[number].unhealthy_first)

    @cached_property
    def contested(self) -> frozenset[int]:
        """Groups under several budgets: the Eviction API refuses to evict such pods."""
        return frozenset(
            group
            for group, numbers in self.of_group.items()
            if sum(self.each[number].budget for number in numbers) > 1
        )

    @cached_property
    def budgeted(self) -> frozenset[int]:
        """Groups under a budget."""
        return frozenset(group for each in self.each if each.budget for group in each.groups)

    def budget_left(self, groups: Iterable[int]) -> int | None:
        """What the tightest budget over these groups allows now; None without any."""
        budgets = [
            self.each[number].left
            for group in groups
            for number in self.of_group.get(group, ())
            if self.each[number].budget
        ]
        return min(budgets, default=None)


def allowances(cluster: Cluster, most: int | None = None) -> Allowances:
    """What may be down at once in this snapshot; `most` bounds all of it together."""
    budgeted = tuple(_budgeted(cluster))
    covered = {group for allowance in budgeted for group in allowance.groups}
    unready = (i for i in cluster.running.tolist() if _unready(cluster, i))
    return Allowances(
        each=(*budgeted, *_unbudgeted(cluster, covered)),
        group_of=cluster.group_of,
        unready=frozenset(unready),
        most=most,
    )


def _unready(cluster: Cluster, pod: int) -> bool:
    found = cluster.pods[pod]
    return not found.ready and not found.terminating


def _budgeted(cluster: Cluster) -> Iterator[Allowance]:
    pods = _PodCounts(cluster)
    for budget in sorted(cluster.budgets, key=lambda each: (each.namespace, each.name)):
        groups = cluster.group_index.matching(budget.spec.selector, (budget.namespace,)).tolist()
        total, down = pods.of(groups)
        allowed, met = _allowed(cluster, budget, groups, total, total - down)
        always = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
        name = f"{budget.namespace}/{budget.name}"
        yield Allowance(name, True, tuple(groups), down + allowed, down, always or met)


def _allowed(
    cluster: Cluster, budget: PodDisruptionBudget, groups: Iterable[int], total: int, healthy: int
) -> tuple[int, bool]:
    """Disruptions that are allowed now, and whether as many pods are healthy as have to be.

    The disruption controller's own count, or what it would count. Parts are parts of what the
    controllers want to run, rounded up; a plain minAvailable asks nobody.
    """
    status, spec = budget.status, budget.spec
    if spec.max_unavailable is not None:
        expected = _expected(cluster, groups, total)
        desired = max(0, expected - scaled(spec.max_unavailable, expected))
    else:
        wanted = 1 if spec.min_available is None else spec.min_available
        whole = isinstance(wanted, int)
        desired = scaled(wanted, total if whole else _expected(cluster, groups, total))
    if status.disruptions_allowed is None:
        return max(0, healthy - desired), healthy >= desired > 0
    if status.current_healthy is not None and status.desired_healthy is not None:
        healthy, desired = status.current_healthy, status.desired_healthy
    return max(0, status.disruptions_allowed), healthy >= desired > 0


def _expected(cluster: Cluster, groups: Iterable[int], total: int) -> int:
    """What the controllers of the pods want; where one names no number, the pods that there are."""
    workloads = {cluster.workloads[group] for group in groups}
    wanted = [cluster.owners.desired(workload) for workload in workloads]
    known = [number for number in wanted if number is not None]
    return sum(known) if known and len(known) == len(wanted) else total


def _unbudgeted(cluster: Cluster, covered: set[int]) -> Iterator[Allowance]:
    groups: dict[str, list[int]] = {}
    for group, workload in enumerate(cluster.workloads):
        if group not in covered:
            groups.setdefault(f"{workload.namespace}/{workload.short}", []).append(group)
    pods = _PodCounts(cluster)
    for name, members in sorted(groups.items()):
        total, down = pods.of(members)
        yield Allowance(name, False, tuple(members), -(-total // UNBUDGETED_PART), down)


class _PodCounts:
    """Pods per group, and those of them that wait or are not ready; who is leaving is neither."""

    def __init__(self, cluster: Cluster) -> None:
        staying = ~terminating(cluster)
        ready = np.fromiter((pod.ready for pod in cluster.pods), np.bool_, len(cluster.pods))
        running = (cluster.node_of >= 0) & staying
        waiting = (cluster.node_of == PENDING) & staying
        self._all = self._count(cluster.group_of[running | waiting])
        self._down = self._count(cluster.group_of[waiting | (running & ~ready)])

    @staticmethod
    def _count(groups: IntArray) -> Counter[int]:
        return Counter(groups.tolist())

    def of(self, groups: Iterable[int]) -> tuple[int, int]:
        """(all pods, those that are down)."""
        members = list(groups)
        down = sum(self._down[group] for group in members)
        return sum(self._all[group] for group in members), down
