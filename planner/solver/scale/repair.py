"""All nodes in one program where not everything can be placed without excess, level by level.

States are judged in integers; bounds come from floating-point arithmetic and prove nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.construct import Score
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.program import Optimum
from planner.solver.scale.window import Window, taking_part
from planner.solver.scale.work import Work


def repair_all(fresh: Work, best: Incumbent) -> None:
    """All nodes in one window, for states that leave pods or excess behind as well."""
    if best.best.open and not best.clock.over:
        _Levels(fresh, best, np.ones(len(fresh.free), np.bool_)).run()


def _offer(best: Incumbent, window: Window, found: Optimum) -> None:
    state = None if found.values is None else window.apply(found.values)
    if state is not None:
        best.offer(state)


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
            bound = max(0, wanted + self._minimise(columns, -1))
            if bound:
                self._expect(Score(0, _with(best.least.unplaced, i, bound), 0, 0))
            self._proven &= bound == best.best.unplaced[i]
            window.program.at_least(columns, wanted - best.best.unplaced[i])
        bound = max(0, self._minimise(window.excess, 1))
        if bound:
            self._expect(replace(best.least, excess=bound, moves=0))
        self._proven &= bound == best.best.excess
        window.program.at_most(window.excess, best.best.excess)
        bound = max(0, self._minimise(window.departures, 1))
        self._expect(replace(best.least, moves=bound))

    def _minimise(self, columns: IntArray, sign: int) -> int:
        found = self._window.program.minimise(columns, self._best.clock.left / 2, sign=sign)
        self._best.clock.spent += found.spent
        _offer(self._best, self._window, found)
        return found.bound

    def _expect(self, least: Score) -> None:
        """Bounds of what comes after a raised level take more for granted: they are 0 again."""
        if self._proven:
            self._best.expect(least)


def _with(values: tuple[int, ...], i: int, value: int) -> tuple[int, ...]:
    return (*values[:i], value, *values[i + 1 :])
