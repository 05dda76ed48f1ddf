"""The master problem over patterns: how often each pattern is used, linear for prices.

A pattern is a place and the pods that one of its nodes gets. Nothing is believed that is computed
here in floating point: prices become a bound in `patterns`, in whole numbers, and sets of nodes are
tried by whoever asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.solver.large.integer_program import Stop, minimise
from planner.solver.model.knapsack import Pods
from planner.solver.model.math_opt import linear_optimum
from planner.solver.model.program import FREE, Program
from planner.solver.scale_up.places import Places

UNIT = 1 << 20
"""Prices are multiples of the cost divided by this."""
Pattern = tuple[int, Pods]
"""(place, pods)."""
FAR = 1 << 50
SURE = 1e-6
MISSING = 20.0
"""What is missing in a row costs so many nodes that take a pod: more than any sensible way."""


@dataclass(frozen=True, eq=False)
class Prices:
    """What rows pay for a pod or a node more, in whole units, and how much patterns are used."""

    rows: list[int]
    node_rows: list[int]
    used: dict[Pattern, float]

    def towards(self, other: Prices) -> Prices:
        """Prices half way to others."""
        return Prices(_middle(self.rows, other.rows), _middle(self.node_rows, other.node_rows), {})


class Master:
    """The linear program, which grows by patterns."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._scale = float(np.min(places.cost[places.cost > 0], initial=1 << 40))
        """Costs are divided by the least one: GLOP is at a loss with large numbers."""
        self._model = model = mathopt.Model()
        self._ranges = [*((r.lower, r.upper) for r in places.rows)]
        self._ranges += [(r.lower, r.upper) for r in places.node_rows]
        limits = zip(places.least.tolist(), places.most, strict=True)
        limited = [p for p, (least, most) in enumerate(limits) if least or most is not None]
        self._limit = {p: len(self._ranges) + i for i, p in enumerate(limited)}
        """The rows of places whose nodes have limits."""
        self._ranges += [(int(places.least[p]), places.most[p]) for p in limited]
        self._rows = [
            model.add_linear_constraint(lb=_end(lower, -FREE), ub=_end(upper, FREE))
            for lower, upper in self._ranges
        ]
        extra = [model.add_variable(lb=0.0, ub=float(upper)) for upper in places.extra]
        for row, made in zip(places.rows, self._rows, strict=False):
            for number, amount in row.extra.items():
                made.set_coefficient(extra[number], float(amount))
        for row in self._rows:
            self._missing(row, missing_cost(places) / self._scale)
        self._of_group: list[list[int]] = [[] for _ in places.groups]
        for r, pods_row in enumerate(places.rows):
            for group in pods_row.groups.tolist():
                self._of_group[group].append(r)
        self.patterns: dict[Pattern, mathopt.Variable] = {}
        self._entries: dict[Pattern, dict[int, int]] = {}
        self._solver = mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP)

    def _missing(self, row: mathopt.LinearConstraint, dear: float) -> None:
        missing = self._model.add_variable(lb=0.0)
        row.set_coefficient(missing, 1.0 if row.lower_bound > -FREE else -1.0)
        self._model.objective.set_linear_coefficient(missing, dear)

    def add(self, place: int, pods: Pods) -> bool:
        """A pattern more; False if it was there."""
        pattern = place, pods
        if pattern in self.patterns:
            return False
        variable = self._model.add_variable(lb=0.0)
        self.patterns[pattern] = variable
        cost = float(self._places.cost[place]) / self._scale
        self._model.objective.set_linear_coefficient(variable, cost)
        self._entries[pattern] = self._amounts(place, pods)
        for r, amount in self._entries[pattern].items():
            self._rows[r].set_coefficient(variable, float(amount))
        return True

    def _amounts(self, place: int, pods: Pods) -> dict[int, int]:
        """What a pattern adds to each row."""
        places, found = self._places, dict[int, int]()
        for group, count in pods:
            for r in self._of_group[group]:
                row = places.rows[r]
                if row.places[place]:
                    found[r] = found.get(r, 0) + row.weight * count
        first = len(places.rows)
        for r, node_row in enumerate(places.node_rows, start=first):
            if node_row.each[place]:
                found[r] = int(node_row.each[place])
        if place in self._limit:
            found[self._limit[place]] = 1
        return found

    def prices(self) -> Prices | None:
        """The duals of the linear optimum; None if GLOP gives up."""
        result = linear_optimum(self._solver)
        if result is None or not result.has_dual_feasible_solution():
            return None
        prices = self.paying(self._scale * dual for dual in result.dual_values(self._rows))
        values = result.variable_values(list(self.patterns.values()))
        used = {p: v for p, v in zip(self.patterns, values, strict=True) if v > SURE}
        return replace(prices, used=used)

    def paying(self, duals: Iterable[float]) -> Prices:
        """Prices of the first rows from duals, as whole numbers."""
        ends = zip(self._ranges, duals, strict=False)
        paid = [_paying(end, round(UNIT * dual)) for end, dual in ends]
        rows, nodes = len(self._places.rows), len(self._places.node_rows)
        return Prices(paid[:rows], paid[rows : rows + nodes], {})

    def whole(self, seconds: float) -> tuple[dict[Pattern, int] | None, float]:
        """Whole patterns, if they are found, and the time spent.

        Groups may get more than they want: where more have room, fewer have.
        """
        patterns, program = list(self.patterns), Program()
        number = {pattern: i for i, pattern in enumerate(patterns)}
        demand = self._ranges[: len(self._places.groups)]
        most = np.full(len(patterns), max(1, sum(n or 0 for n, _ in demand)), np.int64)
        x = program.add_columns(np.zeros(len(patterns), np.int64), most)
        upper = np.array(self._places.extra, np.int64)
        extra = program.add_columns(np.zeros(len(upper), np.int64), upper)
        least = np.array([_end(lower, -FREE) for lower, _ in self._ranges])
        highest = np.array([_end(end, FREE) for _, end in self._ranges])
        highest[: len(demand)] = FREE
        rows = program.add_rows(least, highest)
        for r, row in enumerate(self._places.rows):
            for variable, amount in row.extra.items():
                program.enter(rows[[r]], extra[[variable]], amount)
        for pattern, amounts in self._entries.items():
            chosen = np.full(len(amounts), x[number[pattern]])
            program.enter(rows[list(amounts)], chosen, np.array(list(amounts.values()), np.int64))
        own = self._places.cost[[place for place, _ in patterns]]
        cost = np.concatenate((own, np.zeros(len(upper), np.int64)))
        found = minimise(program.matrix(), cost, Stop(seconds), np.ones(len(cost), np.bool_))
        if found.values is None:
            return None, found.spent
        used = zip(patterns, found.values.tolist(), strict=False)
        return {pattern: n for pattern, n in used if n}, found.spent


def missing_cost(places: Places) -> float:
    """What one unit costs that is missing in a row."""
    able = np.where((places.cap > 0) & (places.cost > 0)[:, None], places.cost[:, None], FAR)
    cheapest = able.min(axis=0, initial=FAR)
    return MISSING * float(cheapest[cheapest < FAR].max(initial=1))


def _middle(one: list[int], other: list[int]) -> list[int]:
    """Half way, in whole numbers."""
    return [(a + b) // 2 for a, b in zip(one, other, strict=True)]


def _paying(ends: tuple[int | None, int | None], price: int) -> int:
    """A price that pushes against an end which the row has."""
    return 0 if ends[0 if price > 0 else 1] is None else price


def _end(end: int | None, far: float) -> float:
    return far if end is None else float(end)
