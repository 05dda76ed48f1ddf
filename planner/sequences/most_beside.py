"""How many pods of each priority any plan can place beside those above them, as far as is proven.

A bound of the first priority holds for all plans. One of a lower priority holds for plans that
place as many above it: with fewer there, more may fit below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from planner.sequences.drive_offs import Effort
from planner.sequences.value import levels
from planner.solver import route
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Level

if TYPE_CHECKING:
    from planner.solver.packing.beside import Beside

Placed = tuple[int, ...]
"""Pods by priority, the highest first."""


class MostBeside:
    """What was proven so far about one problem."""

    def __init__(self, problem: Problem, effort: Effort) -> None:
        """The problem has to be that of all plans: one that spares more pods proves less."""
        self._problem, self._effort = problem, effort
        self._most: dict[Placed, int] = {}
        """By pods placed of the highest priorities, the most of the next one beside them."""

    @cached_property
    def known(self) -> Beside | None:
        """What the solver knows about it."""
        return route.beside(self._problem)

    def learn(self, counts: Mapping[Cell, int]) -> None:
        """A state that places many pods: it helps to find out how many more there can be."""
        if self.known is not None:
            self.known.learn(counts)

    def prove(self, placed: Placed, bounds: Placed, seconds: float) -> None:
        """More about what is left open above `placed`, with so much time for each priority."""
        ranks = levels(self._problem)
        for i, (pods, bound) in enumerate(zip(placed, bounds, strict=True)):
            if pods == min(bound, self._most.get(placed[:i], bound)):
                continue
            self._effort.check()
            if self.known is None:
                return
            above = dict(zip(ranks[:i], placed[:i], strict=True))
            most, spent = self.known.most(above, ranks[i], seconds, self._effort.until)
            self._effort.spent += spent
            self._most[placed[:i]] = min(most, self._most.get(placed[:i], most))

    def told(self, placed: Placed, objectives: Sequence[Level]) -> tuple[Level, ...]:
        """The levels of a plan that places so many, with all that is proven beside these."""
        return tuple(
            replace(level, bound=min(level.bound, self._most.get(placed[:i], level.bound)))
            if level.kind == "placed"
            else level
            for i, level in enumerate(objectives)
        )
