"""Nodes that are alike filled by sets that waste little, where all sets are too many.

What may be wasted in all is known, and what that is for each node. Sets that waste a few times as
much are a small part of all, and found quickly. Parts of them say where whole ones may be, and lead
to a packing as parts of all sets would. Where even parts are not enough, their prices say which
other sets could help; if there are none, so many pods don't fit.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from planner.solver import tuning
from planner.solver.packing.identical_nodes import Settled
from planner.solver.packing.nearly_full import NearlyFull
from planner.solver.packing.node_sets import NodeSets, sets_of
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import room_to_waste


class CloseSets:
    """Packings of one stock; `seconds` is the work so far."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self.seconds = 0.0

    def decide(self, goals: tuple[int, ...], limit: float) -> Settled:
        """Nodes with so many pods of the first ranks, or that there are none, or neither."""
        begin = self.seconds
        sets = self._sets(goals, limit)
        if sets is None or not sets.members.size:
            return Settled(None, refuted=False, work=0)
        # MathOpt takes half a second to import: it is asked only where there is hope.
        from planner.solver.packing.set_filling import SetFilling
        from planner.solver.packing.set_prices import refuted_by_all
        from planner.solver.packing.set_program import SetProgram

        numbers = np.arange(sets.members.shape[1])
        program = SetProgram(self._stock, goals, sets, numbers)
        program.use(sets.least_waste(numbers, self._stock.room[0]))
        no_way = refuted_by_all(self._stock, goals, program, limit - (self.seconds - begin))
        self.seconds += program.seconds
        left = limit - (self.seconds - begin)
        if no_way or not program.reached or left <= 0:
            return Settled(None, refuted=no_way, work=0)
        filling = SetFilling(self._stock, goals, program)
        found = filling.run(left)
        self.seconds += filling.seconds
        return Settled(found, refuted=False, work=0)

    def _sets(self, goals: tuple[int, ...], limit: float) -> NodeSets | None:
        """The sets with up to one pod more than most nodes; None if there are too many."""
        stock = self._stock
        waste, room = room_to_waste(stock, goals), stock.room[0]
        if (waste < 0).any():
            return None
        kept = stock.placed(stock.least[:, None])
        pods = sum(max(pair) for pair in zip_longest(goals, kept, fillvalue=0))
        most = pods // len(stock.room) + 2
        there = np.where(stock.rank < len(goals), stock.total, stock.least)
        groups = np.flatnonzero(there > 0)
        tight = np.argsort(waste / np.maximum(room, 1), kind="stable")[:2]
        size = stock.size[np.ix_(groups, tight)]
        work = int(limit / tuning.HALF_SECONDS)
        search = NearlyFull(size, there[groups], room[tight], most, work)
        for share in tuning.CLOSE_SHARES:
            window = np.minimum(waste * share / len(stock.room), room - 1).astype(np.int64)[tight]
            if (window >= 0).all() and search.guess(window, most) <= tuning.CLOSE_SETS:
                break
        else:
            return None
        found = search.sets(window, most, tuning.CLOSE_SETS)
        self.seconds += search.done * tuning.HALF_SECONDS
        if found is None:
            return None
        self.seconds += len(found.members) * tuning.CLOSE_SET_SECONDS
        members = np.append(groups, len(stock.size))[found.members]
        return sets_of(members, stock.size, room, search.done)
