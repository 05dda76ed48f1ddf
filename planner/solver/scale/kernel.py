"""Nodes decided anew in one program, over the few columns that a good relaxation thinks well of.

The relaxation of a window, over some nodes or over all of them, says for each column what it costs
beyond the bound. A kernel has those that cost little: it has a few of the evictions to choose from,
groups that nobody evicts fall out of it, and what it finds is a state of the whole. Columns that
cost more than a better state can are left out of everything; where the bound leaves nothing better,
nothing is searched at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.program import Matrix, Stop, minimise
from planner.solver.scale.relaxation import Relaxation
from planner.solver.scale.window import Window, taking_part
from planner.solver.scale.work import Work

WIDTHS = ((0.03, 0.3), (0.1, 1.0), (0.3, 3.0))
"""What departures and arrivals of a kernel may cost, in moves."""
NEAR = (0.05, 0.1, 0.3, 1.0)
"""What columns may cost near the best state."""
AROUND = 0.3
"""What columns may cost in a window."""
SHARE = 1 / 4
"""Part of the time of a window that one kernel gets."""
SEEN = 3e-5
"""Seconds for each group of the cluster that a window takes."""
ANY = 1 << 30
"""A target that every state meets: the first one is enough."""
AGREED = 0.01
"""Departures of the relaxation that are so near to those of a state are the same."""


@dataclass(eq=False)
class Kernel:
    """The whole program, its relaxation, and the best state so far."""

    window: Window
    relaxation: Relaxation
    best: Incumbent
    others: int
    """Moves of groups that the window leaves alone."""
    whole: bool
    """Whether every state of the cluster is one of the program."""

    @staticmethod
    def of(fresh: Work, best: Incumbent, inside: BoolArray) -> Kernel | None:
        """With its bound; None if no state of the window places everything without excess."""
        tasks = taking_part(best.work, inside)
        window = Window(fresh, best.work, inside, tasks, strict=True)
        if not window.possible or not window.program.columns:
            return None
        relaxation = Relaxation.of(window.program.matrix(), window.departures, window.room)
        others = sum(best.work.tasks[g].moved for g in best.work.touched - tasks)
        whole = window.exact and bool(inside.all())
        kernel = Kernel(window, relaxation, best, others, whole)
        feasible = relaxation.tightened(kernel._better)
        best.clock.spent += relaxation.spent + SEEN * len(fresh.tasks)
        if not feasible:
            return None
        if whole:
            best.prove_moves(relaxation.moves + others)
        best.report()
        return kernel

    def search(self, seconds: float) -> None:
        """Wider kernels until one has any state that places everything without excess."""
        for leave, enter in WIDTHS:
            if self.best.best.open and not self.best.clock.over:
                self._solve(self._upper(leave, enter), Stop(seconds, ANY))

    def search_near(self, seconds: float) -> None:
        """Departures stay as they are where the relaxation and the best state agree on them."""
        relaxation = self.relaxation
        for width in NEAR:
            if self._promising:
                now = self.window.values(self.best.work)
                agreed = (np.abs(relaxation.values - now) < AGREED) & (relaxation.cost > 0)
                upper = np.maximum(self._upper(width, width), now)
                self._solve(np.where(agreed, now, upper), self._stop(seconds))

    def repair(self, inside: BoolArray, seconds: float) -> None:
        """Some nodes anew; on the others no more may leave or land than does."""
        node = self.window.nodes
        now = self.window.values(self.best.work)
        upper = np.maximum(self._upper(AROUND, AROUND), now)
        outside = (node >= 0) & ~inside[node]
        self._solve(np.where(outside, now, upper), self._stop(seconds))

    def search_all(self, seconds: float) -> None:
        """Everything that a better state can have."""
        if self._promising:
            complete = self._solve(self.relaxation.matrix.upper, self._stop(seconds))
            if complete and self.whole:
                self.best.expect_moves(self.best.best.moves)

    def with_most(self, moves: int) -> Matrix:
        """The program of all states with so many moves at most."""
        return self._matrix(self.relaxation.matrix.upper, moves - self.others)

    def offer(self, values: IntArray) -> None:
        """A state, if it fits after all."""
        state = self.window.apply(values)
        if state is not None:
            self.best.offer(state)

    @property
    def _better(self) -> int | None:
        """The most moves of a better state here; None if any that places everything is better."""
        return None if self.best.best.open else self.best.best.moves - self.others - 1

    @property
    def _promising(self) -> bool:
        """Whether a better state that places everything is still possible."""
        better = self._better
        known = better is not None and self.relaxation.moves <= better
        return known and self.best.open and not self.best.clock.over

    def _stop(self, seconds: float) -> Stop:
        return Stop(seconds, self.best.least.moves - self.others)

    def _upper(self, leave: float, enter: float) -> IntArray:
        """Upper ends, with columns that cost more than these widths left as they are."""
        paid = self.relaxation.cost > 0
        return np.where(paid, self.relaxation.kept(leave), self.relaxation.kept(enter))

    def _matrix(self, upper: IntArray, most: int | None) -> Matrix:
        upper = self.window.supplied(self.relaxation.affordable(upper, most))
        return self.relaxation.within(upper, most)

    def _solve(self, upper: IntArray, stop: Stop) -> bool:
        """Offers what is found; whether the search came to its end."""
        best = self.best
        found = minimise(self._matrix(upper, self._better), self.relaxation.cost, stop)
        best.clock.spent += found.spent
        if found.values is not None:
            self.offer(found.values)
        best.report()
        return found.complete


def repair_part(fresh: Work, best: Incumbent, inside: BoolArray, seconds: float) -> None:
    """Fewer moves with everything placed and no excess, if some nodes can be used better."""
    kernel = Kernel.of(fresh, best, inside)
    if kernel is not None:
        kernel.search(seconds * SHARE)
        kernel.search_near(seconds * SHARE)
        kernel.search_all(seconds)
