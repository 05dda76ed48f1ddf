"""How many pods of a priority can be placed beside those above it, by one program over all nodes.

What sums and prices say (see `room_bounds`) holds for room that pods can share between nodes. Where
a few large pods are left over, whole pods on whole nodes decide: of small clusters CP-SAT proves
what remains in a second or so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.solver import tuning
from planner.solver.model.engine import improve
from planner.solver.model.linear import Linear
from planner.solver.model.program import FREE, Program, cp_model_of
from planner.solver.packing.question import Stock


@dataclass(frozen=True)
class WholeBound:
    """The most pods of a priority, and the work that it took in about seconds."""

    most: int
    spent: float


def whole_bound(
    stock: Stock, above: Mapping[int, int], priority: int, seconds: float, until: float = math.inf
) -> WholeBound:
    """The most pods with a node, given at least so many of each priority `above`.

    What runs and may not be driven off keeps a node, and may be on any that can hold it.
    """
    group, node = np.nonzero(_may(stock))
    program = Program()
    cells = program.add_columns(np.zeros_like(group), stock.total[group])
    for r in range(stock.size.shape[1]):
        unit = max(1, int(np.gcd.reduce(stock.size[:, r])))
        room = (stock.room[:, r] // unit).astype(float)
        rows = program.add_rows(np.full(len(room), -FREE), room)
        program.enter(rows[node], cells, stock.size[group, r] // unit)
    missing = program.add_columns(np.zeros_like(stock.total), stock.total - stock.least)
    everybody = stock.total.astype(float)
    rows = program.add_rows(everybody, everybody)
    program.enter(rows[group], cells, 1)
    program.enter(rows, missing, 1)
    for higher, placed in above.items():
        mine = stock.rank == stock.priorities.index(higher)
        left = float(stock.total[mine].sum() - placed)
        row = program.add_rows(np.array([-FREE]), np.array([left]))
        program.enter(row[np.zeros_like(missing[mine])], missing[mine], 1)
    mine = stock.rank == stock.priorities.index(priority)
    wanted = missing[mine].tolist()
    cost = Linear(wanted, [1] * len(wanted), 0)
    work = seconds / tuning.WHOLE_BOUND_WORK_SECONDS
    found = improve(cp_model_of(program.matrix()), cost, (), work=work, seed=0, until=until)
    if found.interrupted:
        raise KeyboardInterrupt
    most = int(stock.total[mine].sum()) - max(0, found.bound)
    return WholeBound(most, found.time * tuning.WHOLE_BOUND_WORK_SECONDS)


def _may(stock: Stock) -> BoolArray:
    """Which nodes can hold a pod of each group, or hold one now."""
    found: BoolArray = stock.landing | (stock.now > 0)
    for r in range(stock.size.shape[1]):
        size = stock.size[:, r][:, None]
        found = found & ((size == 0) | (stock.room[:, r] >= size))
    return found & (stock.total > 0)[:, None]
