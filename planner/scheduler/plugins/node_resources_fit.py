"""NodeResourcesFit: the pod's requests must fit, and how full a node gets decides its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import rows_of
from planner.cluster.topology import IntArray
from planner.scheduler.framework.node_table import WHOLE, FloatArray, NodeTable
from planner.scheduler.framework.plugin import (
    MAX_NODE_SCORE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Filter,
    LocalScore,
    PreFilterResult,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner_models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from planner_models.scheduler_args import NodeResourcesFitArgs, ResourceSpec, UtilizationShapePoint

TOO_MANY_PODS = "Too many pods"
INSUFFICIENT = "Insufficient {}"

NON_ZERO = (CPU, MEMORY)
"""The columns of the sums in which silent containers count."""
_EXACT = 2**56
"""Up to here a hundred times an amount is a number of 64 bits."""
_CUSTOM_SCORE_SCALE = MAX_NODE_SCORE // 10
"""Shape points of RequestedToCapacityRatio go from 0 to 10."""


class NodeResourcesFit:
    """Requests against allocatable resources."""

    name: ClassVar[str] = "NodeResourcesFit"
    reasons: ClassVar[tuple[str, ...]] = (TOO_MANY_PODS,)

    def __init__(self, args: NodeResourcesFitArgs) -> None:
        self._args = args

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes without room; preemption can't help a request above the whole node."""
        request: list[int] = state.requests[group.index].tolist()
        asked = tuple(
            (name, column, request[column])
            for name, amount in sorted(group.spec.requests.items())
            if amount > 0 and name != PODS and not self._ignored(name)
            for column in (state.cluster.resources.column(name),)
        )
        return PreFilterResult(state.shared((self.name, asked), lambda: FitFilter(state, asked)))

    def pre_score(self, state: SchedulingState, group: PodGroup) -> FitScore:
        """Score by the configured strategy over the configured resources."""
        strategy = self._args.scoring_strategy
        shape = strategy.requested_to_capacity_ratio
        rule = _rule(strategy.type, shape.shape if shape else ())
        key = (self, *sorted(group.spec.scored_requests.items()))
        return state.shared(key, lambda: FitScore(state, group, strategy.resources, rule))

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


class FitFilter(Filter):
    """Verdict: one bit for `pods`, one per resource that is short, one for unresolvable.

    Groups that ask for the same amounts share one, which follows the log by itself when asked.
    """

    local: ClassVar[bool] = True

    def __init__(self, state: SchedulingState, asked: Sequence[tuple[str, int, int]]) -> None:
        """`asked` are resources, their columns and the amounts."""
        self._state = state
        self._pods = state.cluster.resources.column(PODS)
        self._names = [name for name, _, _ in asked]
        self.asked = [(2 << i, column, amount) for i, (_, column, amount) in enumerate(asked)]
        self._unresolvable = 2 << len(asked)
        amounts = [amount for name, _, amount in asked if name in NON_ZERO]
        self._of_both: tuple[int, int] | None = None
        if len(amounts) == len(asked) == len(NON_ZERO):
            self._of_both = amounts[0], amounts[1]
        self._verdicts: IntArray | None = None
        self._seen = 0
        self._statuses: dict[int, Status] = {}
        """Their words, by verdict: preemption reads the same of many nodes."""

    def _judge(self, nodes: IntArray | None = None) -> IntArray:
        """Per resource: requested > allocatable - used. One more pod is wanted, too."""
        offers, usage = self._state.cluster.resources.by_resource, self._state.used.T
        if nodes is not None:
            offers, usage = offers[:, nodes], usage[:, nodes]
        judged: IntArray = (offers[self._pods] - usage[self._pods] < 1).astype(np.int64)
        hopeless = np.zeros(len(judged), np.bool_)
        for bit, column, amount in self.asked:
            offered = offers[column]
            short = amount > offered - usage[column]
            if short.any():
                judged += bit * short
                hopeless |= short & (amount > offered)
        judged += self._unresolvable * hopeless
        return judged

    def verdicts(self) -> IntArray:
        """All nodes, judged when somebody asks for the first time, and then where pods changed."""
        if self._verdicts is None:
            self._verdicts = self._judge()
            self._seen = len(self._state.log)
        self.catch_up()
        return self._verdicts

    def passing_in(self, table: NodeTable) -> BoolArray | None:
        """By the parts that are used with the pod, if it asks for cpu and memory alone."""
        if self._of_both is None or not table.exact:
            return super().passing_in(table)
        cpu, memory = table.parts(*self._of_both)
        passing: BoolArray = np.maximum(cpu, memory) <= 1
        passing &= table.takes_more
        return passing

    def status(self, verdict: int) -> Status:
        """Every resource that is short, not only the first."""
        if verdict not in self._statuses:
            self._statuses[verdict] = self._status(verdict)
        return self._statuses[verdict]

    def _status(self, verdict: int) -> Status:
        reasons = [TOO_MANY_PODS] if verdict & 1 else []
        reasons += [
            INSUFFICIENT.format(name)
            for (bit, _, _), name in zip(self.asked, self._names, strict=True)
            if verdict & bit
        ]
        code = UNRESOLVABLE if verdict & self._unresolvable else UNSCHEDULABLE
        return Status(NodeResourcesFit.name, code, tuple(sorted(reasons)))

    def catch_up(self) -> None:
        """Only the nodes that changed are judged again."""
        log = self._state.log
        if self._verdicts is None or self._seen == len(log):
            return
        changes = log.since(self._seen)
        self._seen = len(log)
        if changes.few is not None:
            for node in {change.node for change in changes.few}:
                self._verdicts[node] = self.verdict_at(node)
        else:
            self._verdicts[changes.touched] = self._judge(changes.touched)

    def verdict_at(self, node: int) -> int:
        """Judged by what the state says now, which may be a what-if."""
        used: list[int] = self._state.used[node].tolist()
        return self.verdict_if(node, used)

    def verdict_if(self, node: int, used: Sequence[int]) -> int:
        """The same if so much of each resource were used; `_judge` in plain numbers."""
        allocatable = self._state.cluster.resources.offers[node]
        verdict = int(used[self._pods] + 1 > allocatable[self._pods])
        for bit, column, request in self.asked:
            offered = allocatable[column]
            if request > offered - used[column]:
                verdict |= bit | (self._unresolvable if request > offered else 0)
        return verdict


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


Shares: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""Capacities (1 at least), weights of those that exist, and by node (or all) their sum."""


def _column(numbers: Sequence[int]) -> IntArray:
    """One row for each number, to be combined with all nodes."""
    return np.array(numbers, np.int64)[:, None]


class FitScore(LocalScore):
    """How full resources get, by the configured strategy."""

    def __init__(
        self,
        state: SchedulingState,
        group: PodGroup,
        resources: Sequence[ResourceSpec],
        rule: Rule,
    ) -> None:
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
        self.columns = np.array([known[resource.name] for resource in scored], np.int64)
        self.wanted = _column([wanted.get(resource.name, 0) for resource in scored])
        self.weights = _column([resource.weight for resource in scored])
        names = [resource.name for resource in scored]
        self.defaulted = [row for row, name in enumerate(names) if name in NON_ZERO]
        self.non_zero = np.array([NON_ZERO.index(names[row]) for row in self.defaulted], np.int64)
        self._of_both: tuple[int, int] | None = None
        if sorted(names) == sorted(NON_ZERO) and not self._ratio:
            self._of_both = wanted.get(CPU, 0), wanted.get(MEMORY, 0)
        self._by_name = {resource.name: resource.weight for resource in scored}
        super().__init__(state)

    def judge(self, nodes: IntArray | None) -> IntArray:
        """The weighted mean over the resources that the node has; a row for each of them."""
        return self.mean(self._used(nodes) + self.wanted, self._shares(nodes))

    def mean(self, requested: IntArray, shares: Shares) -> IntArray:
        """The same by what is requested of the resources then."""
        capacity, weights, divisor = shares
        score = self._rule(requested, capacity)
        if self._ratio:
            weights = np.where(score > 0, weights, 0)
            divisor = np.maximum(weights.sum(axis=0), 1)
        total = (score * weights).sum(axis=0)
        mean: IntArray = total // divisor
        if self._ratio:
            mean = np.floor(total / divisor + 0.5).astype(np.int64)
        return mean

    def shares(self, capacity: IntArray) -> Shares:
        """How resources count on nodes that have so much of them, a row for each."""
        weights = np.where(capacity > 0, self.weights, 0)
        divisor = np.maximum(weights.sum(axis=0), 1)
        if len(divisor) and (divisor == divisor[0]).all():
            divisor = divisor[:1]
        return np.maximum(capacity, 1), weights, divisor

    def judge_at(self, node: int) -> int:
        """`judge` in plain numbers, which is quicker for a single node."""
        if self._ratio:
            return super().judge_at(node)
        offers = self._state.cluster.resources.offers[node]
        used, defaulted = self._state.used[node].tolist(), self._state.non_zero_used[node].tolist()
        most = self._rule is _most_allocated
        total = weights = 0
        for column, non_zero, wanted, weight in self._plain:
            capacity = offers[column]
            if capacity <= 0:
                continue
            if capacity > _EXACT:
                return super().judge_at(node)
            asked = (used[column] if non_zero is None else defaulted[non_zero]) + wanted
            counted = min(asked, capacity) if most else max(capacity - asked, 0)
            total += weight * (counted * MAX_NODE_SCORE // capacity)
            weights += weight
        return total // max(weights, 1)

    def scores_in(self, table: NodeTable) -> IntArray | FloatArray:
        """`judge` by the parts that are used with the pod, if cpu and memory alone count."""
        if self._of_both is None or not table.exact:
            return super().scores_in(table)
        parts = table.defaulted_parts(*self._of_both)
        if self._rule is _most_allocated:
            scores = np.minimum(parts, 1)
        else:
            scores = np.subtract(1, parts)
            np.maximum(scores, 0, out=scores)
        scores *= MAX_NODE_SCORE
        scores += WHOLE
        np.floor(scores, out=scores)
        cpu, memory = self._by_name[CPU], self._by_name[MEMORY]
        if (cpu, memory) != (1, 1):
            scores *= _column((cpu, memory))
        mean: FloatArray = np.add(scores[0], scores[1], out=scores[0])
        mean /= max(cpu + memory, 1)
        return np.floor(mean, out=mean)

    @property
    def least_of_both(self) -> tuple[int, int] | None:
        """The cpu and memory that are wanted, if least use of both in equal parts is the score."""
        equal = len(set(self._by_name.values())) == 1
        return self._of_both if equal and self._rule is _least_allocated else None

    @cached_property
    def _plain(self) -> list[tuple[int, int | None, int, int]]:
        """Column, the column of sums with defaults if there is one, request and weight."""
        defaults = dict(zip(self.defaulted, self.non_zero.tolist(), strict=True))
        wanted, weights = self.wanted[:, 0].tolist(), self.weights[:, 0].tolist()
        rows = zip(self.columns.tolist(), wanted, weights, strict=True)
        return [(column, defaults.get(i), *rest) for i, (column, *rest) in enumerate(rows)]

    def _shares(self, nodes: IntArray | None) -> Shares:
        """Of all nodes, found once for all groups that are scored by the same resources."""
        if nodes is not None:
            return self._shares_of(nodes)
        key = (NodeResourcesFit.name, *self.columns.tolist(), *self.weights[:, 0].tolist())
        return self._state.facts.once(key, lambda: self._shares_of(None))

    def _shares_of(self, nodes: IntArray | None) -> Shares:
        return self.shares(rows_of(self._state.cluster.resources.by_resource, self.columns, nodes))

    def _used(self, nodes: IntArray | None) -> IntArray:
        """Silent containers count with their defaults for cpu and memory, the rest as requested."""
        defaulted = rows_of(self._state.non_zero_used.T, self.non_zero, nodes)
        if len(defaulted) == len(self.columns):
            return defaulted
        used = rows_of(self._state.used.T, self.columns, nodes)
        used[self.defaulted] = defaulted
        return used
