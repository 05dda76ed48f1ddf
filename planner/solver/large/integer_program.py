"""A mixed-integer program (see `program`), solved by HiGHS.

HiGHS computes in floating point. Its solutions are rounded and judged exactly by whoever uses them.
Its bounds say when to stop looking, and nothing is called optimal for them.

Small pods that could be anywhere make a program over many nodes hard, and hardly ever decide how
good it can get. So a program can be decided by size, too: at first arrivals of large pods are whole
numbers, while those of small ones may be parted, which bounds all solutions. What is found for the
large ones is kept, and the small ones are decided in whole numbers then, which may fail.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Thread

import numpy as np
from ortools.math_opt import (  # type: ignore[import-untyped]  # ships no types
    model_pb2,
    result_pb2,
)

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.math_opt import by_highs, proto_of, serial, solution_of
from planner.solver.model.memory import give_back
from planner.solver.model.program import FREE, FloatArray, Matrix

SAFE = 1e-4
"""How far above a whole number a bound of HiGHS may be and still mean it."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Whole values of all columns, if a solution was found; `bound` holds for every solution."""

    values: IntArray | None
    bound: int
    complete: bool
    """Whether the search came to its end."""
    spent: float
    """What it took, in about seconds; the same for the same program."""


@dataclass(frozen=True)
class Stop:
    """When a search may end before it has proven anything: whatever comes first."""

    seconds: float
    target: int | None = None
    """A cost that can't be beaten, or is good enough."""
    until: float = math.inf
    """When nobody waits any more, by the monotonic clock."""


def minimise(matrix: Matrix, cost: IntArray, stop: Stop, whole: BoolArray) -> Optimum:
    """The least cost; columns without a choice don't reach the solver.

    Where only some columns have to be `whole`, the values of the others are rounded for no use.
    """
    live = matrix.upper > matrix.lower
    given = int((cost * matrix.lower)[~live].sum())
    if not live.any():
        only = matrix.lower if matrix.admits(matrix.lower) else None
        return Optimum(only, given, complete=True, spent=0.0)
    model = proto_of(matrix.without_fixed(), cost[live], whole[live])
    found = _minimise(model, stop, given)
    values = None
    if found.values is not None:
        values = matrix.lower.copy()
        values[live] = found.values
    return Optimum(values, found.bound + given, found.complete, found.spent)


def _minimise(model: model_pb2.ModelProto, stop: Stop, given: int) -> Optimum:
    """The search stops after a number of nodes of its tree, which repeats exactly.

    Nodes of a hard program can take much longer than others, so real time has an end as well. What
    was counted beyond it depends on the machine, and is not taken from those who come after.
    """
    columns = len(model.variables.ids)
    limits = serial(max(1, int(tuning.HIGHS_NODES * stop.seconds / columns)))
    waiting = max(stop.until - time.monotonic(), tuning.LEAST_HIGHS_SECONDS)
    fuse = 1 + tuning.HIGHS_FUSE * stop.seconds
    limits.time_limit = timedelta(seconds=min(fuse, waiting))
    if stop.target is not None:
        limits.highs.double_options["objective_target"] = stop.target - given + SAFE
    give_back()
    found = _optimum(columns, _abandonable(lambda: by_highs(model, limits)))
    return replace(found, spent=min(found.spent, fuse))


def cost_of(columns: int, iterations: int) -> float:
    """About the seconds that it took to make and solve a model; the same every time."""
    return columns * (tuning.HIGHS_COLUMN_SECONDS + tuning.HIGHS_ITERATION_SECONDS * iterations)


def _optimum(columns: int, result: result_pb2.SolveResultProto) -> Optimum:
    ended = result.termination
    done = ended.reason in (
        result_pb2.TERMINATION_REASON_OPTIMAL,
        result_pb2.TERMINATION_REASON_INFEASIBLE,
    )
    lowest = ended.objective_bounds.dual_bound
    bound = math.ceil(lowest - SAFE) if math.isfinite(lowest) else -(1 << 40)
    spent = cost_of(columns, result.solve_stats.simplex_iterations)
    spent += tuning.HIGHS_PRESOLVE_SECONDS * columns
    return Optimum(solution_of(result, columns), bound, done, spent)


def _abandonable(call: Callable[[], result_pb2.SolveResultProto]) -> result_pb2.SolveResultProto:
    """HiGHS can't be stopped: when Ctrl-C comes, it is left to itself."""
    found: Future[result_pb2.SolveResultProto] = Future()

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
