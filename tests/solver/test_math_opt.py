"""What is asked of HiGHS without a model beside it means what a model of MathOpt means."""

from __future__ import annotations

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver.model.math_opt import by_highs, proto_of, serial, solution_of
from planner.solver.model.program import FREE, Matrix

COST = np.array([-3, -4, -5])


def knapsack(least: float, most: float) -> Matrix:
    """Up to four of each of three sizes in one row."""
    columns = np.arange(3)
    ends = np.array([least]), np.array([most])
    sizes = np.array([2, 3, 4])
    return Matrix(
        np.zeros(3, np.int64), np.full(3, 4), *ends, np.zeros(3, np.int64), columns, sizes
    )


def asked(matrix: Matrix) -> IntArray | None:
    proto = proto_of(matrix, COST, np.ones(3, np.bool_))
    return solution_of(by_highs(proto, serial(100)), 3)


def test_a_program_has_the_same_optimum_as_its_model() -> None:
    matrix = knapsack(-FREE, 17.0)
    proto = proto_of(matrix, COST, np.ones(3, np.bool_))
    model = mathopt.Model.from_model_proto(proto)
    same = mathopt.solve(model, mathopt.SolverType.HIGHS, params=serial(100))
    found = by_highs(proto, serial(100))
    bound = same.termination.objective_bounds.dual_bound
    assert found.termination.objective_bounds.dual_bound == bound
    assert found.solve_stats.simplex_iterations == same.solve_stats.simplex_iterations
    values = asked(matrix)
    assert values is not None
    assert matrix.admits(values)
    assert int(values @ COST) == round(same.objective_value())


def test_a_program_without_a_solution_has_no_values() -> None:
    assert asked(knapsack(40.0, FREE)) is None
