"""A proof in integers that nothing better exists, or that few moves are not enough.

CP-SAT gets the whole program with the inequalities that made its relaxation tight, and looks for a
state with fewer moves than the best one. The best state itself has to be one of the program: if it
is not, the two mean different things, and nothing is claimed.
"""

from __future__ import annotations

import numpy as np

from planner.solver.large.incumbent import Incumbent
from planner.solver.large.kernel_search import Kernel
from planner.solver.model.engine import raise_bound
from planner.solver.model.linear import Linear
from planner.solver.model.memory import give_back
from planner.solver.model.program import cp_model_of


def certify_moves(kernel: Kernel, best: Incumbent, seconds: float) -> None:
    """Raises the proven number of moves of a state that places everything and has no excess.

    One move after the other: the fewer may be made, the fewer columns a state can have.
    """
    window = kernel.window
    if not window.exact or not window.program.matrix().admits(window.values(best.state)):
        return
    until = best.clock.spent + seconds
    while kernel.most >= best.certain.moves < best.best.moves and best.clock.spent < until:
        if best.clock.late:
            return
        if not _decide(kernel, best, best.certain.moves, until - best.clock.spent):
            return


def _decide(kernel: Kernel, best: Incumbent, most: int, seconds: float) -> bool:
    """Finds a state with so few moves, or proves that there is none; False if neither."""
    matrix, cost = kernel.with_most(most), kernel.relaxation.cost
    lower, live = matrix.lower, matrix.upper > matrix.lower
    paid = np.flatnonzero(cost[live])
    given = int((cost * lower)[~live].sum())
    goal = Linear(paid.tolist(), [1] * len(paid), given)
    cp = cp_model_of(matrix.without_fixed())
    del matrix
    give_back()
    found = raise_bound(cp, goal, best.state.problem.options, seconds)
    best.clock.spent += found.time
    if found.interrupted:
        raise KeyboardInterrupt
    if found.values is not None:
        values = lower.copy()
        values[live] = found.values
        kernel.offer(values)
    elif found.complete:
        best.prove_moves(most + 1)
    return found.complete
