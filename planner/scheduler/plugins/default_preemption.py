"""DefaultPreemption: which pods of a node would have to go for a pod of higher priority.

On one node at a time: take away every pod of lower priority; if the pod then passes the filters,
give back as many as still leave it room. Those whose PodDisruptionBudget would break come back
first, and among them, as among the others, the most important: by priority, then the longest
running.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import UNRESOLVABLE, Filter, Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.what_if import what_if_of
from planner_models.policy import PodDisruptionBudget
from planner_models.scheduler_args import DefaultPreemptionArgs

REASON_NO_VICTIMS = "No preemption victims found for incoming pod"

_PRIORITY_OFFSET = 2**31
"""Makes every priority count: fewer pods of a negative priority weigh less than more of them."""
_NOW = 2**62
"""The start of a pod that hasn't started yet, later than any in the input."""


@dataclass(frozen=True)
class Victims:
    """The pods of a node that would have to go, the most important first."""

    pods: tuple[int, ...]
    pdb_violations: int
    """How many of them a PodDisruptionBudget protects."""


class DefaultPreemption:
    """Finds victims, node by node, and the nodes where they are missed least."""

    name: ClassVar[str] = "DefaultPreemption"

    def __init__(self, args: DefaultPreemptionArgs) -> None:
        self._args = args

    def candidates_wanted(self, nodes: int) -> int:
        """How many candidates end the search among `nodes` that preemption might help."""
        share = nodes * self._args.min_candidate_nodes_percentage // 100
        return min(max(share, self._args.min_candidate_nodes_absolute), nodes)

    def candidates(
        self, dry_run: DryRun, nodes: Sequence[int]
    ) -> tuple[dict[int, Victims], dict[int, Status]]:
        """Victims by node, and why the other nodes don't take the pod even so.

        The search ends as soon as there are enough candidates and one of them breaks no budget;
        those that break one are kept up to the same number.
        """
        wanted = self.candidates_wanted(len(nodes))
        harmless: dict[int, Victims] = {}
        harmful: dict[int, Victims] = {}
        refusals: dict[int, Status] = {}
        for node in nodes:
            found = dry_run.on(node)
            if isinstance(found, Status):
                refusals[node] = found
                continue
            kind = harmful if found.pdb_violations else harmless
            if len(kind) < wanted:
                kind[node] = found
            if harmless and len(harmless) + len(harmful) >= wanted:
                break
        return harmless | harmful, refusals


class DryRun:
    """What-ifs for one pod, on one node at a time; each is undone before the next begins."""

    def __init__(
        self,
        state: SchedulingState,
        filters: Iterable[Filter],
        pod: int,
        nominated: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        """`nominated` are, by node, pods that wait for it and that this one can't push aside."""
        self._state = state
        self._what_if = what_if_of(state, tuple(filters), nominated or {})
        self._pod = pod

    @cached_property
    def _budgets(self) -> _Budgets:
        return _Budgets(self._state)

    @cached_property
    def _lower(self) -> _LowerPriority:
        return _LowerPriority(self._state, self._pod)

    def on(self, node: int) -> Victims | Status:
        """The pods of this node that would have to go, or why that would not help.

        There is always a victim: with all pods back the node refuses as it did before.
        """
        potential = self._lower.on(node)
        if not potential:
            return Status(DefaultPreemption.name, UNRESOLVABLE, (REASON_NO_VICTIMS,))
        self._what_if.begin(node)
        self._what_if.shift(potential, -1)
        refusal = self._what_if.refusal()
        if refusal is not None:
            self._what_if.end(potential)
            return refusal
        return self._reprieve(sorted(potential, key=self._importance))

    def _reprieve(self, potential: Sequence[int]) -> Victims:
        protected, free = self._budgets.split(potential)
        violations = self._what_if.give_back(protected)
        victims = violations + self._what_if.give_back(free)
        self._what_if.end(victims)
        return Victims(tuple(sorted(victims, key=self._importance)), len(violations))

    def _importance(self, pod: int) -> tuple[int, int]:
        return -self._state.pod(pod).priority, start_time(self._state, pod)


def start_time(state: SchedulingState, pod: int) -> int:
    """When a pod started; pods placed since the snapshot come after all others, in their order."""
    placed_at = state.placed_at.get(pod)
    if placed_at is not None:
        return _NOW + 1 + placed_at
    started = state.pod(pod).started
    return _NOW if started is None else started


def least_missed(state: SchedulingState, candidates: Mapping[int, Victims]) -> tuple[int, ...]:
    """The nodes among which the choice is arbitrary, in order of their names.

    Fewest violated budgets; then the lowest of the highest priorities; the smallest sum of
    priorities; the fewest victims; the latest start of the longest running victim of the highest
    priority.
    """
    costs = {node: _cost(state, victims) for node, victims in candidates.items()}
    lowest = min(costs.values())
    return tuple(sorted(node for node, cost in costs.items() if cost == lowest))


def _cost(state: SchedulingState, victims: Victims) -> tuple[int, ...]:
    priorities = [state.pod(pod).priority for pod in victims.pods]
    return (
        victims.pdb_violations,
        priorities[0],
        sum(priority + _PRIORITY_OFFSET for priority in priorities),
        len(priorities),
        -start_time(state, victims.pods[0]),
    )


class _LowerPriority:
    """The placed pods of lower priority, by node, in the order of the input."""

    def __init__(self, state: SchedulingState, pod: int) -> None:
        lower = state.priorities < state.group(pod).priority
        pods = np.flatnonzero(lower[state.cluster.group_of] & (state.node_of >= 0))
        self._pods: IntArray = pods[np.argsort(state.node_of[pods], kind="stable")]
        self._nodes: IntArray = state.node_of[self._pods]

    def on(self, node: int) -> list[int]:
        """Those of one node."""
        start, end = np.searchsorted(self._nodes, (node, node + 1)).tolist()
        found: list[int] = self._pods[start:end].tolist()
        return found


_PROTECTING = "budgets that the scheduler spares"


def _protecting(budgets: Iterable[PodDisruptionBudget]) -> dict[str, list[PodDisruptionBudget]]:
    """By namespace, those that select anything."""
    found: dict[str, list[PodDisruptionBudget]] = defaultdict(list)
    for budget in budgets:
        selector = budget.spec.selector
        if selector is not None and not selector.is_empty:
            found[budget.namespace].append(budget)
    return dict(found)


class _Budgets:
    """PodDisruptionBudgets as the scheduler reads them: by their status, not counting anew.

    A budget whose selector is absent or empty protects nobody here, nor is a pod without labels
    protected; and a pod that the API server is already disrupting costs nothing more.
    """

    def __init__(self, state: SchedulingState) -> None:
        self._state = state
        memo = state.cluster.group_memo
        if _PROTECTING not in memo:
            memo[_PROTECTING] = _protecting(state.cluster.budgets)
        self._by_namespace: Mapping[str, list[PodDisruptionBudget]] = memo[_PROTECTING]

    def split(self, pods: Iterable[int]) -> tuple[list[int], list[int]]:
        """Pods whose eviction, in this order, a budget forbids; and the others."""
        spent: dict[str, int] = defaultdict(int)
        protected: list[int] = []
        free: list[int] = []
        for pod in pods:
            forbidden = False
            for budget in self._of(pod):
                spent[budget.key] += 1
                forbidden |= spent[budget.key] > (budget.status.disruptions_allowed or 0)
            (protected if forbidden else free).append(pod)
        return protected, free

    def _of(self, index: int) -> list[PodDisruptionBudget]:
        pod = self._state.pod(index)
        if not pod.labels:
            return []
        return [
            budget
            for budget in self._by_namespace.get(pod.namespace, ())
            if budget.spec.selector is not None
            and budget.spec.selector.matches(pod.labels)
            and pod.name not in budget.status.disrupted_pods
        ]
