"""Kernel search: nodes decided anew in a program over the few columns that look promising.

The relaxation of a window, over some nodes or over all of them, says for each column what it costs
beyond the bound. A kernel has those that cost little: it has a few of the evictions to choose from,
groups that nobody evicts fall out of it, and what it finds is a state of the whole. Columns that
cost more than a better state can are left out of everything; where the bound leaves nothing better,
nothing is searched at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.incumbent import Incumbent
from planner.solver.large.integer_program import Stop, minimise, minimise_by_size
from planner.solver.large.price_rows import price_rows
from planner.solver.large.prices import Priced
from planner.solver.large.relaxation import Relaxation, with_rows
from planner.solver.large.state import State
from planner.solver.large.window import Window, taking_part
from planner.solver.model.program import FREE, Matrix
from planner.solver.problem.problem import Cell

ANY = 1 << 30
"""A target that every state meets: the first one is enough."""


@dataclass(eq=False)
class Kernel:
    """The whole program, its relaxation, and the best state so far."""

    window: Window
    relaxation: Relaxation
    best: Incumbent
    others: int
    """Moves of groups that the window leaves alone."""
    whole: bool
    """Whether every state of the cluster is one of the program, if it has `most` moves or fewer."""
    most: int

    @staticmethod
    def of(
        fresh: State,
        best: Incumbent,
        inside: BoolArray,
        prices: Priced | None = None,
        most: int = ANY,
        shut: frozenset[Cell] = frozenset(),
    ) -> Kernel | None:
        """With its bound; None without one, as where nothing places everything without excess.

        States with `most` moves have no departures from cells that are `shut`.
        """
        tasks = taking_part(best.state, inside)
        window = Window(fresh, best.state, inside, tasks)
        if not window.possible or not window.program.columns:
            return None
        matrix, bases = window.program.matrix(), window.room
        if prices is not None:
            first = len(matrix.least)
            matrix = with_rows(matrix, price_rows(fresh, prices, window, inside))
            bases = np.append(bases, np.arange(first, len(matrix.least)))
        matrix = replace(matrix, upper=window.without(shut))
        relaxation = Relaxation.of(matrix, window.departures, bases)
        others = sum(best.state.tasks[g].moved for g in best.state.touched - tasks)
        whole = window.exact and bool(inside.all())
        kernel = Kernel(window, relaxation, best, others, whole, most)
        seconds = best.clock.left * tuning.RELAXATION_SHARE
        feasible = relaxation.tightened(kernel._better, seconds, best.clock.until)
        best.clock.spent += relaxation.spent + tuning.WINDOW_GROUP_SECONDS * len(fresh.tasks)
        if not feasible:
            return None
        if whole:
            best.prove_moves(min(relaxation.moves + others, most + 1))
        best.report()
        return kernel

    def search(self, seconds: float) -> None:
        """Wider kernels until one has any state that places everything without excess."""
        for leave, enter in tuning.KERNEL_WIDTHS:
            if self.best.best.open and not self.best.clock.over:
                self._solve(self._upper(leave, enter), self._stop(seconds, ANY))

    def search_by_size(self, seconds: float) -> None:
        """As many moves as the bound says, then more; then the same over more columns."""
        for leave, enter in tuning.BY_SIZE_WIDTHS:
            low = max(self.best.least.moves, self.relaxation.moves + self.others)
            while self._promising and low <= self._highest:
                aim = (low + self._highest) // 2
                stop = self._stop(seconds, aim - self.others)
                matrix = self._matrix(self._upper(leave, enter), stop.target)
                none = self._by_size(matrix, stop)
                if none and self.whole and leave == FREE:
                    self.best.expect_moves(aim + 1)
                if self.best.best.moves > aim:
                    low = aim + 1

    def search_at_most(self, seconds: float) -> None:
        """Any state with `most` moves, over all columns; small pods in parts at first."""
        most = self.most - self.others
        if self.relaxation.moves <= most and self.best.open and not self.best.clock.over:
            matrix = self._matrix(self.relaxation.matrix.upper, most)
            stop, share = self._stop(seconds, most), tuning.LARGE_SHARES[0]
            found = minimise_by_size(matrix, self.relaxation.cost, self.window.sizes, share, stop)
            self.best.clock.spent += found.spent
            self._accept(found.values)

    def search_all(self, seconds: float) -> None:
        """Everything that a better state can have."""
        if self._promising:
            complete = self._solve(self.relaxation.matrix.upper, self._stop(seconds, self._least))
            if complete and self.whole:
                self.best.expect_moves(self._highest + 1)

    def _stop(self, seconds: float, target: int) -> Stop:
        return Stop(seconds, target, self.best.clock.until)

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
        return None if self._highest == ANY else self._highest - self.others

    @property
    def _highest(self) -> int:
        """The most moves of a better state that may be one of the program."""
        return self.most if self.best.best.open else min(self.best.best.moves - 1, self.most)

    @property
    def _least(self) -> int:
        """No state has fewer moves here, if it is one of all states."""
        return self.best.least.moves - self.others

    @property
    def _promising(self) -> bool:
        """Whether a better state that places everything is still possible."""
        better = self._better
        known = better is not None and self.relaxation.moves <= better
        return known and self.best.open and not self.best.clock.over

    def _by_size(self, matrix: Matrix, stop: Stop) -> bool:
        """Offers what is found; whether nothing is possible, even with small pods in parts."""
        before, cost = self.best.best, self.relaxation.cost
        for share in tuning.LARGE_SHARES:
            found = minimise_by_size(matrix, cost, self.window.sizes, share, stop)
            self.best.clock.spent += found.spent
            if found.impossible:
                return True
            self._accept(found.values)
            if self.best.best != before or self.best.clock.over:
                break
        return False

    def _upper(self, leave: float, enter: float) -> IntArray:
        """Upper ends, with columns that cost more than these widths left as they are."""
        paid = self.relaxation.cost > 0
        return np.where(paid, self.relaxation.kept(leave), self.relaxation.kept(enter))

    def _matrix(self, upper: IntArray, most: int | None) -> Matrix:
        upper = self.window.supplied(self.relaxation.affordable(upper, most))
        return self.relaxation.within(upper, most)

    def _solve(self, upper: IntArray, stop: Stop) -> bool:
        """Offers what is found; whether the search came to its end."""
        matrix = self._matrix(upper, self._better)
        found = minimise(matrix, self.relaxation.cost, stop, np.ones(len(upper), np.bool_))
        self.best.clock.spent += found.spent
        self._accept(found.values)
        return found.complete

    def _accept(self, values: IntArray | None) -> None:
        if values is not None:
            self.offer(values)
        self.best.report()


def repair_part(fresh: State, best: Incumbent, inside: BoolArray, seconds: float) -> None:
    """Fewer moves with everything placed and no excess, if some nodes can be used better."""
    kernel = Kernel.of(fresh, best, inside)
    if kernel is not None:
        kernel.search(seconds * tuning.KERNEL_SHARE)
        kernel.search_by_size(seconds * tuning.KERNEL_SHARE)
        kernel.search_all(seconds)
