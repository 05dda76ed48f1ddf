"""Mixed-integer rounding: what a row says about whole numbers beyond what it says about fractions.

A pod that does not fit asks for a whole eviction, but half a pod may ask for half of one: that is
what makes linear bounds weak. For a row  sum a y <= b  over whole y >= 0 and a divisor d, with
r = b mod d, every whole solution also keeps

    sum ((d - r) x floor(a / d) + max(0, a mod d - r)) y  <=  (d - r) x floor(b / d)

Columns near their upper bound are counted from there. All of it is computed in integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.program import FloatArray, Matrix

TINY = 1e-6


@dataclass(frozen=True, eq=False)
class Row:
    """sum amount x column <= most."""

    column: IntArray
    amount: IntArray
    most: int


def rows_of(matrix: Matrix, chosen: IntArray) -> list[Row]:
    """Some rows that have an upper end."""
    first = np.searchsorted(matrix.row, np.arange(len(matrix.least) + 1))
    return [
        Row(
            matrix.column[first[i] : first[i + 1]],
            matrix.amount[first[i] : first[i + 1]],
            int(matrix.most[i]),
        )
        for i in chosen.tolist()
    ]


def rounded(row: Row, matrix: Matrix, values: FloatArray) -> tuple[float, Row] | None:
    """The inequality that the values are farthest outside of, and how far that is."""
    lower, upper = matrix.lower[row.column], matrix.upper[row.column]
    at = values[row.column]
    divisors = _divisors(row.amount[at > lower + TINY])
    if not len(divisors):
        return None
    high = 2 * at > lower + upper
    sides = (high, np.zeros_like(high)) if high.any() else (high,)
    found = [_farthest(row, lower, upper, at, side, divisors) for side in sides]
    return max((each for each in found if each is not None), key=lambda f: f[0], default=None)


def _divisors(amounts: IntArray) -> IntArray:
    whole = np.unique(np.abs(amounts))
    parts = [whole[whole % part == 0] // part for part in tuning.DIVISORS]
    found = np.unique(np.concatenate(parts))
    return found[found > 1]


def _farthest(
    row: Row,
    lower: IntArray,
    upper: IntArray,
    at: FloatArray,
    high: BoolArray,
    divisors: IntArray,
) -> tuple[float, Row] | None:
    """The best divisor, with the columns of `high` counted from their upper ends."""
    end = np.where(high, upper, lower)
    amount = np.where(high, -row.amount, row.amount)
    most = row.most - int((row.amount * end).sum())
    divisors = divisors[most % divisors != 0]
    if not len(divisors):
        return None
    rest = (most % divisors)[:, None]
    times, over = np.divmod(amount[None, :], divisors[:, None])
    factor = (divisors[:, None] - rest) * times + np.maximum(0, over - rest)
    limit = (divisors - rest[:, 0]) * (most // divisors)
    beyond = factor @ np.abs(at - end) - limit
    norm = np.sqrt((factor.astype(float) ** 2).sum(axis=1))
    outside = beyond / np.maximum(norm, 1.0)
    best = int(outside.argmax())
    if outside[best] < tuning.CUT_DISTANCE:
        return None
    return float(outside[best]), _plain(row, factor[best], int(limit[best]), high, end)


def _plain(row: Row, factor: IntArray, limit: int, high: BoolArray, end: IntArray) -> Row:
    """The inequality over the columns themselves, in the smallest whole numbers."""
    amount = np.where(high, -factor, factor)
    most = limit + int((amount * end).sum())
    kept = amount != 0
    common = int(np.gcd.reduce(amount[kept]))
    return Row(row.column[kept], amount[kept] // common, most // common)
