"""MathOpt, through which GLOP and HiGHS are asked; it takes half a second to import."""

from __future__ import annotations

import numpy as np
from ortools.math_opt import (  # type: ignore[import-untyped]  # ships no types
    model_pb2,
    result_pb2,
    solution_pb2,
)
from ortools.math_opt.core.python import (  # type: ignore[import-untyped]  # ships no types
    solver as core,
)
from ortools.math_opt.python import (  # type: ignore[import-untyped]  # ships no types
    errors,
    mathopt,
)

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.model.program import Matrix


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


def serial(nodes: int) -> mathopt.SolveParameters:
    """So many nodes in one thread: HiGHS's threads spin while they wait, and gain nothing here."""
    limits = mathopt.SolveParameters(node_limit=nodes)
    limits.highs.string_options["parallel"] = "off"
    return limits


def by_highs(
    proto: model_pb2.ModelProto, limits: mathopt.SolveParameters
) -> result_pb2.SolveResultProto:
    """One call of HiGHS for a program that is asked once.

    `mathopt.solve` does the same from a `Model`. That keeps every entry in hash tables, so that it
    can be changed, and takes more memory than the program itself all the while HiGHS works.
    """
    return core.solve(
        proto,
        mathopt.SolverType.HIGHS.value,
        mathopt.StreamableSolverInitArguments().to_proto(),
        limits.to_proto(),
        mathopt.ModelSolveParameters().to_proto(),
        None,
        mathopt.CallbackRegistration().to_proto(),
        None,
        None,
    )


def solution_of(result: result_pb2.SolveResultProto, columns: int) -> IntArray | None:
    """The best values in whole numbers; None if there is no solution."""
    if not result.solutions:
        return None
    best = result.solutions[0].primal_solution
    if best.feasibility_status != solution_pb2.SOLUTION_STATUS_FEASIBLE:
        return None
    found = np.zeros(columns, np.int64)
    found[np.array(best.variable_values.ids, np.int64)] = np.rint(best.variable_values.values)
    return found
