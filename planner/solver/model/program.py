"""An integer program as arrays: ranges of columns and rows, and entries; nothing pod by pod."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from planner.cluster.topology import IntArray

if TYPE_CHECKING:
    from planner.solver.model.cp_sat import cp_model

FREE = float("inf")
FAR = 1 << 40
"""Beyond any sum of a row."""
FloatArray = NDArray[np.float64]


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
    _known: Matrix | None = None

    def add_columns(self, lower: IntArray, upper: IntArray) -> IntArray:
        """So many columns; their numbers."""
        self._known = None
        self._columns.append((lower, upper))
        self.columns += len(upper)
        return np.arange(self.columns - len(upper), self.columns)

    def add_rows(self, lower: FloatArray, upper: FloatArray) -> IntArray:
        """Rows without entries yet; their numbers."""
        self._known = None
        self._rows.append((lower, upper))
        self.rows += len(lower)
        return np.arange(self.rows - len(lower), self.rows)

    def enter(self, rows: IntArray, columns: IntArray, amount: IntArray | int) -> None:
        """Coefficients; those of the same row and column add up."""
        self._known = None
        shape = columns.shape
        self._entries.append(
            (np.broadcast_to(rows, shape), columns, np.broadcast_to(np.asarray(amount), shape))
        )

    def ranges(self) -> tuple[IntArray, IntArray]:
        """Lower and upper ends of all columns."""
        lower, upper = (np.concatenate(part) for part in zip(*self._columns, strict=True))
        return lower, upper

    def matrix(self) -> Matrix:
        """Everything so far; the same one, and in memory once, until something is added."""
        if self._known is None:
            self._known = self._added_up()
        return self._known

    def _added_up(self) -> Matrix:
        """Entries of the same row and column are added up, and kept like this."""
        lower, upper = self.ranges()
        least = np.concatenate([np.empty(0), *(rows[0] for rows in self._rows)])
        most = np.concatenate([np.empty(0), *(rows[1] for rows in self._rows)])
        none = (np.empty(0, np.int64),) * 3
        rows, columns, amounts = zip(none, *self._entries, strict=True)
        cells = np.concatenate(rows) * self.columns
        cells += np.concatenate(columns)
        place, at = np.unique(cells, return_inverse=True)
        del cells
        total = np.zeros(len(place), np.int64)
        np.add.at(total, at.reshape(-1), np.concatenate(amounts))
        place, total = place[total != 0], total[total != 0]
        row, column = place // self.columns, place % self.columns
        self._entries = [(row, column, total)]
        return Matrix(lower, upper, least, most, row, column, total)


def cp_model_of(matrix: Matrix) -> cp_model.CpModel:
    """The columns and rows for CP-SAT, without a goal."""
    from planner.solver.model.cp_sat import cp_model

    cp = cp_model.CpModel()
    for lower, upper in zip(matrix.lower.tolist(), matrix.upper.tolist(), strict=True):
        cp.proto.variables.add().domain.extend((lower, upper))
    first = np.searchsorted(matrix.row, np.arange(len(matrix.least) + 1)).tolist()
    least, most = _ends(matrix.least, -FAR), _ends(matrix.most, FAR)
    for i in range(len(least)):
        row = cp.proto.constraints.add()
        row.linear.vars.extend(matrix.column[first[i] : first[i + 1]].tolist())
        row.linear.coeffs.extend(matrix.amount[first[i] : first[i + 1]].tolist())
        row.linear.domain.extend((int(least[i]), int(most[i])))
    return cp


def _ends(ends: np.ndarray, far: int) -> IntArray:
    return np.where(np.abs(ends) == FREE, far, ends).astype(np.int64)
