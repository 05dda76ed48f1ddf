"""How many pods of a workload may be down at once.

A PodDisruptionBudget says so for the pods that it selects. Where a workload has none, at most a
quarter of it, rounded up, is taken down together. Pods that wait for a node or are not ready are
down already: taking one of these away takes nothing from a budget that is met, or that always
allows it (`unhealthyPodEvictionPolicy`). Of several budgets over one pod, all have to allow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budget_status import PodCounts, budget_statuses

UNBUDGETED_PART = 4
"""One pod in four, where no budget says otherwise."""
TWO_BUDGETS = "two PodDisruptionBudgets select it, so the Eviction API refuses"


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
    never: str = ""
    """Why it never lets a healthy pod go, if that is so."""
    waiting: int = 0
    """Pods of it that wait for a node: once they run it may allow more."""

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

    def refusal(self, pod: int) -> str | None:
        """Why the Eviction API does not let this pod go, whatever nodes others find.

        A budget that allows nothing now may do so when pods that wait for a node have found one;
        pods that run and are not ready stay so, as far as anybody knows.
        """
        if int(self.group_of[pod]) in self.contested:
            return TWO_BUDGETS
        for number in self.of_pod(pod):
            allowance = self.each[number]
            if allowance.never:
                return f"the budget {allowance.name} never allows it ({allowance.never})"
            if allowance.budget and not allowance.left and not allowance.waiting:
                return f"the budget {allowance.name} does not allow it now"
        return None

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
    unready = (cluster.node_of >= 0) & ~cluster.ready & ~cluster.terminating
    return Allowances(
        each=(*budgeted, *_unbudgeted(cluster, covered)),
        group_of=cluster.group_of,
        unready=frozenset(np.flatnonzero(unready).tolist()),
        most=most,
    )


def _budgeted(cluster: Cluster) -> Iterator[Allowance]:
    for status in budget_statuses(cluster):
        yield Allowance(
            name=status.name,
            budget=True,
            groups=status.groups,
            limit=status.down + status.allowed,
            down=status.down,
            unhealthy_first=status.unhealthy_may_go,
            never=status.never,
            waiting=status.waiting,
        )


def _unbudgeted(cluster: Cluster, covered: set[int]) -> Iterator[Allowance]:
    groups: dict[str, list[int]] = {}
    for group, workload in enumerate(cluster.workloads):
        if group not in covered:
            groups.setdefault(f"{workload.namespace}/{workload.short}", []).append(group)
    pods = PodCounts(cluster)
    for name, members in sorted(groups.items()):
        total, down = pods.of(members)
        yield Allowance(name, False, tuple(members), -(-total // UNBUDGETED_PART), down)
