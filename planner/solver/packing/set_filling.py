"""Nodes that are alike filled by whole sets, led by the linear program over parts of sets.

A set that the program uses nearly once is taken, the program is solved again, and so on, until some
two dozen nodes are left. Those are filled in thousands of ways at once, led by what pods are worth.
If that ends nowhere, more sets are taken until a few nodes are left, and these are filled with the
pods that are left by looking at all ways. If there is none, the sets that were taken last are given
back, and more nodes are looked at.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.enumeration import Effort, led
from planner.solver.packing.identical_nodes import Settled, settled
from planner.solver.packing.question import Stock
from planner.solver.packing.set_program import SetProgram


class SetFilling:
    """One filling with so many pods of the first ranks."""

    def __init__(self, stock: Stock, goals: tuple[int, ...], program: SetProgram) -> None:
        self._stock, self._goals, self._program = stock, goals, program
        self._pods = np.where(stock.rank < len(goals), stock.total, stock.least)
        self._taken: list[int] = []
        self._begin, self._settling = program.seconds, 0.0

    @property
    def seconds(self) -> float:
        """The work so far."""
        return self._program.seconds - self._begin + self._settling

    def run(self, limit: float) -> IntArray | None:
        """The pods of each node by group, if a way was found in a few attempts."""
        self._program.improve(limit)
        for _ in range(tuning.SET_ATTEMPTS):
            self._taken = []
            found = self._led(limit)
            if found is not None:
                return found
            self._take_sets(limit, tuning.LAST_NODES[0])
            taken = tuple(self._taken)
            found = self._finished(limit)
            if found is not None or not taken or self.seconds >= limit:
                return found
            for each in taken:
                self._program.keep(each, 0)
            self._program.never(taken[0])
            self._program.converge(limit - self.seconds)
            if not self._program.reached:
                return None
        return None

    def _take_sets(self, limit: float, last: int) -> None:
        """One after the other, as long as the program says that it can be and more are left."""
        while self._left > last and self.seconds < limit and self._take(last):
            self._program.improve(limit - self.seconds)
            if not self._program.reached:
                return

    @property
    def _left(self) -> int:
        return len(self._stock.room) - len(self._taken)

    def _led(self, limit: float) -> IntArray | None:
        """Many of the last nodes, with sets that give up little of what pods are worth."""
        self._take_sets(limit, tuning.LED_NODES)
        if self._left > tuning.LED_NODES or self.seconds >= limit or not self._program.reached:
            return None
        stock, worth = self._stock, self._program.worth
        pods = self._chosen() - self._held()
        sets = self._program.cheap_sets(pods, tuning.LED_SETS)
        size = np.column_stack([stock.size, worth])
        room = np.append(stock.room[0], np.append(worth, 0)[sets].sum(axis=1).max(initial=0))
        work = int((limit - self.seconds) / tuning.REMAINDER_SECONDS)
        effort = Effort(len(sets), tuning.LED_REMAINDERS, work)
        found = led(size, pods, room, self._left, sets, effort)
        self._settling += found.work * tuning.REMAINDER_SECONDS
        return None if found.counts is None else self._joined(found.counts)

    def _chosen(self) -> IntArray:
        """As many pods as are asked for: of each priority those stay out that the program leaves.

        Where it leaves parts of pods, those of which it leaves most.
        """
        stock, held = self._stock, self._held()
        spare = self._pods - np.maximum(stock.least, held)
        group = np.repeat(np.arange(len(spare)), spare)
        which = np.arange(len(group)) - np.repeat(np.cumsum(spare) - spare, spare)
        part = np.clip((self._pods - self._program.placed())[group] - which, 0, 1)
        order = np.lexsort((-self._program.worth[group], -np.round(part, 6)))
        found = self._pods.copy()
        together = stock.placed(self._pods[:, None])
        for rank, goal in enumerate(self._goals):
            mine = group[order][stock.rank[group[order]] == rank]
            np.subtract.at(found, mine[: together[rank] - goal], 1)
        return found

    def _finished(self, limit: float) -> IntArray | None:
        """The last nodes in all ways; more of them where there is none."""
        for last in tuning.LAST_NODES:
            if self._left > last or self.seconds >= limit:
                continue
            del self._taken[max(0, len(self._stock.room) - last) :]
            found = self._finish(limit - self.seconds)
            if found is not None:
                return found
        return None

    def _take(self, last: int) -> bool:
        """The set that is used most of those whose pods are left, and others used as a whole."""
        left = self._pods - self._held()
        times = {each: self._taken.count(each) for each in set(self._taken)}
        before = len(self._taken)
        most = len(self._stock.room) - last
        used = [(each, value - times.get(each, 0)) for each, value in self._program.used()]
        for each, value in sorted(used, key=lambda pair: (-pair[1], pair[0])):
            pods = self._counts(each)
            if value <= 0 or len(self._taken) == most:
                break
            if (pods > left).any():
                continue
            if len(self._taken) > before and value < tuning.WHOLE_SET:
                break
            self._taken.append(each)
            left = left - pods
            self._program.keep(each, self._taken.count(each))
        return len(self._taken) > before

    def _counts(self, number: int) -> IntArray:
        found = np.zeros(len(self._pods), np.int64)
        for group, count in self._program.sets.counts(number).items():
            found[group] = count
        return found

    def _held(self) -> IntArray:
        return sum(map(self._counts, self._taken), np.zeros(len(self._pods), np.int64))

    def _finish(self, limit: float) -> IntArray | None:
        """The nodes that are left, with the pods that are left."""
        stock, held = self._stock, self._held()
        nodes = self._left
        rest = replace(
            stock,
            room=stock.room[:nodes],
            landing=stock.landing[:, :nodes],
            now=np.zeros((len(held), nodes), np.int64),
            total=self._pods - held,
            least=np.maximum(stock.least - held, 0),
        )
        placed = rest.placed(held[:, None])
        goals = [max(0, goal - there) for goal, there in zip(self._goals, placed, strict=False)]
        found = self._settled(rest, goals, limit)
        return None if found.counts is None else self._joined(found.counts)

    def _joined(self, last: IntArray) -> IntArray:
        """The sets that were taken, and the last nodes."""
        return np.column_stack([*(self._counts(each) for each in self._taken), last])

    def _settled(self, rest: Stock, goals: list[int], limit: float) -> Settled:
        work = int(limit / tuning.REMAINDER_SECONDS)
        found = settled(rest, tuple(goals[:-1]), goals[-1], work)
        self._settling += found.work * tuning.REMAINDER_SECONDS
        return found
