"""A linear program for GLOP whose inequalities come and go.

MathOpt's `IncrementalSolver` does the same for a `Model`. That is a second copy of the program, and
every answer is a dictionary with an object for each column, whose memory Python keeps in part. So
the same questions are asked one level below, in arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ortools.math_opt import (  # type: ignore[import-untyped]  # ships no types
    model_pb2,
    model_update_pb2,
    result_pb2,
    sparse_containers_pb2,
)
from ortools.math_opt.core.python import (  # type: ignore[import-untyped]  # ships no types
    solver as core,
)
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types
from pybind11_abseil.status import (  # type: ignore[import-untyped]  # comes with ortools
    StatusNotOk,
)

from planner.cluster.topology import IntArray
from planner.solver.model.program import FREE, FloatArray

_NEEDED = mathopt.ModelSolveParameters(
    reduced_costs_filter=mathopt.VariableFilter(filtered_items=())
)
"""Values and duals."""


@dataclass(frozen=True, eq=False)
class Point:
    """What GLOP found; values of all columns and duals of all rows by their numbers, if optimal."""

    optimal: bool
    iterations: int
    values: FloatArray
    duals: FloatArray


class CutProgram:
    """Rows are numbered in the order in which they came; numbers of deleted ones stay unused."""

    def __init__(self, proto: model_pb2.ModelProto) -> None:
        self._columns = len(proto.variables.ids)
        self._rows = len(proto.linear_constraints.ids)
        self._change = model_update_pb2.ModelUpdateProto()
        start = mathopt.StreamableSolverInitArguments().to_proto()
        self._solver = core.new(mathopt.SolverType.GLOP.value, proto, start)

    def add_row(self, columns: IntArray, amounts: FloatArray, most: float) -> int:
        """No more than `most` of these different columns; its number."""
        row, order = self._rows, np.argsort(columns)
        self._rows += 1
        new = self._change.new_linear_constraints
        new.ids.append(row)
        new.lower_bounds.append(-FREE)
        new.upper_bounds.append(most)
        entries = self._change.linear_constraint_matrix_updates
        entries.row_ids.extend([row] * len(order))
        entries.column_ids.extend(columns[order].tolist())
        entries.coefficients.extend(amounts[order].tolist())
        return row

    def delete_row(self, row: int) -> None:
        """Of those that GLOP knows already; in increasing order between two solutions."""
        self._change.deleted_linear_constraint_ids.append(row)

    def solve(self) -> Point | None:
        """One call of GLOP, from where it was; None where it gives up, as with bad numbers."""
        try:
            if not self._solver.update(self._change):
                raise RuntimeError("GLOP takes no changes")
            self._change = model_update_pb2.ModelUpdateProto()
            result = self._solver.solve(
                mathopt.SolveParameters().to_proto(),
                _NEEDED.to_proto(),
                None,
                mathopt.CallbackRegistration().to_proto(),
                None,
                None,
            )
        except StatusNotOk:
            return None
        return self._point(result)

    def _point(self, result: result_pb2.SolveResultProto) -> Point:
        optimal = result.termination.reason == result_pb2.TERMINATION_REASON_OPTIMAL
        values, duals = np.zeros(self._columns), np.zeros(self._rows)
        if optimal:
            best = result.solutions[0]
            _spread(best.primal_solution.variable_values, values)
            _spread(best.dual_solution.dual_values, duals)
        return Point(optimal, result.solve_stats.simplex_iterations, values, duals)


def _spread(found: sparse_containers_pb2.SparseDoubleVectorProto, into: FloatArray) -> None:
    into[np.array(found.ids, np.int64)] = found.values
