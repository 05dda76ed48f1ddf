"""Which of many pairs of numbers have a partner within a small window, by a table of cells.

Numbers share 64 bits, the first one in the high ones. Partners are marked in cells that are a few
times as wide as the window, so that mostly one cell says whether there may be any. Cells share a
table that is small enough to be fast, so some are said to have a partner without having one.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning

_ODD = (0x9E3779B97F4A7C15 - 2**64, 0xC2B2AE3D27D4EB4F - 2**64, 0x165667B19E3779F9)
"""Multiplied by these, numbers that are alike come to places far apart."""


class Cells:
    """The table for windows of so much of both numbers, the second one in `low_bits`."""

    def __init__(self, spare: tuple[int, int], low_bits: int) -> None:
        pairs = zip(spare, tuning.CELL_WIDTHS, strict=True)
        wide = [(width * each).bit_length() for each, width in pairs]
        self._shift = min(wide[1], low_bits)
        low = (1 << (low_bits - self._shift)) - 1
        self._mask = (-1 << (low_bits - self._shift + wide[0])) | low
        self._windows = [
            (spare[1], 0, self._shift),
            (spare[0] << low_bits, low_bits, wide[0]),
        ]
        self._table = np.zeros(1 << tuning.CELL_BITS, np.bool_)
        self._times = 0

    def _places(self, numbers: IntArray) -> IntArray:
        found = numbers >> self._shift
        found &= self._mask
        found *= _ODD[self._times % len(_ODD)]
        found >>= 64 - tuning.CELL_BITS
        found &= (1 << tuning.CELL_BITS) - 1
        return found

    def mark(self, numbers: IntArray) -> None:
        """Forget what was marked before, and mark these and all up to a window further on.

        Places change from time to time, so that cells that share one do not share the next.
        """
        self._table[:] = False
        self._times += 1
        marked = [numbers]
        for step, begin, wide in self._windows:
            last = ((1 << wide) << begin) - step
            for each in tuple(marked) if step else ():
                inside = each & (((1 << wide) - 1) << begin)
                marked.append(each[inside >= last] + step)
        for each in marked:
            self._table[self._places(each)] = True

    def near(self, numbers: IntArray) -> IntArray:
        """Those of which the cell is marked."""
        return np.flatnonzero(self._table[self._places(numbers)])
