"""The master problem over ways to use nodes: linear for prices, integral for a placement.

A column is one way to use one node: which big pods land there, which due pods leave, how many
others have to. Rows: each node is used in at most one way; landings of each big task and domain are
enough; departures of each due pair are no more than its group makes. Groups keep to the smallest
count that their closed form chose. The linear optimum's duals are the prices that `prices` turns
into a bound of its own, exactly; nothing is believed that this module computes in floating point.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.bundles import UNIT
from planner.solver.large.integer_program import cost_of
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.prices import Market, Priced, Prices
from planner.solver.large.state import State
from planner.solver.model.math_opt import linear_optimum, serial

_NOTHING = mathopt.VariableFilter(filtered_items=())
_DUALS = mathopt.ModelSolveParameters(
    variable_values_filter=_NOTHING, reduced_costs_filter=_NOTHING
)
"""Prices are all that is asked of the linear program."""


@dataclass(frozen=True)
class Column:
    """One way to use a node: its state, `lands` as (class, pods), and other evictions."""

    node: int
    state: int
    lands: tuple[tuple[int, int], ...]
    evictions: int


@dataclass(frozen=True)
class Chosen:
    """Whole columns, and the moves that they and the groups amount to."""

    columns: list[Column]
    moves: int


@dataclass(eq=False)
class Master:
    """The model, and the columns in it so far."""

    state: State
    market: Market
    model: mathopt.Model = field(default_factory=mathopt.Model)
    columns: dict[Column, mathopt.Variable] = field(default_factory=dict)
    used: dict[int, mathopt.LinearConstraint] = field(default_factory=dict)
    landing: dict[tuple[int, int], mathopt.LinearConstraint] = field(default_factory=dict)
    leaving: list[mathopt.LinearConstraint] = field(default_factory=list)
    whole: list[mathopt.Variable] = field(default_factory=list)
    given: int = 0
    """Moves of groups whose departures are not in the model."""
    rent: IntArray = field(init=False)
    """What the use of a node is worth to the columns so far, at most 0: a column that is worth
    looking at is cheaper."""
    missing: bool = True
    """Whether some landing still has no column, so that its price is only made up."""
    spent: float = 0.0
    """Seconds of all that was solved, counted in iterations."""

    def __post_init__(self) -> None:
        self.rent = np.zeros(len(self.market.room.first), np.int64)
        pairs = self.market.room.pairs.all
        self.leaving = [self.model.add_linear_constraint(lb=0.0) for _ in pairs]
        for h, size in enumerate(self.market.big):
            for domain in range(size.domains):
                self.landing[h, domain] = self._missing()
        big = {t.group: h for h, size in enumerate(self.market.big) for t in size.members}
        counted = {g for g, _ in pairs}
        for g in sorted({*big, *counted}):
            self._group(self.state.tasks[g], big.get(g))
        self.given = sum(t.bound for g, t in self.state.tasks.items() if g not in counted)

    def _group(self, task: PlainGroup, h: int | None) -> None:
        size = 1 if task.main is None else task.rules[task.main].size
        arrive = [self._integer(None) for _ in range(size)]
        leave = [self._integer(None) for _ in range(size)]
        for domain in range(size):
            pair = self.market.room.pairs.index.get((task.group, domain))
            if pair is None:
                leave[domain].upper_bound = 0.0
            else:
                self.model.objective.set_linear_coefficient(leave[domain], 1.0)
                self.leaving[pair].set_coefficient(leave[domain], 1.0)
            if h is not None:
                self.landing[h, domain].set_coefficient(arrive[domain], -1.0)
        balance = self.model.add_linear_constraint(lb=task.waiting, ub=task.waiting)
        for domain in range(size):
            balance.set_coefficient(arrive[domain], 1.0)
            balance.set_coefficient(leave[domain], -1.0)
        if task.main is None:
            return
        now, low = task.counts[task.main], task.low[task.main]
        skew = task.rules[task.main].skew
        for domain in range(size):
            row = self.model.add_linear_constraint(
                lb=float(low - now[domain]), ub=float(low + skew - now[domain])
            )
            row.set_coefficient(arrive[domain], 1.0)
            row.set_coefficient(leave[domain], -1.0)

    def _integer(self, upper: float | None) -> mathopt.Variable:
        variable = self.model.add_variable(lb=0.0, ub=float("inf") if upper is None else upper)
        self.whole.append(variable)
        return variable

    def _missing(self) -> mathopt.LinearConstraint:
        row = self.model.add_linear_constraint(lb=0.0)
        missing = self.model.add_variable(lb=0.0)
        self.model.objective.set_linear_coefficient(missing, tuning.MISSING_COST)
        row.set_coefficient(missing, 1.0)
        return row

    def add(self, column: Column) -> bool:
        """Adds a column; False if it was there."""
        if column in self.columns:
            return False
        variable = self.model.add_variable(lb=0.0, ub=1.0)
        self.columns[column] = variable
        self.whole.append(variable)
        self.model.objective.set_linear_coefficient(variable, float(column.evictions))
        if column.node not in self.used:
            self.used[column.node] = self.model.add_linear_constraint(ub=1.0)
        self.used[column.node].set_coefficient(variable, 1.0)
        for h, pods in column.lands:
            self.landing[h, self._domain(h, column.node)].set_coefficient(variable, float(pods))
        pairs, times = np.unique(self.market.room.unit_pair[column.state], return_counts=True)
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
            if pair >= 0:
                self.leaving[pair].set_coefficient(variable, -float(count))
        return True

    def value(self, column: Column, found: Priced) -> int:
        """What a column costs beyond what is paid for it."""
        pay = sum(
            pods * int(found.prices.pay[h][self._domain(h, column.node)])
            for h, pods in column.lands
        )
        return UNIT * column.evictions + int(found.paid[column.state]) - pay

    def _domain(self, h: int, node: int) -> int:
        return int(self.market.big[h].domain_at(np.array([node]))[0])

    def prices(self, solver: mathopt.IncrementalSolver) -> Prices | None:
        """The duals of the linear optimum as whole numbers of units; None if GLOP gives up."""
        result = linear_optimum(solver, _DUALS)
        if result is None or not result.has_dual_feasible_solution():
            return None
        self.spent += self._cost(result)
        duals = result.dual_values()
        pay = [np.zeros(size.domains, np.int64) for size in self.market.big]
        for (h, domain), row in self.landing.items():
            pay[h][domain] = max(0, round(UNIT * duals[row]))
        made_up = UNIT * tuning.MISSING_COST
        self.missing = any(int(each.max()) >= made_up for each in pay)
        fee = np.array([round(UNIT * duals[row]) for row in self.leaving], np.int64)
        for node, row in self.used.items():
            self.rent[node] = min(0, round(UNIT * duals[row]))
        return self.market.within(pay, fee)

    def _cost(self, result: mathopt.SolveResult) -> float:
        return cost_of(self.model.get_num_variables(), result.solve_stats.simplex_iterations)

    def choose(self, effort: float, allowed: Collection[Column]) -> Chosen | None:
        """Whole columns, of some; limited by nodes of the search tree, which repeats exactly."""
        for variable in self.whole:
            variable.integer = True
        for column, variable in self.columns.items():
            variable.upper_bound = 1.0 if column in allowed else 0.0
        limits = serial(int(10 * effort))
        result = mathopt.solve(self.model, mathopt.SolverType.HIGHS, params=limits)
        self.spent += self._cost(result)
        for variable in self.whole:
            variable.integer = False
        for variable in self.columns.values():
            variable.upper_bound = 1.0
        if not result.has_primal_feasible_solution():
            return None
        values = result.variable_values()
        used = [column for column, v in self.columns.items() if values[v] > 0.5]
        return Chosen(used, self.given + round(result.objective_value()))
