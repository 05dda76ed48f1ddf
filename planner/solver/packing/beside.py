"""How many pods of a priority can be placed beside those above it, as well as a size allows.

In small clusters one program over all nodes says so (`whole_bounds`), where nodes are of few kinds
patterns of pods do (`pattern_bounds`), and otherwise prices of room (`room_prices`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from planner.solver import tuning
from planner.solver.packing.pattern_bounds import PatternBounds
from planner.solver.packing.pattern_prices import PatternPrices
from planner.solver.packing.question import Stock, pooled
from planner.solver.packing.room_prices import priced
from planner.solver.packing.whole_bounds import whole_bound
from planner.solver.problem.problem import Cell


class Beside:
    """What is found out about one packing; later questions go on from earlier ones."""

    def __init__(self, stock: Stock, uncounted: Sequence[int]) -> None:
        """`uncounted` are pods by rank that nobody asks about: those that run, usually."""
        self._stock = stock
        self._uncounted = dict(zip(stock.priorities, uncounted, strict=True))
        self._prices: PatternPrices | None = None

    def most(
        self, above: Mapping[int, int], priority: int, seconds: float, until: float
    ) -> tuple[int, float]:
        """The most pods with a node, given so many of each priority above; and the work.

        What is not said of a priority above, and what is not counted, has its node in any case.
        """
        stock = self._stock
        placed = {each: pods + self._uncounted[each] for each, pods in above.items()}
        if stock.now.size <= tuning.WHOLE_BOUND_CELLS:
            found = whole_bound(stock, placed, priority, seconds, until)
            return found.most - self._uncounted[priority], found.spent
        reached = [placed.get(each, self._uncounted[each]) for each in stock.priorities]
        rank = stock.priorities.index(priority)
        if not self._patterns.few_enough:
            most, spent = priced(pooled(stock)[0], reached).most[rank], 0.0
        else:
            most, spent = self._patterns.most(reached[:rank], seconds, until)
            self._prices = self._patterns.prices(reached[:rank]) or self._prices
        return most - self._uncounted[priority], spent

    def learn(self, state: Mapping[Cell, int]) -> None:
        """One that places many pods: bounds that use patterns are found sooner from it on."""
        if self._stock.now.size > tuning.WHOLE_BOUND_CELLS:
            self._patterns.learn(self._stock.counts(state))

    def prices_for(self, stock: Stock) -> PatternPrices | None:
        """Those of the last question for which there are any, for some pods of the packing."""
        return None if self._prices is None else self._prices.without(self._stock, stock)

    @cached_property
    def _patterns(self) -> PatternBounds:
        return PatternBounds(self._stock)
