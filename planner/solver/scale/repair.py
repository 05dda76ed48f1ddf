"""All nodes in one program where not everything can be placed without excess, level by level.

States are judged in integers; bounds come from floating-point arithmetic and prove nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.by_size import minimise_by_size
from planner.solver.scale.construct import Score
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.program import Stop, minimise
from planner.solver.scale.window import Window, taking_part
from planner.solver.scale.work import Work

LARGE = 0.5
"""The part of arrivals that is large."""


def repair_all(fresh: Work, best: Incumbent) -> None:
    """All nodes in one window, for states that leave pods or excess behind as well."""
    if best.best.open and not best.clock.over:
        _Levels(fresh, best, np.ones(len(fresh.free), np.bool_)).run()


class _Levels:
    """The levels of a window in which not everything can be placed; each is kept for the next."""

    def __init__(self, fresh: Work, best: Incumbent, inside: BoolArray) -> None:
        self._best = best
        tasks = taking_part(best.work, inside)
        self._window = Window(fresh, best.work, inside, tasks, strict=False)
        self._proven = self._window.exact
        waiting = [task for task in best.work.tasks.values() if task.waiting]
        self._priorities = sorted({task.priority for task in waiting}, reverse=True)
        self._wanted = [
            sum(task.waiting for task in waiting if task.priority == priority)
            for priority in self._priorities
        ]

    def run(self) -> None:
        """Unplaced pods by priority, excess, moves."""
        window, best = self._window, self._best
        for i, priority in enumerate(self._priorities):
            columns, wanted = window.placed(priority), self._wanted[i]
            bound = max(0, wanted + self._bound(columns, -1))
            if bound:
                self._expect(Score(0, _with(best.least.unplaced, i, bound), 0, 0))
            self._proven &= bound == best.best.unplaced[i]
            window.program.at_least(columns, wanted - best.best.unplaced[i])
        bound = max(0, self._bound(window.excess, 1))
        if bound:
            self._expect(replace(best.least, excess=bound, moves=0))
        self._proven &= bound == best.best.excess
        window.program.at_most(window.excess, best.best.excess)
        bound = max(0, self._minimise(self._cost(window.departures), 1))
        self._expect(replace(best.least, moves=bound))

    def _bound(self, columns: IntArray, sign: int) -> int:
        """Of one level; states that are as good there differ by their moves."""
        upper, moves = self._window.program.matrix().upper, self._cost(self._window.departures)
        weight = 1 + int(moves @ upper)
        return self._minimise(weight * sign * self._cost(columns) + moves, weight)

    def _cost(self, columns: IntArray) -> IntArray:
        return np.bincount(columns, minlength=self._window.program.columns)

    def _minimise(self, cost: IntArray, unit: int) -> int:
        """Large pods first; everything at once if these leave small ones no room."""
        clock, matrix = self._best.clock, self._window.program.matrix()
        found = minimise_by_size(matrix, cost, self._window.sizes, LARGE, Stop(clock.left / 2))
        clock.spent += found.spent
        bound, values = found.rough.bound // unit, found.values
        if values is None or int(cost @ values) // unit > bound:
            whole = minimise(matrix, cost, Stop(clock.left / 2), np.ones(len(cost), np.bool_))
            clock.spent += whole.spent
            bound, values = max(bound, whole.bound // unit), whole.values
        if values is not None:
            self._offer(values)
        return bound

    def _offer(self, values: IntArray) -> None:
        state = self._window.apply(values)
        if state is not None:
            self._best.offer(state)

    def _expect(self, least: Score) -> None:
        """Bounds of what comes after a raised level take more for granted: they are 0 again."""
        if self._proven:
            self._best.expect(least)


def _with(values: tuple[int, ...], i: int, value: int) -> tuple[int, ...]:
    return (*values[:i], value, *values[i + 1 :])
