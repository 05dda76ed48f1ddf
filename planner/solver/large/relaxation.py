"""The linear relaxation of a program, tightened by rounding; its bounds are computed in integers.

GLOP solves it in floating point. Its duals, rounded to whole numbers of a fine unit, give a bound
for every whole solution by the columns' ranges alone, whatever their quality: for multipliers y

    cost x  >=  sum over rows of y x (the end that y presses on)
              + sum over columns of min over its range of (cost - y A) x

The reduced costs (cost - y A) say in the same way what each column costs beyond that bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.rounding import Row, rounded, rows_of
from planner.solver.model.cut_program import CutProgram
from planner.solver.model.math_opt import proto_of
from planner.solver.model.program import FREE, FloatArray, Matrix

UNIT = 1 << 30
"""Duals are whole numbers of 1 / UNIT."""
TOO_LARGE, STEEPEST = float(1 << 62), float(1 << 20)
"""Sums and duals that are not computed with."""
SLACK = 1e-5


@dataclass(eq=False)
class Relaxation:
    """The best bound so far, in `UNIT`, with its reduced costs and the point that gave it.

    Columns without a choice don't reach GLOP.
    """

    matrix: Matrix
    cost: IntArray
    bases: list[Row]
    cuts: list[Row] = field(default_factory=list)
    bound: int = -1
    reduced: IntArray = field(init=False)
    values: FloatArray = field(init=False)
    spent: float = 0.0
    """Seconds of all that was solved, counted in iterations."""

    @staticmethod
    def of(matrix: Matrix, paid: IntArray, room: IntArray) -> Relaxation:
        """Of a program whose paid columns are to be few; `room` are the rows to round."""
        cost = np.bincount(paid, minlength=len(matrix.lower))
        return Relaxation(matrix, cost, rows_of(matrix, room))

    def __post_init__(self) -> None:
        self.reduced = self.cost * UNIT
        parts = np.zeros(len(self.cost), np.bool_)
        self._live = np.flatnonzero(self.matrix.upper > self.matrix.lower)
        program = self.matrix.without_fixed()
        self._program = CutProgram(proto_of(program, self.cost[self._live], parts[self._live]))
        self._place = np.full(len(self.cost), -1)
        self._place[self._live] = np.arange(len(self._live))
        self._extra: list[tuple[Row, float, int]] = []

    def _solve(self) -> bool:
        """Once, with the inequalities so far; False if there is no solution, or GLOP gives up."""
        found = self._program.solve()
        if found is None:
            return False
        self.spent += len(self._live) * (
            tuning.GLOP_COLUMN_SECONDS + tuning.GLOP_ITERATION_SECONDS * found.iterations
        )
        if not found.optimal:
            return False
        self.values = self.matrix.lower.astype(float)
        self.values[self._live] = found.values
        duals = found.duals[: len(self.matrix.least)]
        extra = found.duals[[row for _, _, row in self._extra]]
        scale = np.array([scale for _, scale, _ in self._extra])
        self._prove(np.concatenate((duals, extra * scale)))
        return True

    def tightened(self, most: int | None, seconds: float, until: float = math.inf) -> bool:
        """Rounds until the bound passes `most` or stands still; False without a first solution.

        They end after so much work, or at `until` by the monotonic clock. GLOP is gone then: what
        goes on with the bound needs the memory.
        """
        try:
            return self._rounds(most, seconds, until)
        finally:
            del self._program, self._extra

    def _rounds(self, most: int | None, seconds: float, until: float) -> bool:
        if not self._solve():
            return False
        still = 0
        for i in range(1, tuning.CUT_ROUNDS):
            if still == tuning.CUT_PATIENCE or (most is not None and self.moves > most):
                break
            if self.spent > seconds or time.monotonic() >= until:
                break
            before = self.bound
            if not self._tighten() or not self._solve():
                break
            still = still + 1 if self.bound - before < tuning.CUT_PROGRESS * UNIT else 0
            if i % tuning.PURGE_ROUNDS == 0:
                self._purge()
        return True

    @property
    def moves(self) -> int:
        """The bound in whole moves."""
        return -(-self.bound // UNIT)

    def kept(self, width: float) -> IntArray:
        """Upper ends of the columns, if those that cost more than a width stay as they are."""
        kept = (self.reduced <= width * UNIT) | (self.values > self.matrix.lower + SLACK)
        return np.where(kept, self.matrix.upper, self.matrix.lower)

    def affordable(self, upper: IntArray, most: int | None) -> IntArray:
        """Upper ends without columns that can't be part of a solution with `most` moves in all."""
        if most is None:
            return upper
        return np.where(self.reduced > most * UNIT - self.bound, self.matrix.lower, upper)

    def within(self, upper: IntArray, most: int | None) -> Matrix:
        """The program with other upper ends, the inequalities that bind and `most` moves in all."""
        rows = list(self.cuts)
        if most is not None:
            paid = np.flatnonzero(self.cost)
            rows.append(Row(paid, self.cost[paid], most))
        return with_rows(replace(self.matrix, upper=upper), rows)

    def _tighten(self) -> bool:
        """One round of rounding; False if there is nothing to add."""
        split = np.abs(self.values - np.rint(self.values)) > SLACK
        bases = [row for row in self.bases if split[row.column].any()]
        found = [cut for row in bases if (cut := rounded(row, self.matrix, self.values))]
        self.spent += tuning.ROUNDING_SECONDS * sum(len(row.column) for row in bases)
        for _, row in sorted(found, key=lambda cut: -cut[0]):
            scale = 1.0 / float(np.abs(row.amount).max())
            self._extra.append((row, scale, self._added(row, scale)))
        return bool(found)

    def _added(self, row: Row, scale: float) -> int:
        """The inequality over the columns that have a choice."""
        place = self._place[row.column]
        live = place >= 0
        given = int((row.amount * self.matrix.lower[row.column])[~live].sum())
        amounts: FloatArray = row.amount[live] * np.float64(scale)
        return self._program.add_row(place[live], amounts, (row.most - given) * scale)

    def _purge(self) -> None:
        """Drops the inequalities that do not bind."""
        kept = []
        for each in self._extra:
            row, scale, added = each
            used = float(row.amount @ self.values[row.column])
            if (row.most - used) * scale > SLACK:
                self._program.delete_row(added)
            else:
                kept.append(each)
        self._extra = kept

    def _prove(self, duals: FloatArray) -> None:
        """Keeps the bound of these multipliers, if it is higher and no sum could overflow."""
        if not (np.abs(duals) < STEEPEST).all():
            return
        whole = with_rows(self.matrix, [row for row, _, _ in self._extra])
        low, high = whole.least, whole.most
        y = np.rint(duals * UNIT).astype(np.int64)
        y[((y > 0) & (low == -FREE)) | ((y < 0) & (high == FREE))] = 0
        end = np.where(y > 0, low, np.where(y < 0, high, 0.0)).astype(np.int64)
        if _magnitude(whole, y, end) > TOO_LARGE:
            return
        reduced = self.cost * UNIT
        np.subtract.at(reduced, whole.column, y[whole.row] * whole.amount)
        least = np.minimum(reduced * whole.lower, reduced * whole.upper)
        bound = int((y * end).sum()) + int(least.sum())
        if bound > self.bound:
            self.bound, self.reduced = bound, reduced
            self.cuts = [row for row, _, _ in self._extra]


def _magnitude(matrix: Matrix, y: IntArray, end: IntArray) -> float:
    """More than any sum of a bound amounts to, so that none of them overflows."""
    weight = np.abs(y).astype(float)
    far = float(np.maximum(np.abs(matrix.lower), np.abs(matrix.upper)).max())
    entries = float(weight[matrix.row] @ np.abs(matrix.amount))
    return float(weight @ np.abs(end)) + (entries + UNIT * len(matrix.lower)) * (far + 1)


def with_rows(matrix: Matrix, rows: list[Row]) -> Matrix:
    """The matrix with more rows."""
    first = len(matrix.least)
    at = [np.full(len(row.column), first + i) for i, row in enumerate(rows)]
    return replace(
        matrix,
        least=np.concatenate((matrix.least, np.full(len(rows), -FREE))),
        most=np.concatenate((matrix.most, np.array([float(row.most) for row in rows]))),
        row=np.concatenate((matrix.row, *at)),
        column=np.concatenate((matrix.column, *(row.column for row in rows))),
        amount=np.concatenate((matrix.amount, *(row.amount for row in rows))),
    )
