"""Inequalities for whole numbers: none of them may cut off a whole solution."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.solver.large.rounding import Row, rounded, rows_of
from planner.solver.model.program import Matrix, Program


def one_row(amounts: list[int], upper: list[int], most: int) -> Matrix:
    """sum amount x column <= most, columns from 0."""
    program = Program()
    columns = program.add_columns(np.zeros(len(upper), np.int64), np.array(upper))
    row = program.add_rows(np.array([-np.inf]), np.array([float(most)]))
    program.enter(row, columns, np.array(amounts))
    return program.matrix()


def only_row(matrix: Matrix) -> Row:
    (row,) = rows_of(matrix, np.array([0]))
    return row


def test_half_a_big_pod_asks_for_a_whole_eviction() -> None:
    """7 cores arrive where 2 are free and pods of 5 may leave: arrivals <= evictions."""
    matrix = one_row([7, -5], [1, 1], 2)
    found = rounded(only_row(matrix), matrix, np.array([0.5, 0.3]))
    assert found is not None
    _, cut = found
    assert (cut.amount.tolist(), cut.most) == ([1, -1], 0)


def test_a_point_between_whole_solutions_is_left_alone() -> None:
    matrix = one_row([7, -5], [1, 1], 2)
    assert rounded(only_row(matrix), matrix, np.array([0.5, 0.5])) is None


@st.composite
def rows_and_points(draw: st.DrawFn) -> tuple[Matrix, list[float]]:
    size = draw(st.integers(1, 5))
    amounts = draw(st.lists(st.integers(-9, 9).filter(bool), min_size=size, max_size=size))
    upper = draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    point = [draw(st.floats(0, high)) for high in upper]
    return one_row(amounts, upper, draw(st.integers(-10, 15))), point


@given(rows_and_points())
def test_every_whole_solution_keeps_the_inequality(case: tuple[Matrix, list[float]]) -> None:
    matrix, point = case
    found = rounded(only_row(matrix), matrix, np.array(point))
    if found is None:
        return
    outside, cut = found
    beyond = float(cut.amount @ np.array(point)[cut.column]) - cut.most
    assert outside > 0
    assert beyond > 0
    for whole in product(*(range(high + 1) for high in matrix.upper.tolist())):
        values = np.array(whole)
        if matrix.admits(values):
            assert cut.amount @ values[cut.column] <= cut.most
