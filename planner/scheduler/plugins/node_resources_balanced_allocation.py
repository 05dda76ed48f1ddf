"""NodeResourcesBalancedAllocation: prefer nodes whose resources the pod uses more evenly."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.cluster.groups import PodGroup
from planner.cluster.resources import rows_of
from planner.cluster.topology import IntArray
from planner.scheduler.framework.node_table import FloatArray, NodeTable
from planner.scheduler.framework.plugin import MAX_NODE_SCORE, LocalScore
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_resources_fit import is_scalar
from planner_models.resources import CPU, MEMORY
from planner_models.scheduler_args import NodeResourcesBalancedAllocationArgs

_HALF = MAX_NODE_SCORE // 2
_GAINS = (*range(MAX_NODE_SCORE + 1), *range(-MAX_NODE_SCORE, 0))
OF_GAIN: IntArray = np.array([_HALF + int((_HALF + gain) / 2) for gain in _GAINS], np.int64)
"""The score by how much more even the pod makes a node; negative gains stand at the end."""


class NodeResourcesBalancedAllocation:
    """The standard deviation of the used fractions, with and without the pod."""

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    def __init__(self, args: NodeResourcesBalancedAllocationArgs) -> None:
        self._resources = tuple(resource.name for resource in args.resources)

    def pre_score(self, state: SchedulingState, group: PodGroup) -> BalancedScore | None:
        """Pods that request none of the resources are not scored."""
        wanted = {name: group.spec.requests.get(name, 0) for name in self._resources}
        if not any(wanted.values()):
            return None
        known = state.cluster.resources.index
        columns = tuple(
            (known[name], amount)
            for name, amount in wanted.items()
            if name in known and (amount > 0 or not is_scalar(name))
        )
        return state.shared((self.name, columns), lambda: BalancedScore(state, columns))


class _Balanced(LocalScore):
    """How even the use of some resources is now."""

    def __init__(self, state: SchedulingState, columns: IntArray) -> None:
        self.columns = columns
        super().__init__(state)

    def judge(self, nodes: IntArray | None) -> IntArray:
        """100 where all are used alike."""
        return balance(rows_of(self._state.used.T, self.columns, nodes), self.capacity(nodes))

    def judge_at(self, node: int) -> int:
        """`judge` of two resources in plain numbers."""
        offers = self._state.cluster.resources.offers[node]
        columns: list[int] = self.columns.tolist()
        if len(columns) != 2 or min(offers[column] for column in columns) <= 0:
            return super().judge_at(node)
        used = self._state.used[node]
        one, other = columns
        return _balance_of_two(
            int(used[one]), int(used[other]), float(offers[one]), float(offers[other])
        )

    def capacity(self, nodes: IntArray | None) -> Capacity:
        """Of all nodes, found once for all groups that are scored by the same resources."""
        allocatable = self._state.cluster.resources.by_resource
        if nodes is not None:
            return Capacity.of(rows_of(allocatable, self.columns, nodes))
        return self._state.facts.once(
            (NodeResourcesBalancedAllocation.name, *self.columns.tolist()),
            lambda: Capacity.of(rows_of(allocatable, self.columns, None)),
        )


class BalancedScore(LocalScore):
    """How much more evenly the pod makes a node used."""

    def __init__(self, state: SchedulingState, columns: tuple[tuple[int, int], ...]) -> None:
        self.columns = np.array([column for column, _ in columns], np.int64)
        self.wanted = np.array([amount for _, amount in columns], np.int64)[:, None]
        self._plain = columns
        known = state.cluster.resources.index
        asked = dict(columns)
        self.of_both: tuple[int, int] | None = None
        """The cpu and memory that are wanted, if these two alone count."""
        if asked.keys() == {known[CPU], known[MEMORY]}:
            self.of_both = asked[known[CPU]], asked[known[MEMORY]]
        key = (NodeResourcesBalancedAllocation.name, "now", *self.columns.tolist())
        self._now = state.shared(key, lambda: _Balanced(state, self.columns))
        super().__init__(state)

    def judge(self, nodes: IntArray | None) -> IntArray:
        """50 + (50 + with - without) / 2, truncated."""
        now = self._now
        now.catch_up()
        used = rows_of(self._state.used.T, self.columns, nodes)
        filled = balance(used + self.wanted, now.capacity(nodes))
        without = now.of_all if nodes is None else now.scores(nodes)
        scores: IntArray = OF_GAIN[filled - without]
        return scores

    def judge_at(self, node: int) -> int:
        """`judge` of two resources in plain numbers, which is quicker for a single node."""
        offers = self._state.cluster.resources.offers[node]
        if len(self._plain) != 2 or min(offers[column] for column, _ in self._plain) <= 0:
            return super().judge_at(node)
        used: list[int] = self._state.used[node].tolist()
        (one, of_one), (other, of_other) = self._plain
        capacity = float(offers[one]), float(offers[other])
        without = _balance_of_two(used[one], used[other], *capacity)
        filled = _balance_of_two(used[one] + of_one, used[other] + of_other, *capacity)
        return int(OF_GAIN[filled - without])

    def scores_in(self, table: NodeTable) -> IntArray | FloatArray:
        """`judge` by the parts that are used with the pod, if cpu and memory alone count.

        What it adds up to is half of a gain, which is never below -50 then.
        """
        if self.of_both is None or not table.exact:
            return super().scores_in(table)
        filled = _balance_of_parts(np.minimum(table.parts(*self.of_both), 1))
        filled -= table.column(self._now)
        filled += _HALF
        filled /= 2
        np.floor(filled, out=filled)
        filled += _HALF
        return filled


def _balance_of_parts(parts: FloatArray) -> FloatArray:
    """`_balance` of two resources, in floats."""
    balance: FloatArray = np.subtract(parts[0], parts[1], out=parts[0])
    balance /= 2
    np.abs(balance, out=balance)
    np.subtract(1, balance, out=balance)
    balance *= MAX_NODE_SCORE
    return np.floor(balance, out=balance)


class Capacity(NamedTuple):
    """A row for each resource: how much nodes have (1 at least), and where they have it at all."""

    amounts: FloatArray
    present: NDArray[np.bool_]
    complete: bool

    @classmethod
    def of(cls, allocatable: IntArray) -> Capacity:
        present = allocatable > 0
        return cls(np.maximum(allocatable, 1).astype(np.float64), present, bool(present.all()))


def balance(requested: IntArray, capacity: Capacity) -> IntArray:
    """int((1 - std) x 100) of the used fractions; resources the node lacks don't count."""
    present = capacity.present
    fractions = np.minimum(requested / capacity.amounts, 1.0)
    if not capacity.complete:
        fractions[~present] = 0.0
    if len(present) != 2:
        deviation = _of_many(fractions, present)
    else:
        deviation = _of_two(*fractions)
        if not capacity.complete:
            deviation[~(present[0] & present[1])] = 0.0
    return ((1 - deviation) * MAX_NODE_SCORE).astype(np.int64)


def _of_two(one: FloatArray, other: FloatArray) -> FloatArray:
    """The deviation of two numbers is half of their distance; kube-scheduler computes it so."""
    return np.abs((one - other) / 2)


def _balance_of_two(one: int, other: int, of_one: float, of_other: float) -> int:
    """`balance` of one node; large amounts become floats before they are divided, as there."""
    distance = min(float(one) / of_one, 1.0) - min(float(other) / of_other, 1.0)
    return int((1 - abs(distance / 2)) * MAX_NODE_SCORE)


def _of_many(fractions: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    """By node over resources; summed in the order of the resources, as the scheduler sums."""
    count = present.sum(axis=0)
    total = np.zeros(fractions.shape[1])
    for column in fractions:
        total += column
    mean = total / np.maximum(count, 1)
    squares = np.zeros(fractions.shape[1])
    for column, counts in zip(fractions, present, strict=True):
        squares += np.where(counts, (column - mean) ** 2, 0.0)
    deviation: FloatArray = np.sqrt(squares / np.maximum(count, 1))
    highest = np.where(present, fractions, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(present, fractions, np.inf).min(axis=0, initial=np.inf)
    two = count == 2
    deviation[two] = _of_two(highest[two], lowest[two])
    deviation[count < 2] = 0.0
    return deviation
