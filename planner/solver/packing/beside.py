"""How many pods of a priority can be placed beside those above it, as well as a size allows.

In small clusters one program over all nodes says so (`whole_bounds`), where nodes are of few kinds
patterns of pods do (`pattern_bounds`), and otherwise prices of room (`room_prices`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from planner.solver import tuning
from planner.solver.packing.pattern_bounds import PatternBounds
from planner.solver.packing.pattern_prices import PatternPrices
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import ceilings_beside
from planner.solver.packing.whole_bounds import whole_bound
from planner.solver.problem.problem import Problem


class Beside:
    """What is found out about one packing; later questions go on from earlier ones."""

    def __init__(self, problem: Problem, stock: Stock) -> None:
        self._problem, self._stock = problem, stock
        self._prices: PatternPrices | None = None

    def most(
        self, above: Mapping[int, int], priority: int, seconds: float, until: float
    ) -> tuple[int, float]:
        """The most waiting pods with a node, given so many of each priority above; and the work."""
        stock = self._stock
        running = dict(zip(stock.priorities, stock.placed(stock.now), strict=True))
        placed = {each: running[each] + pods for each, pods in above.items()}
        if stock.now.size <= tuning.WHOLE_BOUND_CELLS:
            found = whole_bound(stock, placed, priority, seconds, until)
            return found.most - running[priority], found.spent
        if not self._patterns.few_enough:
            most = ceilings_beside(self._problem, above)[priority]
            return most, 0.0
        higher = [each for each in stock.priorities if each > priority]
        reached = [placed.get(each, running[each]) for each in higher]
        most, spent = self._patterns.most(reached, seconds, until)
        self._prices = self._patterns.prices(reached) or self._prices
        return most - running[priority], spent

    def prices_for(self, stock: Stock) -> PatternPrices | None:
        """Those of the last question for which there are any, for some pods of the packing."""
        return None if self._prices is None else self._prices.without(self._stock, stock)

    @cached_property
    def _patterns(self) -> PatternBounds:
        return PatternBounds(self._stock)
