"""All sets of nodes by rising cost in which everybody has a place by patterns, one after the other.

Whether kube-scheduler fills a set is for the caller to try. When all sets up to a cost were given,
those that it does not fill are no answers, and the bound is above that cost: this is what makes a
proof of a bound that knows nothing about kube-scheduler.
"""

from __future__ import annotations

from planner.solver.scale_up.every_choice import EveryChoice
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.question import Counts
from planner.solver.scale_up.whole_bound import LEAST_WORK, WORK_SECONDS, model_of
from planner.solver.scale_up.whole_patterns import WholePatterns

NARROW = 400
"""Sets are given whose cost is above the bound by up to one part in so many, then further ones."""
CALL_SECONDS, PATTERN_SECONDS = 5e-3, 2e-5
"""What a call takes beside its work, and for each pattern."""


class SetsInTurn:
    """The sets of one question, from its bound on; what is given counts as tried."""

    def __init__(self, every: EveryChoice) -> None:
        self.every = every
        self._patterns: Patterns | None = None
        self._model: WholePatterns | None = None
        self._upper = 0
        self._before: int | None = None

    @property
    def bound_on_paper(self) -> int:
        """No set costs less on which all can land one after the other, whoever decides where.

        Unlike the bound of answers, it knows nothing of sets that were given and tried.
        """
        return self.every.bound if self._before is None else self._before

    def next(self, seconds: float, most_cost: int | None) -> Counts | None:
        """A set that costs less; None if there is none by the bound, or no more can be said."""
        every = self.every
        until = every.spent + seconds
        while every.spent < until and (most_cost is None or every.bound < most_cost):
            if self._patterns is None or self._model is None:
                self._begin(until - every.spent, most_cost)
            if self._patterns is None or self._model is None:
                return None
            if most_cost is not None and self._upper >= most_cost:
                self._upper = most_cost - 1
                self._model.within(None, self._upper)
            left = until - every.spent
            found = self._model.any(max(LEAST_WORK, left / WORK_SECONDS))
            self._patterns.spent += WORK_SECONDS * found.work
            self._patterns.spent += CALL_SECONDS + PATTERN_SECONDS * self._model.patterns
            if found.nodes is not None:
                self._before = self.bound_on_paper
                self._model.cut_off(found.nodes)
                return tuple(found.nodes[: self._patterns.places.offers])
            if not found.complete:
                return None
            self._patterns.raise_bound(self._upper + 1)
            self._patterns = None
        return None

    def _begin(self, seconds: float, most_cost: int | None) -> None:
        """The sets of the choice of the least bound, up to some cost above it."""
        self._patterns = patterns = self.every.patterns[0]
        self._upper = patterns.bound + max(1, patterns.bound // NARROW)
        if most_cost is not None:
            self._upper = min(self._upper, most_cost - 1)
        self._model = model_of(patterns, self._upper, seconds, one_for_all=False)
        if self._model is not None:
            self._model.within(patterns.bound, self._upper)
