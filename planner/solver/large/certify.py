"""A proof in integers that nothing better exists, or that few moves are not enough.

CP-SAT gets the whole program with the inequalities that made its relaxation tight, and looks for a
state with fewer moves than the best one. The best state itself has to be one of the program: if it
is not, the two mean different things, and nothing is claimed.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.large.incumbent import Incumbent
from planner.solver.large.integer_program import FREE, Matrix
from planner.solver.large.kernel_search import Kernel
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.engine import raise_bound
from planner.solver.model.linear import Linear

FAR = 1 << 40
"""Beyond any sum of a row."""


def certify_moves(kernel: Kernel, best: Incumbent, seconds: float) -> None:
    """Raises the proven number of moves of a state that places everything and has no excess.

    One move after the other: the fewer may be made, the fewer columns a state can have.
    """
    window, relaxation = kernel.window, kernel.relaxation
    if not window.exact or not relaxation.matrix.admits(window.values(best.state)):
        return
    until = best.clock.spent + seconds
    while best.best.moves > best.certain.moves and best.clock.spent < until:
        if not _decide(kernel, best, best.certain.moves, until - best.clock.spent):
            return


def _decide(kernel: Kernel, best: Incumbent, most: int, seconds: float) -> bool:
    """Finds a state with so few moves, or proves that there is none; False if neither."""
    matrix, cost = kernel.with_most(most), kernel.relaxation.cost
    live = matrix.upper > matrix.lower
    paid = np.flatnonzero(cost[live])
    given = int((cost * matrix.lower)[~live].sum())
    goal = Linear(paid.tolist(), [1] * len(paid), given)
    found = raise_bound(_model(matrix.without_fixed()), goal, best.state.problem.options, seconds)
    best.clock.spent += found.time
    if found.interrupted:
        raise KeyboardInterrupt
    if found.values is not None:
        values = matrix.lower.copy()
        values[live] = found.values
        kernel.offer(values)
    elif found.complete:
        best.prove_moves(most + 1)
    return found.complete


def _model(matrix: Matrix) -> cp_model.CpModel:
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
