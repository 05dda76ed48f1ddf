"""A program decided in two steps: large pods first, small ones between them.

Most of what makes a program over many nodes hard are small pods that could be anywhere, and they
hardly ever decide how good it can get. So arrivals of large pods are whole numbers at first, while
those of small ones may be parted; what is found for the large ones is kept, and the small ones are
decided in whole numbers then. The first step bounds all solutions; the second may fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.program import FREE, FloatArray, Matrix, Optimum, Stop, minimise


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
