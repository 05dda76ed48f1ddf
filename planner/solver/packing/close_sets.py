"""Nodes that are alike filled by sets that waste little, where all sets are too many.

What may be wasted in all is known, and what that is for each node. Sets that waste a few times as
much are a small part of all, and found quickly. Parts of them say where whole ones may be, and lead
to a packing as parts of all sets would. They say nothing of what is impossible.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.nearly_full import NearlyFull
from planner.solver.packing.node_sets import NodeSets
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import room_to_waste


class CloseSets:
    """Packings of one stock; `seconds` is the work so far."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self.seconds = 0.0

    def packing(self, goals: tuple[int, ...], limit: float) -> IntArray | None:
        """Nodes with so many pods of the first ranks, if some work finds any."""
        begin = self.seconds
        sets = self._sets(goals, limit)
        if sets is None or not sets.members.size:
            return None
        # MathOpt takes half a second to import: it is asked only where there is hope.
        from planner.solver.packing.set_filling import SetFilling
        from planner.solver.packing.set_program import SetProgram

        numbers = np.arange(sets.members.shape[1])
        program = SetProgram(self._stock, goals, sets, numbers)
        program.use(sets.least_waste(numbers, self._stock.room[0]))
        program.converge(limit - (self.seconds - begin))
        self.seconds += program.seconds
        left = limit - (self.seconds - begin)
        if not program.reached or left <= 0:
            return None
        filling = SetFilling(self._stock, goals, sets, program)
        found = filling.run(left)
        self.seconds += filling.seconds
        return found

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
        asked = np.append(stock.size, np.zeros((1, len(room)), np.int64), axis=0)
        left = room - asked[members].sum(axis=1)
        fits = np.flatnonzero((left >= 0).all(axis=1))
        columns = np.ascontiguousarray(members[fits].T.astype(np.int32))
        return NodeSets(columns, left[fits], len(stock.size), search.done)
