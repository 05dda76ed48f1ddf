"""How many pods of a priority fit at the most on nodes that are alike, by prices on pods.

Each pod has a price, and a node holds no set of pods that costs more than the dearest one that fits
there. So all that is placed costs at most that, times the nodes. It holds for any prices that are
not negative. The best ones are the duals of a linear program; they are rounded, and everything
after that is computed in integers.

Whether so many pods fit is asked number by number: the more there are, the less room a node can
waste, and sets that leave more than everything together may leave are none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.solver.packing.question import Stock
from planner.solver.packing.room_prices import least_cost, most_for, offers
from planner.solver.packing.set_program import SetProgram


def refuted(stock: Stock, goals: tuple[int, ...], program: SetProgram, limit: float) -> bool:
    """Whether it is certain that so many pods of the first ranks don't fit; False proves nothing.

    The program has all sets that a node can hold and that waste no more than may be.
    """
    while program.seconds < limit:
        prices = program.prices()
        if prices is None:
            return False
        if program.reached:
            return False
        if program.grow(prices):
            continue
        helps, dearest = program.grow_by_all(prices)
        if _too_dear(stock, goals, prices.tolist(), dearest):
            return True
        if not helps:
            return False
    return False


def _too_dear(stock: Stock, goals: tuple[int, ...], price: Sequence[int], dearest: int) -> bool:
    """Whether fewer pods of the last rank can be paid for."""
    rank = len(goals) - 1
    left = dearest * len(stock.room)
    for above in range(rank):
        left -= least_cost(offers(stock, price, above), goals[above])
    left -= sum(price[g] * int(stock.least[g]) for g in np.flatnonzero(stock.rank > rank).tolist())
    return most_for(offers(stock, price, rank), left) < goals[rank]
