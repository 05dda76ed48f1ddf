"""All nodes in one program, over the few columns that a good relaxation thinks well of.

The relaxation of the whole program says for each column what it costs beyond the bound. A kernel
has those that cost little: it has a few of the evictions to choose from, groups that nobody evicts
fall out of it, and what it finds is a state of the whole. Columns that cost more than a better
state can are left out of everything, windows around some nodes included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.program import Matrix, minimise
from planner.solver.scale.relaxation import Relaxation
from planner.solver.scale.window import Window
from planner.solver.scale.work import Work

WIDTHS = (0.1, 0.3)
"""What the columns of a kernel may cost, in moves."""
SHARE = 1 / 6
"""Part of the time left that one kernel gets."""


@dataclass(eq=False)
class Kernel:
    """The whole program, its relaxation, and the best state so far."""

    window: Window
    relaxation: Relaxation
    best: Incumbent

    @staticmethod
    def of(fresh: Work, best: Incumbent) -> Kernel | None:
        """With its bound; None if no state places everything without excess."""
        everywhere = np.ones(len(fresh.free), np.bool_)
        window = Window(fresh, best.work, everywhere, frozenset(fresh.tasks), strict=True)
        if not window.possible:
            return None
        relaxation = Relaxation.of(window.program.matrix(), window.departures, window.room)
        feasible = relaxation.tightened(_better(best))
        best.clock.spent += relaxation.spent
        if not feasible:
            return None
        if window.exact:
            best.prove_moves(relaxation.moves)
        best.report()
        return Kernel(window, relaxation, best)

    def search(self) -> None:
        """Wider kernels as long as nothing meets the bound."""
        for width in WIDTHS:
            if self.best.open and not self.best.clock.over:
                self._solve(self.relaxation.kept(width), self.best.clock.left * SHARE)

    def repair(self, inside: BoolArray, seconds: float) -> None:
        """Some nodes anew; on the others no more may leave or land than does."""
        node = self.window.nodes
        now = self.window.values(self.best.work)
        upper = self.relaxation.matrix.upper
        outside = (node >= 0) & ~inside[node]
        self._solve(np.where(outside, np.minimum(upper, now), upper), seconds)

    def search_all(self) -> None:
        """Everything that a better state can have."""
        complete = self._solve(self.relaxation.matrix.upper, self.best.clock.left / 2)
        if complete and self.window.exact:
            self.best.expect_moves(self.best.best.moves)

    def better_than(self, moves: int) -> Matrix:
        """The program of all states with fewer moves."""
        return self._matrix(self.relaxation.matrix.upper, moves - 1)

    def offer(self, values: IntArray) -> None:
        """A state, if it fits after all."""
        state = self.window.apply(values)
        if state is not None:
            self.best.offer(state)

    def _matrix(self, upper: IntArray, most: int | None) -> Matrix:
        upper = self.window.supplied(self.relaxation.affordable(upper, most))
        return self.relaxation.within(upper, most)

    def _solve(self, upper: IntArray, seconds: float) -> bool:
        """Offers what is found; whether the search came to its end."""
        best = self.best
        found = minimise(self._matrix(upper, _better(best)), self.relaxation.cost, seconds)
        best.clock.spent += found.spent
        if found.values is not None:
            self.offer(found.values)
        best.report()
        return found.complete


def _better(best: Incumbent) -> int | None:
    """The most moves that a better state has; None if any state that places more is better."""
    return None if best.best.open else best.best.moves - 1
