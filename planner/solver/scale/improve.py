"""From a valid state and a bound that differ to ones that meet: prices, columns, realisation.

Columns are generated where the prices of the linear master problem make a node worth using; each
round's prices give an exact bound. Whole columns are then chosen and carried out: their evictions
and landings first, everything else as in the greedy step.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver.scale.bundles import UNIT, Bundles
from planner.solver.scale.classes import sizes_of
from planner.solver.scale.columns import Column, Master
from planner.solver.scale.construct import opened, settle
from planner.solver.scale.holes import Table
from planner.solver.scale.incumbent import Incumbent
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
ROUND = 2.5e-7
"""Seconds that a round spends on a state and class."""
SETTLED = 1e-3
"""Seconds for each group that a state made from columns takes."""
ROUNDED = UNIT // 1000
"""What prices may be off by, being rounded."""
CHEAPEST = 60
"""Columns added per class and round."""
SMALLEST = 1 / 12
"""Pods below this share of the largest node they may be on are never big."""


def improve(fresh: Work, best: Incumbent) -> None:
    """Better states and higher bounds, until they meet or the time is over."""
    big = big_tasks(fresh)
    promoted: list[Task] = []
    for _ in range(PROMOTIONS if big else 0):
        room = room_of(fresh, {task.group for task in (*big, *promoted)})
        market = market_of(fresh, room, sizes_of(fresh, big, promoted))
        search = _Search(fresh, market, best)
        search.generate()
        stuck = search.complete() if best.open else []
        more = _promotion(fresh, big, promoted, stuck)
        if not best.open or len(more) == len(promoted) or best.clock.over:
            break
        promoted = more
    if best.open and not best.clock.over:
        best.offer(opened(fresh))


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
    best: Incumbent
    master: Master = field(init=False)

    def __post_init__(self) -> None:
        self.master = Master(self.fresh, self.market)

    def generate(self) -> None:
        """Prices and columns until no column is worth adding."""
        solver = mathopt.IncrementalSolver(self.master.model, mathopt.SolverType.GLOP)
        for _ in range(ROUNDS):
            _, prices = self.master.prices(solver)
            self._charge(self._cost())
            self.best.report()
            if not self._round(prices) or not self.best.open or self.best.clock.over:
                return

    def _charge(self, seconds: float) -> None:
        self.best.clock.spent += seconds + self.master.spent
        self.master.spent = 0.0

    def _cost(self) -> float:
        """Seconds of a round: all states are looked at for each class."""
        return ROUND * len(self.market.room.node) * (1 + len(self.market.big))

    def _round(self, prices: Prices) -> bool:
        """One bound and its columns; False if there are none."""
        paid = fees(self.market.room, prices.fee)
        alone = singles(self.market, prices, paid)
        together = several(self.market, prices, paid)
        nodes = np.minimum(alone, together.value)
        total = int(nodes.sum()) + groups_value(self.fresh, self.market, prices)
        self.best.prove_moves(-(-total // UNIT))
        added = sum(self._cheapest(prices, h, paid) for h in range(len(self.market.big)))
        return bool(added + self._bundles(together, alone))

    def _cheapest(self, prices: Prices, h: int, paid: IntArray) -> int:
        states, room = self.market.states[h], self.market.room
        worth = reduced(self.market, prices, h, paid) - self.master.rent[room.node[states]]
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
            for i in chosen[worth[chosen] < -ROUNDED].tolist()
        )

    def _bundles(self, together: Bundles, alone: IntArray) -> int:
        """Columns of several pods; their evictions are found again without the grid."""
        least = np.minimum(alone, self.master.rent - ROUNDED)
        nodes = [n for n in together.pods if together.value[n] < least[n]]
        if not nodes:
            return 0
        requests = np.stack([size.request for size in self.market.big])
        asked = np.stack([requests[list(together.pods[n])].sum(axis=0) for n in nodes])
        states = together.state[nodes]
        evictions = self.market.room.evictions(states, asked)
        return sum(
            self.master.add(Column(node, state, _counted(together.pods[node]), needed))
            for node, state, needed in zip(nodes, states.tolist(), evictions.tolist(), strict=True)
        )

    def complete(self) -> list[Task]:
        """A state from whole columns; the tasks that found no room without further evictions."""
        columns = self.master.choose(self.best.clock.left / 4)
        self._charge(SETTLED * len(self.fresh.tasks))
        if columns is None:
            return []
        work = self.fresh.copy()
        for task in active(work):
            task.hand += task.waiting
        carry_out(work, self.market, columns)
        for task in active(work):
            depart(work, task)
        stuck = settle(work, Table.of(work), "pack")
        self.best.offer(work)
        return stuck


def _counted(classes: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """How often each class is among those of a bundle."""
    return tuple(sorted(Counter(classes).items()))
