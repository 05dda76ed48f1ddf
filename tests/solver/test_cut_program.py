"""Inequalities come and go, and values and duals are told by their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from planner.solver.model.cut_program import CutProgram
from planner.solver.model.math_opt import proto_of
from planner.solver.model.program import FREE, Matrix


def most_of_two() -> CutProgram:
    """As much as possible of two columns up to 4, no more than 6 of both."""
    row, columns = np.zeros(2, np.int64), np.arange(2)
    ends = np.array([-FREE]), np.array([6.0])
    ones = np.ones(2, np.int64)
    matrix = Matrix(np.zeros(2, np.int64), np.full(2, 4), *ends, row, columns, ones)
    return CutProgram(proto_of(matrix, np.array([-2, -1]), np.zeros(2, np.bool_)))


def test_rows_come_and_go() -> None:
    program = most_of_two()
    first = program.solve()
    assert first is not None
    assert first.optimal
    assert first.values.tolist() == pytest.approx([4, 2])
    assert first.duals.tolist() == pytest.approx([-1])

    row = program.add_row(np.array([1, 0]), np.array([1.0, 2.0]), 5.0)  # 2 x + y <= 5
    second = program.solve()
    assert second is not None
    assert 2 * second.values[0] + second.values[1] == pytest.approx(5)
    assert second.duals[row] == pytest.approx(-1)

    program.delete_row(row)
    later = program.add_row(np.array([0]), np.array([1.0]), 3.0)
    third = program.solve()
    assert third is not None
    assert third.values.tolist() == pytest.approx([3, 3])
    assert third.duals.tolist() == pytest.approx([-1, 0, -1])
    assert later == 2


def test_without_a_solution_nothing_is_optimal() -> None:
    program = most_of_two()
    program.add_row(np.array([0]), np.array([1.0]), -1.0)
    found = program.solve()
    assert found is not None
    assert not found.optimal


def test_numbers_that_are_refused_give_nothing() -> None:
    program = most_of_two()
    program.add_row(np.array([0]), np.array([np.nan]), 1.0)
    assert program.solve() is None
