"""From a valid state and a bound that differ to ones that meet: prices, columns, realisation.

Columns are generated where the prices of the linear master problem make a node worth using; each
round's prices give an exact bound. Whole columns are then chosen and carried out: their evictions
and landings first, everything else as in the greedy step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver.scale.bundles import UNIT, Bundles
from planner.solver.scale.classes import sizes_of
from planner.solver.scale.columns import Column, Master
from planner.solver.scale.construct import opened, score, settle
from planner.solver.scale.holes import Table
from planner.solver.scale.opening import carry_out
from planner.solver.scale.prices import (
    Market,
    Prices,
    fees,
    groups_value,
    market_of,
    reduced,
    several,
    singles,
)
from planner.solver.scale.realise import active, depart, realise
from planner.solver.scale.room import room_of
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work

ROUNDS = 30
PROMOTIONS = 4
CHEAPEST = 60
"""Columns added per class and round."""
SMALLEST = 1 / 12
"""Pods below this share of the largest node they may be on are never big."""
Tell = Callable[[Work, int], None]


def improve(fresh: Work, work: Work, bound: int, limit: float, tell: Tell) -> tuple[Work, int]:
    """A state at least as good, and a bound at least as high."""
    big = big_tasks(fresh)
    promoted: list[Task] = []
    for _ in range(PROMOTIONS if big else 0):
        room = room_of(fresh, {task.group for task in (*big, *promoted)})
        market = market_of(fresh, room, sizes_of(fresh, big, promoted))
        search = _Search(fresh, market, work, bound, tell)
        search.generate()
        stuck = search.complete(limit) if search.open else []
        work, bound = search.best, search.bound
        more = _promotion(fresh, big, promoted, stuck)
        if not search.open or len(more) == len(promoted):
            break
        promoted = more
    if score(work).open or score(work).moves > bound:
        work = min((work, opened(fresh)), key=lambda w: score(w).key)
    return work, bound


def _promotion(fresh: Work, big: list[Task], promoted: list[Task], stuck: list[Task]) -> list[Task]:
    """Groups as big as what was evicted and found no room: their landing counts from now on."""
    known = {task.group for task in big}
    smallest = min((t.size for t in stuck if t.group not in known), default=None)
    if smallest is None:
        return promoted
    return [
        task
        for task in fresh.tasks.values()
        if task.size >= 0.95 * smallest
        and task.group not in known
        and _share(fresh, task) >= SMALLEST
    ]


def big_tasks(fresh: Work) -> list[Task]:
    """Tasks that land pods of the size of those which find no room without further evictions."""
    trial = fresh.copy()
    realise(trial, "pack")
    failed = {task.group for task in trial.tasks.values() if task.hand}
    smallest = min((fresh.tasks[g].size for g in failed), default=0.0)
    wanted = [t for t in active(fresh) if t.group in failed or t.size >= 0.8 * smallest]
    return [task for task in wanted if _share(fresh, task) >= SMALLEST]


def _share(work: Work, task: Task) -> float:
    room = work.problem.allocatable[work.landing(task)]
    if not len(room):
        return 0.0
    most = np.maximum(room.max(axis=0), 1)
    return float((task.request / most).max())


@dataclass(eq=False)
class _Search:
    """The best state and bound so far, and the master problem."""

    fresh: Work
    market: Market
    best: Work
    bound: int
    tell: Tell
    master: Master = field(init=False)

    def __post_init__(self) -> None:
        self.master = Master(self.fresh, self.market)

    @property
    def open(self) -> bool:
        """Whether value and bound still differ."""
        found = score(self.best)
        return found.open or found.moves > self.bound

    def generate(self) -> None:
        """Prices and columns until no column is worth adding."""
        solver = mathopt.IncrementalSolver(self.master.model, mathopt.SolverType.GLOP)
        for _ in range(ROUNDS):
            _, prices = self.master.prices(solver)
            if not self._round(prices) or not self.open:
                return

    def _round(self, prices: Prices) -> bool:
        """One bound and its columns; False if there are none."""
        paid = fees(self.market.room, prices.fee)
        alone = singles(self.market, prices, paid)
        together = several(self.market, prices, paid)
        nodes = np.minimum(alone, together.value)
        total = int(nodes.sum()) + groups_value(self.fresh, self.market, prices)
        if -(-total // UNIT) > self.bound:
            self.bound = -(-total // UNIT)
            self.tell(self.best, self.bound)
        added = sum(self._cheapest(prices, h, paid) for h in range(len(self.market.big)))
        return bool(added + self._bundles(together, alone))

    def _cheapest(self, prices: Prices, h: int, paid: IntArray) -> int:
        states, room = self.market.states[h], self.market.room
        worth = reduced(self.market, prices, h, paid)
        chosen = np.argsort(worth, kind="stable")[:CHEAPEST]
        return sum(
            self.master.add(
                Column(
                    int(room.node[states[i]]),
                    int(states[i]),
                    ((h, 1),),
                    int(self.market.evictions[h][i]),
                )
            )
            for i in chosen[worth[chosen] < 0].tolist()
        )

    def _bundles(self, together: Bundles, alone: IntArray) -> int:
        """Columns of several pods; their evictions are found again without the grid."""
        room, added = self.market.room, 0
        for node, pods in together.pods.items():
            if together.value[node] < alone[node]:
                tasks, times = np.unique(pods, return_counts=True)
                request = np.sum([self.market.big[h].request for h in pods], axis=0)
                state = np.array([together.state[node]])
                evictions = int(room.evictions(state, request)[0])
                lands = tuple(zip(tasks.tolist(), times.tolist(), strict=True))
                added += self.master.add(Column(node, int(state[0]), lands, evictions))
        return added

    def complete(self, limit: float) -> list[Task]:
        """A state from whole columns; the tasks that found no room without further evictions."""
        columns = self.master.choose(limit / 4)
        if columns is None:
            return []
        work = self.fresh.copy()
        for task in active(work):
            task.hand += task.waiting
        carry_out(work, self.market, columns)
        for task in active(work):
            depart(work, task)
        stuck = settle(work, Table.of(work), "pack")
        if score(work).key < score(self.best).key:
            self.best = work
            self.tell(work, self.bound)
        return stuck
