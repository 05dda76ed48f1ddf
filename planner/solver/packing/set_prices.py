"""How many pods of a priority fit at the most on nodes that are alike, by prices on pods.

Each pod has a price, and a node holds no set of pods that costs more than the dearest one that fits
there. So all that is placed costs at most that, times the nodes. It holds for any prices that are
not negative. The best ones are the duals of a linear program; they are rounded, and everything
after that is computed in integers.

Where all sets are too many, the program has some of them. Then those are looked for that cost more
than a proof allows: if there is none, they need not be known.

Whether so many pods fit is asked number by number: the more there are, the less room a node can
waste, and sets that leave more than everything together may leave are none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.solver import tuning
from planner.solver.packing.dear_sets import dear_sets
from planner.solver.packing.node_sets import sets_of
from planner.solver.packing.question import Stock
from planner.solver.packing.room_prices import least_cost, offers
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
        helps = program.grow_by_all(prices)
        if program.dearest <= _payable(stock, goals, prices.tolist()):
            return True
        if not helps:
            return False
    return False


def refuted_by_all(stock: Stock, goals: tuple[int, ...], program: SetProgram, limit: float) -> bool:
    """The same where the program has some of these sets.

    Once they don't help any more, all that cost too much for a proof are looked for.
    """
    pods = np.where(stock.rank < len(goals), stock.total, stock.least)
    room = stock.room[0]
    while program.seconds < limit:
        prices = program.converge(limit - program.seconds)
        if prices is None:
            return False
        most = _payable(stock, goals, prices.tolist())
        if program.dearest > most:
            return False
        work = int((limit - program.seconds) / tuning.DEAR_SET_SECONDS)
        found = dear_sets(stock.size, pods, room, prices, most, work)
        program.seconds += found.work * tuning.DEAR_SET_SECONDS
        if found.members is None:
            return False
        if not len(found.members):
            return True
        cost = np.append(prices, 0)[found.members].sum(axis=1)
        dearest = np.argsort(-cost, kind="stable")[: tuning.SETS_AT_ONCE]
        program.learn(sets_of(found.members[dearest], stock.size, room, found.work))
    return False


def _payable(stock: Stock, goals: tuple[int, ...], price: Sequence[int]) -> int:
    """What a node is worth at the most for so many pods to be out of reach of all of them."""
    rank = len(goals) - 1
    needed = sum(least_cost(offers(stock, price, each), goals[each]) for each in range(rank + 1))
    kept = np.flatnonzero(stock.rank > rank).tolist()
    needed += sum(price[g] * int(stock.least[g]) for g in kept)
    return (needed - 1) // len(stock.room)
