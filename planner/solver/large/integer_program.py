"""A mixed-integer program as arrays, solved by HiGHS; nothing here is asked pod by pod.

HiGHS computes in floating point. Its solutions are rounded and judged exactly by whoever uses them.
Its bounds say when to stop looking, and nothing is called optimal for them.

Small pods that could be anywhere make a program over many nodes hard, and hardly ever decide how
good it can get. So a program can be decided by size, too: at first arrivals of large pods are whole
numbers, while those of small ones may be parted, which bounds all solutions. What is found for the
large ones is kept, and the small ones are decided in whole numbers then, which may fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Thread

import numpy as np
from numpy.typing import NDArray
from ortools.math_opt import model_pb2  # type: ignore[import-untyped]  # ships no types
from ortools.math_opt.python import (  # type: ignore[import-untyped]  # ships no types
    errors,
    mathopt,
)

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning

SAFE = 1e-4
"""How far above a whole number a bound of HiGHS may be and still mean it."""
FREE = float("inf")
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Optimum:
    """Whole values of all columns, if a solution was found; `bound` holds for every solution."""

    values: IntArray | None
    bound: int
    complete: bool
    """Whether the search came to its end."""
    spent: float
    """What it took, in about seconds; the same for the same program."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """A program as it stands: ranges of columns and rows, and entries in order of their rows."""

    lower: IntArray
    upper: IntArray
    least: FloatArray
    most: FloatArray
    row: IntArray
    column: IntArray
    amount: IntArray

    def admits(self, values: IntArray) -> bool:
        """Whether whole values keep within all ranges."""
        inside = (self.lower <= values) & (values <= self.upper)
        sums = np.zeros(len(self.least), np.int64)
        np.add.at(sums, self.row, self.amount * values[self.column])
        return bool(inside.all() and ((self.least <= sums) & (sums <= self.most)).all())

    def without_fixed(self) -> Matrix:
        """The columns that have a choice; the others are taken for granted in the rows."""
        live = self.upper > self.lower
        place = np.cumsum(live) - 1
        kept = live[self.column]
        given = np.zeros(len(self.least), np.int64)
        np.add.at(given, self.row[~kept], (self.amount * self.lower[self.column])[~kept])
        return Matrix(
            self.lower[live],
            self.upper[live],
            self.least - given,
            self.most - given,
            self.row[kept],
            place[self.column[kept]],
            self.amount[kept],
        )


@dataclass(eq=False)
class Program:
    """Whole columns within rows."""

    _columns: list[tuple[IntArray, IntArray]] = field(default_factory=list)
    _rows: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    _entries: list[tuple[IntArray, IntArray, IntArray]] = field(default_factory=list)
    columns: int = 0
    rows: int = 0

    def add_columns(self, lower: IntArray, upper: IntArray) -> IntArray:
        """So many columns; their numbers."""
        self._columns.append((lower, upper))
        self.columns += len(upper)
        return np.arange(self.columns - len(upper), self.columns)

    def add_rows(self, lower: FloatArray, upper: FloatArray) -> IntArray:
        """Rows without entries yet; their numbers."""
        self._rows.append((lower, upper))
        self.rows += len(lower)
        return np.arange(self.rows - len(lower), self.rows)

    def enter(self, rows: IntArray, columns: IntArray, amount: IntArray | int) -> None:
        """Coefficients; those of the same row and column add up."""
        shape = columns.shape
        self._entries.append(
            (np.broadcast_to(rows, shape), columns, np.broadcast_to(np.asarray(amount), shape))
        )

    def matrix(self) -> Matrix:
        """Everything so far; entries of the same row and column added up."""
        lower, upper = (np.concatenate(part) for part in zip(*self._columns, strict=True))
        least = np.concatenate([np.empty(0), *(rows[0] for rows in self._rows)])
        most = np.concatenate([np.empty(0), *(rows[1] for rows in self._rows)])
        none = (np.empty(0, np.int64),) * 3
        entries = zip(none, *self._entries, strict=True)
        row, column, amount = (np.concatenate(part) for part in entries)
        place, at = np.unique(row * self.columns + column, return_inverse=True)
        total = np.zeros(len(place), np.int64)
        np.add.at(total, at.reshape(-1), amount)
        place, total = place[total != 0], total[total != 0]
        return Matrix(lower, upper, least, most, place // self.columns, place % self.columns, total)


@dataclass(frozen=True)
class Stop:
    """When a search may end before it has proven anything: whatever comes first."""

    seconds: float
    target: int | None = None
    """A cost that can't be beaten, or is good enough."""


def minimise(matrix: Matrix, cost: IntArray, stop: Stop, whole: BoolArray) -> Optimum:
    """The least cost; columns without a choice don't reach the solver.

    Where only some columns have to be `whole`, the values of the others are rounded for no use.
    """
    live = matrix.upper > matrix.lower
    given = int((cost * matrix.lower)[~live].sum())
    if not live.any():
        only = matrix.lower if matrix.admits(matrix.lower) else None
        return Optimum(only, given, complete=True, spent=0.0)
    model = _model(matrix.without_fixed(), cost[live], whole[live])
    found = _minimise(model, stop, given)
    values = None
    if found.values is not None:
        values = matrix.lower.copy()
        values[live] = found.values
    return Optimum(values, found.bound + given, found.complete, found.spent)


def proto_of(matrix: Matrix, cost: IntArray, whole: BoolArray) -> model_pb2.ModelProto:
    """The least cost over these columns and rows, as MathOpt reads it."""
    count = len(matrix.lower)
    proto = model_pb2.ModelProto()
    proto.variables.ids.extend(range(count))
    proto.variables.lower_bounds.extend(matrix.lower.astype(float).tolist())
    proto.variables.upper_bounds.extend(matrix.upper.astype(float).tolist())
    proto.variables.integers.extend(whole.tolist())
    paid = np.flatnonzero(cost)
    proto.objective.linear_coefficients.ids.extend(paid.tolist())
    proto.objective.linear_coefficients.values.extend(cost[paid].astype(float).tolist())
    proto.linear_constraints.ids.extend(range(len(matrix.least)))
    proto.linear_constraints.lower_bounds.extend(matrix.least.tolist())
    proto.linear_constraints.upper_bounds.extend(matrix.most.tolist())
    entries = proto.linear_constraint_matrix
    entries.row_ids.extend(matrix.row.tolist())
    entries.column_ids.extend(matrix.column.tolist())
    entries.coefficients.extend(matrix.amount.astype(float).tolist())
    return proto


def _model(matrix: Matrix, cost: IntArray, whole: BoolArray) -> mathopt.Model:
    return mathopt.Model.from_model_proto(proto_of(matrix, cost, whole))


def serial(nodes: int) -> mathopt.SolveParameters:
    """So many nodes in one thread: HiGHS's threads spin while they wait, and gain nothing here."""
    limits = mathopt.SolveParameters(node_limit=nodes)
    limits.highs.string_options["parallel"] = "off"
    return limits


def _minimise(model: mathopt.Model, stop: Stop, given: int) -> Optimum:
    """The search stops after a number of nodes of its tree, which repeats exactly.

    Nodes of a hard program can take much longer than others, so real time has an end as well.
    """
    limits = serial(max(1, int(tuning.HIGHS_NODES * stop.seconds / model.get_num_variables())))
    limits.time_limit = timedelta(seconds=1 + tuning.HIGHS_FUSE * stop.seconds)
    if stop.target is not None:
        limits.highs.double_options["objective_target"] = stop.target - given + SAFE
    highs = mathopt.SolverType.HIGHS
    return _optimum(model, _abandonable(lambda: mathopt.solve(model, highs, params=limits)))


def linear_optimum(
    solver: mathopt.IncrementalSolver, needed: mathopt.ModelSolveParameters | None = None
) -> mathopt.SolveResult | None:
    """One call of GLOP; None where it gives up, since its numbers have become too bad.

    MathOpt raises an error then, and in some releases another one while it builds the first.
    """
    try:
        return solver.solve(model_params=needed)
    except errors.InternalMathOptError:
        return None
    except AttributeError as error:
        if "canonical_code" not in str(error):
            raise
        return None


def cost_of(model: mathopt.Model, result: mathopt.SolveResult) -> float:
    """About the seconds that it took to make and solve a model; the same every time."""
    iterations: int = result.solve_stats.simplex_iterations
    columns: int = model.get_num_variables()
    return columns * (tuning.HIGHS_COLUMN_SECONDS + tuning.HIGHS_ITERATION_SECONDS * iterations)


def _optimum(model: mathopt.Model, result: mathopt.SolveResult) -> Optimum:
    reason = result.termination.reason
    done = reason in (mathopt.TerminationReason.OPTIMAL, mathopt.TerminationReason.INFEASIBLE)
    lowest = result.termination.objective_bounds.dual_bound
    bound = math.ceil(lowest - SAFE) if math.isfinite(lowest) else -(1 << 40)
    spent = cost_of(model, result) + tuning.HIGHS_PRESOLVE_SECONDS * model.get_num_variables()
    if not result.has_primal_feasible_solution():
        return Optimum(None, bound, done, spent)
    values = result.variable_values()
    found = np.rint([values[v] for v in model.variables()]).astype(np.int64)
    return Optimum(found, bound, done, spent)


def _abandonable(call: Callable[[], mathopt.SolveResult]) -> mathopt.SolveResult:
    """HiGHS can't be stopped: when Ctrl-C comes, it is left to itself."""
    found: Future[mathopt.SolveResult] = Future()

    def run() -> None:
        try:
            found.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            found.set_exception(error)

    Thread(target=run, daemon=True).start()
    return found.result()


@dataclass(frozen=True, eq=False)
class Halves:
    """What is known with small pods in parts, and a solution in whole numbers, if one was found."""

    rough: Optimum
    whole: Optimum | None

    @property
    def impossible(self) -> bool:
        """Whether there is no solution, even with small pods in parts."""
        return self.rough.values is None and self.rough.complete

    @property
    def values(self) -> IntArray | None:
        """In whole numbers."""
        return None if self.whole is None else self.whole.values

    @property
    def spent(self) -> float:
        """Of both steps."""
        return self.rough.spent + (0.0 if self.whole is None else self.whole.spent)


def minimise_by_size(
    matrix: Matrix, cost: IntArray, sizes: FloatArray, share: float, stop: Stop
) -> Halves:
    """The least cost; `sizes` are those of arriving pods, `share` is the part that is large."""
    large = _large(matrix, sizes, share)
    rough = minimise(matrix, cost, stop, large)
    if rough.values is None:
        return Halves(rough, None)
    lower = np.where(large, rough.values, matrix.lower)
    upper = np.where(large, rough.values, matrix.upper)
    between = replace(matrix, lower=lower, upper=upper)
    return Halves(rough, minimise(between, cost, stop, np.ones_like(large)))


def _large(matrix: Matrix, sizes: FloatArray, share: float) -> BoolArray:
    """Columns that are not arrivals, and a part of those that are: of the largest pods."""
    arrive = sizes[(matrix.upper > matrix.lower) & (sizes < FREE)]
    return sizes >= (np.quantile(arrive, 1 - share, method="higher") if len(arrive) else FREE)
