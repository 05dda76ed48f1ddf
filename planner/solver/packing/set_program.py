"""The linear program that fills nodes that are alike with parts of sets.

As many pods of the last rank as fit, given so many of the ranks above. Its duals are prices on pods
(`set_prices`), and the sets that it uses are a good begin for whole ones (`set_filling`). Nothing
here is believed: it is computed in floating point.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.math_opt import linear_optimum
from planner.solver.model.program import FREE, FloatArray
from planner.solver.packing.node_sets import NodeSets, SmallArray, enough
from planner.solver.packing.question import Stock

UNIT = 2**30
"""A pod in the integers that prices are rounded to."""
DEAREST = 2**40
"""No price is above this, so that sums of sets stay far below what 64 bits hold."""
MISSING = 1000.0
"""What it costs to have a pod of each group without a node: more pods than any are worth."""
SURE = 1e-7
_NEEDED = mathopt.ModelSolveParameters(
    reduced_costs_filter=mathopt.VariableFilter(filtered_items=())
)
"""Values and duals."""


class SetProgram:
    """Columns are sets, which come by their worth; `reached` if enough pods fit in parts.

    Only the sets with the numbers given are used.
    """

    def __init__(
        self, stock: Stock, goals: tuple[int, ...], sets: NodeSets, numbers: SmallArray
    ) -> None:
        rank = len(goals) - 1
        self._goal, self.sets, self._numbers = goals[rank], sets, numbers
        every = len(numbers) == sets.members.shape[1]
        self._members = sets.members if every else sets.members[:, numbers]
        self._model = model = mathopt.Model()
        most = np.where(stock.rank <= rank, stock.total, stock.least)
        self._pods = pods = [
            model.add_variable(lb=float(least), ub=float(end))
            for least, end in zip(stock.least.tolist(), most.tolist(), strict=True)
        ]
        missing = model.add_variable(lb=0.0)
        self._held = [model.add_linear_constraint(lb=0.0, ub=FREE) for _ in pods]
        for held, pod in zip(self._held, pods, strict=True):
            held.set_coefficient(pod, -1.0)
            held.set_coefficient(missing, 1.0)
        self._nodes = model.add_linear_constraint(lb=-FREE, ub=float(len(stock.room)))
        for above, goal in enumerate(goals[:rank]):
            row = model.add_linear_constraint(lb=float(goal), ub=FREE)
            for g in np.flatnonzero(stock.rank == above).tolist():
                row.set_coefficient(pods[g], 1.0)
        for g in np.flatnonzero(stock.rank == rank).tolist():
            model.objective.set_linear_coefficient(pods[g], -1.0)
        model.objective.set_linear_coefficient(missing, MISSING)
        self._solver = mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP)
        self.columns: dict[int, mathopt.Variable] = {}
        self._result: mathopt.SolveResult | None = None
        self._near: IntArray = np.zeros(0, np.int64)
        self.worth: IntArray = np.zeros(len(pods), np.int64)
        self._node_price = 0.0
        self.reached = False
        self.dearest = 0
        self.seconds = 0.0

    def prices(self) -> IntArray | None:
        """What a pod of each group is worth, in whole units; None if GLOP gives up."""
        self.seconds += tuning.SET_ROUND_SECONDS * len(self._held)
        self.reached = False
        self._result = found = linear_optimum(self._solver, _NEEDED)
        if found is None or not found.has_dual_feasible_solution():
            return None
        self.reached = -found.objective_value() >= self._goal - SURE
        self._node_price = -float(found.dual_values([self._nodes])[0])
        worth: FloatArray = np.array(found.dual_values(self._held))
        self.worth = np.clip(worth * UNIT, 0, DEAREST).astype(np.int64)
        return self.worth

    def grow(self, prices: IntArray) -> bool:
        """More sets of those that were dear before; False if none of them helps."""
        near = self._near
        if not len(near):
            return False
        return self._use_dear(self._worth(near, prices), self._numbers[near])

    def grow_by_all(self, prices: IntArray) -> bool:
        """The same with all sets; the `dearest` of them is worth so much."""
        worth = self._worth(None, prices)
        many = min(tuning.NEAR_SETS, len(worth))
        cost = np.negative(worth, out=worth)
        self._near = np.sort(np.argpartition(cost, many - 1)[:many])
        worth = np.negative(cost, out=cost)
        self.dearest = int(worth.max())
        return self._use_dear(worth, self._numbers)

    def _worth(self, some: IntArray | None, prices: IntArray) -> IntArray:
        """What these sets are worth; all if none are named."""
        members = self._members if some is None else self._members[:, some]
        self.seconds += members.size * tuning.MEMBER_SECONDS
        found = np.zeros(members.shape[1], np.int64)
        priced = np.append(prices, 0)
        for begin in range(0, len(found), tuning.MEMBERS_AT_ONCE):
            mine = slice(begin, begin + tuning.MEMBERS_AT_ONCE)
            for row in members[:, mine]:
                found[mine] += priced[row]
        return found

    def _use_dear(self, worth: IntArray, numbers: SmallArray) -> bool:
        """Those that are worth most; False if none is worth more than a node costs."""
        helping = np.flatnonzero(worth > (self._node_price + SURE) * UNIT)
        helping = helping[np.argsort(-worth[helping], kind="stable")[: tuning.SETS_AT_ONCE]]
        return self.use(numbers[helping].tolist())

    def use(self, numbers: Iterable[int]) -> bool:
        """Sets become columns; False if all of them are."""
        new = [each for each in numbers if each not in self.columns]
        for each in new:
            self.columns[each] = used = self._model.add_variable(lb=0.0)
            self._nodes.set_coefficient(used, 1.0)
            for g, count in self.sets.counts(each).items():
                self._held[g].set_coefficient(used, float(count))
        return bool(new)

    def learn(self, more: NodeSets) -> None:
        """Sets that were not known become columns."""
        first = self.sets.members.shape[1]
        numbers = np.arange(first, first + more.members.shape[1])
        self.sets = self.sets.joined(more)
        self._numbers = np.append(self._numbers, numbers)
        self._members = self.sets.members[:, self._numbers]
        self.use(numbers.tolist())

    def converge(self, limit: float) -> IntArray | None:
        """New sets until enough pods fit in parts, or none helps, or the work is done.

        The prices if none helps.
        """
        until = self.seconds + limit
        prices = self.prices()
        while prices is not None and not self.reached and self.seconds < until:
            if not self.grow(prices) and not self.grow_by_all(prices):
                return prices
            prices = self.prices()
        return None

    def improve(self, limit: float) -> None:
        """New sets until none helps, or the work is done: then more pods may fit than enough."""
        until = self.seconds + limit
        prices = self.prices()
        while prices is not None and self.seconds < until:
            if not self.grow(prices) and not self.grow_by_all(prices):
                return
            prices = self.prices()

    def placed(self) -> FloatArray:
        """The pods of each group that the last optimum places, in parts."""
        if self._result is None:
            return np.zeros(len(self._pods))
        return np.array(self._result.variable_values(self._pods))

    def cheap_sets(self, pods: IntArray, most: int) -> IntArray:
        """Up to so many sets of these pods, those that are worth most; a row of groups each."""
        members = self._members
        self.seconds += members.size * tuning.CHEAP_MEMBER_SECONDS
        worth, depth = np.append(self.worth, 0), len(members)
        there, everybody = np.append(pods, 1) > 0, np.append(pods, depth)
        places, worths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for begin in range(0, members.shape[1], tuning.MEMBERS_AT_ONCE):
            some = members[:, begin : begin + tuning.MEMBERS_AT_ONCE].T
            at = np.flatnonzero(there[some].all(axis=1))
            at = at[enough(some[at], everybody)]
            places.append(begin + at)
            worths.append(worth[some[at]].sum(axis=1))
        best = np.argsort(-np.concatenate(worths), kind="stable")[:most]
        found: IntArray = members[:, np.concatenate(places)[best]].T.astype(np.int64)
        return found

    def used(self) -> list[tuple[int, float]]:
        """How often the last optimum uses each set, most often first."""
        if self._result is None:
            return []
        values = self._result.variable_values(list(self.columns.values()))
        found = [pair for pair in zip(self.columns, values, strict=True) if pair[1] > SURE]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def keep(self, number: int, times: int) -> None:
        """Use a set so often at the least from now on."""
        self.columns[number].lower_bound = float(times)

    def never(self, number: int) -> None:
        """Do without a set from now on."""
        self.columns[number].lower_bound = 0.0
        self.columns[number].upper_bound = 0.0
