"""Nodes filled anew a few at a time, and proofs in between that no more pods can be placed.

Proofs end the search where nothing is left to find, and their prices say where nodes are filled
badly. With little time all of it is for placing pods.
"""

from __future__ import annotations

from dataclasses import replace

from planner.cluster.topology import IntArray
from planner.interrupts import interruptible
from planner.solver import tuning
from planner.solver.packing.beside import Beside
from planner.solver.packing.question import Stock
from planner.solver.packing.rearrange import Budget, Rearranging
from planner.solver.packing.room_bounds import Packed, bounded, still_known


def rearranged(stock: Stock, packed: Packed, limit: float, seed: int, until: float) -> Packed:
    """The best packing that was found from another one on, and what bounds it."""
    search = _Proving(stock, packed.counts, seed, Budget(limit, until, packed.spent))
    interrupted = False
    try:
        with interruptible():
            search.run()
    except KeyboardInterrupt:
        interrupted = True
    return search.found(packed, interrupted=interrupted)


class _Proving:
    """Windows and proofs by turns."""

    def __init__(self, stock: Stock, counts: IntArray, seed: int, budget: Budget) -> None:
        self._stock = stock
        self._budget = budget
        self._search = Rearranging(stock, counts, seed)
        self._beside = Beside(stock, (0,) * len(stock.priorities))

    def run(self) -> None:
        """To the end of the budget, or until nothing is left to gain."""
        if self._budget.seconds >= tuning.PROVING_LIMIT:
            for after, share in tuning.PROVING_SHARES:
                self._rearrange(after)
                self._prove(self._budget.spent + share * self._budget.seconds)
        self._rearrange(1.0)

    def _rearrange(self, share: float) -> None:
        budget = self._budget
        part = replace(budget, seconds=share * budget.seconds)
        try:
            self._search.run(part, lambda _: None)
        finally:
            budget.spent = part.spent

    def _prove(self, end: float) -> None:
        """What is open of each priority beside what is placed above it, for equal parts of time."""
        stock, budget = self._stock, self._budget
        placed = dict(zip(stock.priorities, stock.placed(self._search.counts), strict=True))
        self._beside.learn(stock.state(self._search.counts))
        open_ranks = self._search.open_ranks().tolist()
        for done, rank in enumerate(open_ranks):
            seconds = (end - budget.spent) / (len(open_ranks) - done)
            above = dict(list(placed.items())[:rank])
            most, spent = self._beside.most(above, stock.priorities[rank], seconds, budget.until)
            budget.spent += spent
            prices = self._beside.prices_for(stock)
            self._search.learn(tuple(above.values()), most, prices)

    def found(self, before: Packed, *, interrupted: bool) -> Packed:
        """With the least bound of each priority that holds beside what is placed above it."""
        counts, stock = self._search.counts, self._stock
        placed = stock.placed(counts)
        known = still_known(before, placed)
        for rank in range(len(placed)):
            most = self._search.most_beside(placed[:rank])
            known[rank] = min(most, known.get(rank, most))
        packed = bounded(stock, counts, known)
        least = tuple(min(each, known.get(rank, each)) for rank, each in enumerate(packed.bounds))
        return replace(packed, bounds=least, spent=self._budget.spent, interrupted=interrupted)
