"""Nodes that are alike and hold few pods: whether more of a priority fit, by sets of pods.

All sets that fill a node are looked at in one linear program. It says that so many pods don't fit,
or leads to a packing in which they do, or neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.identical_nodes import Settled
from planner.solver.packing.node_sets import NodeSets, node_sets
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import room_to_waste


@dataclass(frozen=True, eq=False)
class Best:
    """A packing with more pods, if one was found, and how many can be at the most."""

    counts: IntArray | None
    most: int


class BySets:
    """Answers for one stock; the sets of a rank are looked for once, and kept for the next goal."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self._sets: dict[int, NodeSets | None] = {}
        self._used: dict[int, tuple[int, ...]] = {}
        self.seconds = 0.0

    @property
    def abound(self) -> bool:
        """Whether there are too many sets of some rank to look at them."""
        return None in self._sets.values()

    def best(self, above: tuple[int, ...], placed: int, most: int, limit: float) -> Best:
        """The most pods of a priority from `most` downwards; more than are `placed`."""
        goal = most
        while goal > placed and self.seconds < limit:
            found = self.decide(above, goal, limit - self.seconds)
            most = goal - 1 if found.refuted else most
            if found.counts is not None:
                return Best(found.counts, most)
            if not found.refuted and self._sets[len(above)] is None:
                break
            goal -= 1
        return Best(None, most)

    def decide(self, above: tuple[int, ...], goal: int, limit: float) -> Settled:
        """Whether `goal` pods of a priority fit beside so many of those above it."""
        begin, goals = self.seconds, (*above, goal)
        waste = room_to_waste(self._stock, goals)
        if (waste < 0).any():
            return Settled(None, refuted=True, work=0)
        every = self._of_rank(len(above), limit)
        if every is None:
            return Settled(None, refuted=False, work=0)
        # MathOpt takes half a second to import: it is asked only where there is hope.
        from planner.solver.packing.set_filling import SetFilling
        from planner.solver.packing.set_prices import refuted
        from planner.solver.packing.set_program import SetProgram

        numbers = every.within(waste)
        if not len(numbers):
            return Settled(None, refuted=True, work=0)
        program = SetProgram(self._stock, goals, every, numbers)
        program.use(self._used.get(len(above)) or every.least_waste(numbers, self._stock.room[0]))
        left = limit - (self.seconds - begin)
        no_way = refuted(self._stock, goals, program, left)
        self._used[len(above)] = tuple(program.columns)
        self.seconds += program.seconds
        left -= program.seconds
        if no_way or not program.reached or left <= 0:
            return Settled(None, refuted=no_way, work=0)
        filling = SetFilling(self._stock, goals, program)
        counts = filling.run(left)
        self.seconds += filling.seconds
        return Settled(counts, refuted=False, work=0)

    def _of_rank(self, rank: int, limit: float) -> NodeSets | None:
        if rank not in self._sets:
            most = int(limit * tuning.NODE_SETS_SHARE / tuning.NODE_SET_SECONDS)
            self._sets[rank] = self._looked_for(rank, min(most, tuning.MOST_NODE_SETS))
        return self._sets[rank]

    def _looked_for(self, rank: int, most: int) -> NodeSets | None:
        """All sets; None if they are too many, which is guessed before it is tried."""
        stock = self._stock
        pods = np.where(stock.rank <= rank, stock.total, stock.least)
        many, groups = int(pods.sum()), int((pods > 0).sum())
        each = many // max(1, len(stock.room))
        if comb(groups + each, each) > most * tuning.SETS_HOPE:
            return None
        found = node_sets(stock.size, pods, stock.room[0], most)
        self.seconds += (most if found is None else found.work) * tuning.NODE_SET_SECONDS
        return found
