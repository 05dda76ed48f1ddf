"""Groups on nodes as parallel arrays: those to decide about, and those that stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.problem.problem import Cell

NONE = -1
"""In place of an arrival variable where nothing may land."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one group, as parallel arrays."""

    nodes: IntArray
    y: IntArray
    arrivals: IntArray
    now: IntArray
    upper: IntArray


@dataclass(frozen=True, eq=False)
class Fixed:
    """Pods of one group, as a rule those that stay: how many on which nodes."""

    nodes: IntArray
    counts: IntArray


NO_CELLS = Cells(*(np.empty(0, np.int64) for _ in range(5)))
NO_PODS = Fixed(np.empty(0, np.int64), np.empty(0, np.int64))


def fixed_by_group(counts: Mapping[Cell, int]) -> dict[int, Fixed]:
    """Counts of cells, group by group."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for (group, node), count in counts.items():
        nodes, numbers = found.setdefault(group, ([], []))
        nodes.append(node)
        numbers.append(count)
    return {
        group: Fixed(np.array(nodes, np.int64), np.array(numbers, np.int64))
        for group, (nodes, numbers) in found.items()
    }
