"""NodeResourcesFit: the pod's requests must fit, and how full a node gets decides its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from models.scheduler_args import NodeResourcesFitArgs, ResourceSpec, UtilizationShapePoint
from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.changes import Changes
from planner.scheduler.framework import (
    MAX_NODE_SCORE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    Status,
)
from planner.scheduler.state import SchedulingState

TOO_MANY_PODS = "Too many pods"
INSUFFICIENT = "Insufficient {}"

NON_ZERO = (CPU, MEMORY)
"""The columns of the sums in which silent containers count."""
_CUSTOM_SCORE_SCALE = MAX_NODE_SCORE // 10
"""Shape points of RequestedToCapacityRatio go from 0 to 10."""


class NodeResourcesFit:
    """Requests against allocatable resources."""

    name: ClassVar[str] = "NodeResourcesFit"

    def __init__(self, args: NodeResourcesFitArgs) -> None:
        self._args = args

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes without room; preemption can't help a request above the whole node."""
        columns = [
            (state.cluster.resources.column(name), name)
            for name, amount in sorted(group.spec.requests.items())
            if amount > 0 and name != PODS and not self._ignored(name)
        ]
        return PreFilterResult(_FitFilter(state, group, columns))

    def pre_score(self, state: SchedulingState, group: PodGroup) -> _FitScore:
        """Score by the configured strategy over the configured resources."""
        strategy = self._args.scoring_strategy
        shape = strategy.requested_to_capacity_ratio
        rule = _rule(strategy.type, shape.shape if shape else ())
        return _FitScore(state, group, strategy.resources, rule)

    def _ignored(self, resource: str) -> bool:
        return is_extended(resource) and (
            resource in self._args.ignored_resources
            or resource.partition("/")[0] in self._args.ignored_resource_groups
        )


def is_extended(resource: str) -> bool:
    """A resource outside of Kubernetes' own domain, such as nvidia.com/gpu."""
    prefix, slash, _ = resource.rpartition("/")
    native = prefix == "kubernetes.io" or prefix.endswith(".kubernetes.io")
    return bool(slash) and not native and not resource.startswith("requests.")


def is_scalar(resource: str) -> bool:
    """Anything but cpu, memory, ephemeral-storage and pods."""
    return resource not in (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)


class _FitFilter(Filter):
    """Verdict: one bit for `pods`, one per resource that is short, one for unresolvable."""

    def __init__(
        self, state: SchedulingState, group: PodGroup, columns: Sequence[tuple[int, str]]
    ) -> None:
        self._state = state
        self._pods = state.cluster.resources.column(PODS)
        self._names = [name for _, name in columns]
        asked = np.array([column for column, _ in columns], np.int64)
        request = state.requests[group.index, asked]
        self._bits = 2 << np.arange(len(columns), dtype=np.int64)
        self._unresolvable = 2 << len(columns)
        self._asked: list[tuple[int, int, int]] = list(
            zip(self._bits.tolist(), asked.tolist(), request.tolist(), strict=True)
        )
        self._rows = np.append(self._pods, asked)[:, None]
        self._row_requests = np.append(1, request)[:, None]
        self._row_bits = np.append(1, self._bits)
        self._verdicts: IntArray | None = None

    def _judge(self, nodes: IntArray) -> IntArray:
        """Per resource, in rows: requested > allocatable - used. One more pod is wanted, too."""
        offered = self._state.cluster.resources.allocatable[nodes, self._rows]
        short = self._row_requests > offered - self._state.used[nodes, self._rows]
        hopeless = (short & (self._row_requests > offered))[1:].any(axis=0)
        judged: IntArray = self._row_bits @ short + hopeless * self._unresolvable
        return judged

    def verdicts(self) -> IntArray:
        """All nodes, judged when somebody asks for the first time."""
        if self._verdicts is None:
            self._verdicts = self._judge(self._state.all_nodes)
        return self._verdicts

    def status(self, verdict: int) -> Status:
        """Every resource that is short, not only the first."""
        reasons = [TOO_MANY_PODS] if verdict & 1 else []
        reasons += [
            INSUFFICIENT.format(name)
            for bit, name in zip(self._bits.tolist(), self._names, strict=True)
            if verdict & bit
        ]
        code = UNRESOLVABLE if verdict & self._unresolvable else UNSCHEDULABLE
        return Status(NodeResourcesFit.name, code, tuple(sorted(reasons)))

    def apply(self, changes: Changes) -> None:
        """Only the nodes that changed are judged again."""
        if self._verdicts is not None:
            self._verdicts[changes.touched] = self._judge(changes.touched)

    def verdict_at(self, node: int) -> int:
        """Judged by what the state says now, which may be a what-if; `_judge` in plain numbers."""
        allocatable: list[int] = self._state.cluster.resources.allocatable[node].tolist()
        used: list[int] = self._state.used[node].tolist()
        verdict = int(used[self._pods] + 1 > allocatable[self._pods])
        for bit, column, request in self._asked:
            offered = allocatable[column]
            if request > offered - used[column]:
                verdict |= bit | (self._unresolvable if request > offered else 0)
        return verdict

    def dry_run(self, change: Change) -> None:
        """The state counts along."""


Rule = Callable[[IntArray, IntArray], IntArray]
"""(requested, capacity) of one resource over nodes to its score; capacity is never 0."""


def _least_allocated(requested: IntArray, capacity: IntArray) -> IntArray:
    score: IntArray = np.maximum(capacity - requested, 0) * MAX_NODE_SCORE // capacity
    return score


def _most_allocated(requested: IntArray, capacity: IntArray) -> IntArray:
    return np.minimum(requested, capacity) * MAX_NODE_SCORE // capacity


def _requested_to_capacity(points: Sequence[UtilizationShapePoint]) -> Rule:
    def score(requested: IntArray, capacity: IntArray) -> IntArray:
        """A broken line over the utilisation in percent; beyond full counts as full."""
        utilisation = np.where(requested > capacity, 100, requested * 100 // capacity)
        result = np.full_like(utilisation, points[-1].score * _CUSTOM_SCORE_SCALE)
        for i in range(len(points) - 1, -1, -1):
            reached = utilisation <= points[i].utilization
            result = np.where(reached, _segment(points, i, utilisation), result)
        return result

    return score


def _segment(points: Sequence[UtilizationShapePoint], i: int, utilisation: IntArray) -> IntArray:
    high = points[i].score * _CUSTOM_SCORE_SCALE
    if i == 0:
        return np.full_like(utilisation, high)
    low = points[i - 1].score * _CUSTOM_SCORE_SCALE
    width = points[i].utilization - points[i - 1].utilization
    rise = (high - low) * (utilisation - points[i - 1].utilization)
    segment: IntArray = low + np.sign(rise) * (np.abs(rise) // width)
    return segment


def _rule(strategy: str, points: Sequence[UtilizationShapePoint]) -> Rule:
    if strategy == "LeastAllocated":
        return _least_allocated
    if strategy == "MostAllocated":
        return _most_allocated
    return _requested_to_capacity(points)


def _column(numbers: Sequence[int]) -> IntArray:
    """One row for each number, to be combined with all nodes."""
    return np.array(numbers, np.int64)[:, None]


class _FitScore:
    def __init__(
        self,
        state: SchedulingState,
        group: PodGroup,
        resources: Sequence[ResourceSpec],
        rule: Rule,
    ) -> None:
        self._state = state
        self._rule = rule
        self._ratio = rule not in (_least_allocated, _most_allocated)
        wanted = group.spec.scored_requests
        known = state.cluster.resources.index
        scored = [
            resource
            for resource in resources
            if resource.name in known
            and (wanted.get(resource.name, 0) > 0 or not is_scalar(resource.name))
        ]
        self._columns = _column([known[resource.name] for resource in scored])
        self._wanted = _column([wanted.get(resource.name, 0) for resource in scored])
        self._weights = _column([resource.weight for resource in scored])
        names = [resource.name for resource in scored]
        self._defaulted = [row for row, name in enumerate(names) if name in NON_ZERO]
        self._non_zero = _column([NON_ZERO.index(names[row]) for row in self._defaulted])
        self._scores = self._judge(state.all_nodes)

    def _judge(self, nodes: IntArray) -> IntArray:
        """The weighted mean over the resources that the node has; a row for each of them."""
        capacity = self._state.cluster.resources.allocatable[nodes, self._columns]
        requested = self._used(nodes) + self._wanted
        score = self._rule(requested, np.maximum(capacity, 1))
        counts = (capacity > 0) & (score > 0) if self._ratio else capacity > 0
        weights = np.where(counts, self._weights, 0)
        total = (score * weights).sum(axis=0)
        divisor = np.maximum(weights.sum(axis=0), 1)
        mean: IntArray = total // divisor
        if self._ratio:
            mean = np.floor(total / divisor + 0.5).astype(np.int64)
        return mean

    def _used(self, nodes: IntArray) -> IntArray:
        """Silent containers count with their defaults for cpu and memory, the rest as requested."""
        defaulted: IntArray = self._state.non_zero_used[nodes, self._non_zero]
        if len(defaulted) == len(self._columns):
            return defaulted
        used: IntArray = self._state.used[nodes, self._columns]
        used[self._defaulted] = defaulted
        return used

    def active(self) -> bool:
        """Always."""
        return True

    def scores(self, feasible: IntArray) -> IntArray:
        """Between 0 and 100 already."""
        return self._scores[feasible]

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """Nothing to do."""
        return raw

    def apply(self, changes: Changes) -> None:
        """Only the nodes that changed are scored again."""
        self._scores[changes.touched] = self._judge(changes.touched)
