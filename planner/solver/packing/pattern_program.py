"""How often each pattern of pods on a node is used, as a linear program: prices for pods and nodes.

A pattern is what one node of a kind holds. The program places as many pods of one priority as it
can, so many of those above it, and whatever may not be driven off. A young program knows few
patterns, and its prices swing from one to the next. So pods can be bought and sold besides, a
little above and below the best prices that are known, and further away only where these don't
suffice (du Merle and others 1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver.model.knapsack import Pods
from planner.solver.model.math_opt import linear_optimum
from planner.solver.model.program import FloatArray
from planner.solver.packing.question import Stock

UNIT = 2**20
"""A pod of the priority that is asked about, in the whole numbers that prices are rounded to."""
NEAR, LEAST_WIDTH = 0.2, 0.02
"""How far from the known prices pods are bought and sold at first: a share of them, and pods."""
WIDER = 3.0
"""So many times as far where that was not enough."""
SURE = 1e-6

Pattern = tuple[int, Pods]
"""(kind of node, pods)."""


@dataclass(frozen=True, eq=False)
class Duals:
    """What a pod of each group costs and a node of each kind earns, in units."""

    pods: IntArray
    nodes: IntArray
    placed: float
    """How many pods the program places, with what it pays and gets for others."""
    traded: bool
    """Whether pods are bought or sold, so that prices may be better further away."""


class PatternProgram:
    """The program for one rank, with so many pods of those above it; patterns are added to it."""

    def __init__(
        self,
        stock: Stock,
        nodes_of_kind: IntArray,
        placed: tuple[int, ...],
        prices: FloatArray,
    ) -> None:
        """Prices are expected near the ones that are given, in pods."""
        model = mathopt.Model()
        self._kinds = [
            model.add_linear_constraint(ub=float(many)) for many in nodes_of_kind.tolist()
        ]
        self._groups = [model.add_linear_constraint(lb=0.0) for _ in stock.groups]
        above = [model.add_linear_constraint(lb=float(pods)) for pods in placed]
        self._bought = [model.add_variable(lb=0.0) for _ in stock.groups]
        self._sold = [model.add_variable(lb=0.0) for _ in stock.groups]
        rows = zip(self._groups, stock.rank.tolist(), stock.least, stock.total, strict=True)
        for at, (row, rank, least, total) in enumerate(rows):
            pods = model.add_variable(lb=float(least), ub=float(total))
            row.set_coefficient(pods, -1.0)
            row.set_coefficient(self._bought[at], 1.0)
            row.set_coefficient(self._sold[at], -1.0)
            if rank < len(above):
                above[rank].set_coefficient(pods, 1.0)
            elif rank == len(above):
                model.objective.set_linear_coefficient(pods, -1.0)
        self._model = model
        self._width = NEAR * prices + LEAST_WIDTH
        self._around(prices)
        self._solver = mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP)

    def _around(self, prices: FloatArray) -> None:
        """Buy and sell pods at prices not far from these."""
        high, low = prices + self._width, np.maximum(prices - self._width, 0.0)
        objective = self._model.objective
        for variable, price in zip(self._bought, high.tolist(), strict=True):
            objective.set_linear_coefficient(variable, price)
        for variable, price in zip(self._sold, low.tolist(), strict=True):
            objective.set_linear_coefficient(variable, -price)

    def give_way(self, prices: FloatArray) -> None:
        """Look further away from prices, where pods are bought or sold."""
        self._width = np.where(self._traded, WIDER * self._width, self._width)
        self._around(prices)

    def add(self, pattern: Pattern) -> None:
        """A pattern more."""
        kind, pods = pattern
        used = self._model.add_variable(lb=0.0)
        self._kinds[kind].set_coefficient(used, 1.0)
        for group, count in pods:
            self._groups[group].set_coefficient(used, float(count))

    def duals(self) -> Duals | None:
        """Those of the linear optimum; None if GLOP gives up."""
        rows = (*self._groups, *self._kinds)
        traded = (*self._bought, *self._sold)
        needed = mathopt.ModelSolveParameters(
            variable_values_filter=mathopt.VariableFilter(filtered_items=traded),
            reduced_costs_filter=mathopt.VariableFilter(filtered_items=()),
            dual_values_filter=mathopt.LinearConstraintFilter(filtered_items=rows),
        )
        found = linear_optimum(self._solver, needed)
        if found is None or not found.has_dual_feasible_solution():
            return None
        prices = np.maximum(0.0, np.array(found.dual_values(self._groups)))
        earned = np.maximum(0.0, -np.array(found.dual_values(self._kinds)))
        amounts = np.array(found.variable_values(traded)).reshape(2, -1)
        self._traded = (amounts > SURE).any(axis=0)
        return Duals(
            np.rint(prices * UNIT).astype(np.int64),
            np.rint(earned * UNIT).astype(np.int64),
            -found.objective_value(),
            bool(self._traded.any()),
        )
