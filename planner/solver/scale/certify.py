"""A proof in integers that nothing better exists, or that few moves are not enough.

CP-SAT gets the whole program with the inequalities that made its relaxation tight, and looks for a
state with fewer moves than the best one. The best state itself has to be one of the program: if it
is not, the two mean different things, and nothing is claimed.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.cp_sat import cp_model
from planner.solver.engine import raise_bound
from planner.solver.linear import Linear
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.kernel import Kernel
from planner.solver.scale.program import FREE, Matrix

FAR = 1 << 40
"""Beyond any sum of a row."""


def certify_moves(kernel: Kernel, best: Incumbent) -> None:
    """Raises the proven number of moves of a state that places everything and has no excess."""
    window, relaxation = kernel.window, kernel.relaxation
    if not window.exact or not relaxation.matrix.admits(window.values(best.work)):
        return
    matrix = kernel.better_than(best.best.moves)
    live = matrix.upper > matrix.lower
    given = Linear(constant=int((relaxation.cost * matrix.lower)[~live].sum()))
    paid = np.flatnonzero(relaxation.cost[live])
    cost = given.plus(Linear(paid.tolist(), [1] * len(paid)))
    model, options = _model(matrix.without_fixed()), best.work.problem.options
    found = raise_bound(model, cost, options, best.clock.left)
    best.clock.spent += found.time
    if found.values is not None:
        values = matrix.lower.copy()
        values[live] = found.values
        kernel.offer(values)
    best.prove_moves(best.best.moves if found.complete else found.bound)


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
