"""Column generation: prices that bound the moves, and columns that are carried out as a placement.

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
from planner.solver import tuning
from planner.solver.large.bundles import UNIT, Bundles
from planner.solver.large.carry_out import carry_out
from planner.solver.large.classes import sizes_of
from planner.solver.large.construct import settle
from planner.solver.large.greedy import active, depart, realise
from planner.solver.large.incumbent import Incumbent
from planner.solver.large.master_problem import Chosen, Column, Master
from planner.solver.large.node_states import room_of
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.prices import (
    Market,
    Priced,
    Prices,
    market_of,
    priced,
    reduced,
)
from planner.solver.large.state import State
from planner.solver.large.ways import bundle_columns, ways
from planner.solver.large.whole_ways import rules_out

ROUNDED = UNIT // 1000
"""What prices may be off by, being rounded."""


def improve(fresh: State, best: Incumbent) -> Priced | None:
    """Better states and higher bounds, until they meet or the time is over; the best prices."""
    big = big_tasks(fresh)
    found: Priced | None = None
    promoted: list[PlainGroup] = []
    for _ in range(tuning.PROMOTIONS if big else 0):
        room = room_of(fresh, {task.group for task in (*big, *promoted)})
        market = market_of(room, sizes_of(fresh, big, promoted))
        search = _Search(fresh, market, best)
        search.generate()
        found = max((p for p in (search.found, found) if p), key=lambda p: p.total, default=None)
        stuck = search.complete() if best.open else []
        more = _promotion(fresh, big, promoted, stuck)
        if not best.open or len(more) == len(promoted) or best.clock.over:
            break
        promoted = more
    return found


def _promotion(
    fresh: State, big: list[PlainGroup], promoted: list[PlainGroup], stuck: list[PlainGroup]
) -> list[PlainGroup]:
    """Groups as big as what was evicted and found no room: their landing counts from now on."""
    known = {task.group for task in big}
    smallest = min((t.size for t in stuck if t.group not in known), default=None)
    if smallest is None:
        return promoted
    return [
        task
        for task in fresh.tasks.values()
        if task.size >= tuning.AS_BIG_AS_STUCK * smallest
        and task.group not in known
        and _share(fresh, task) >= tuning.BIG_POD
    ]


def big_tasks(fresh: State) -> list[PlainGroup]:
    """Tasks that land pods of the size of those which find no room without further evictions."""
    trial = fresh.copy()
    realise(trial, "pack")
    failed = {task.group for task in trial.tasks.values() if task.hand}
    smallest = min((fresh.tasks[g].size for g in failed), default=0.0)
    wanted = [t for t in active(fresh) if t.group in failed or t.size >= tuning.AS_BIG * smallest]
    return [task for task in wanted if _share(fresh, task) >= tuning.BIG_POD]


def _share(state: State, task: PlainGroup) -> float:
    room = state.problem.allocatable[state.landing(task)]
    if not len(room):
        return 0.0
    most = np.maximum(room.max(axis=0), 1)
    return float((task.request / most).max())


@dataclass(eq=False)
class _Search:
    """The best state and bound so far, and the master problem."""

    fresh: State
    market: Market
    best: Incumbent
    master: Master = field(init=False)
    found: Priced | None = None
    """The prices with the highest bound."""

    def __post_init__(self) -> None:
        self.master = Master(self.fresh, self.market)

    def generate(self) -> None:
        """Prices and columns until no column is worth adding."""
        solver = mathopt.IncrementalSolver(self.master.model, mathopt.SolverType.GLOP)
        for _ in range(tuning.PRICING_ROUNDS):
            prices = self.master.prices(solver)
            if prices is None:
                return
            self._charge(self._cost())
            self.best.report()
            if not self._round(prices) or not self.best.open or self.best.clock.over:
                return

    def _charge(self, seconds: float) -> None:
        self.best.clock.spent += seconds + self.master.spent
        self.master.spent = 0.0

    def _cost(self) -> float:
        """Seconds of a round: all states are looked at for each class."""
        return tuning.PRICING_SECONDS * len(self.market.room.node) * (1 + len(self.market.big))

    def _round(self, prices: Prices) -> bool:
        """One bound and its columns; False if there are none.

        What two pods would pay together is worth a look once nobody pays a price that is made up.
        """
        now = priced(self.fresh, self.market, prices)
        if self.found is None or now.total >= self.found.total:
            self.found = now
        self.best.prove_moves(now.moves)
        added = sum(self._cheapest(prices, h, now.paid) for h in range(len(self.market.big)))
        if not (added and self.master.missing):
            added += self._bundles(now.together, now.alone)
        return bool(added)

    def _cheapest(self, prices: Prices, h: int, paid: IntArray) -> int:
        """New columns of single pods, and such that turned out to be dearer."""
        states, room = self.market.states[h], self.market.room
        rent = self.master.rent[room.node[states]]
        worth = reduced(self.market, prices, h, paid) - rent
        chosen = np.argsort(worth, kind="stable")[: tuning.CHEAPEST_COLUMNS]
        chosen = chosen[worth[chosen] < -ROUNDED]
        dearer = self.market.settle(h, chosen)
        if dearer:
            worth = reduced(self.market, prices, h, paid) - rent
        return dearer + sum(
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
        """Columns of several pods; their evictions are found again without the grid, exactly."""
        least = np.minimum(alone, self.master.rent - ROUNDED)
        nodes = [n for n in together.pods if together.value[n] < least[n]]
        if not nodes:
            return 0
        requests = np.stack([size.request for size in self.market.big])
        asked = np.stack([requests[list(together.pods[n])].sum(axis=0) for n in nodes])
        states = together.state[nodes]
        rows = zip(nodes, states.tolist(), asked, strict=True)
        return sum(
            self.master.add(
                Column(
                    node,
                    state,
                    _counted(together.pods[node]),
                    self.market.room.exactly(state, request),
                )
            )
            for node, state, request in rows
        )

    def complete(self) -> list[PlainGroup]:
        """A state from whole columns; the tasks that found no room without further evictions."""
        chosen = self._decided()
        self._charge(tuning.CARRY_OUT_SECONDS * len(self.fresh.tasks))
        if chosen is None:
            return []
        state = self.fresh.copy()
        for task in active(state):
            task.hand += task.waiting
        carry_out(state, self.market, chosen.columns)
        for task in active(state):
            depart(state, task)
        stuck = settle(state)
        self.best.offer(state)
        return stuck

    def _decided(self) -> Chosen | None:
        """Whole columns; where they don't meet the bound, it is asked whether any could.

        What is lacking then are bundles: prices bring one at a time for a node, if any.
        """
        found, chosen = self.found, self._chosen()
        met = chosen is not None and chosen.moves <= self.best.certain.moves
        if found is None or met or self.best.certain.moves > found.moves or self.master.missing:
            return chosen
        possible = ways(found, found.moves)
        if possible is None:
            return chosen
        if rules_out(self.fresh, found, possible, found.moves, self.best.clock):
            self.best.prove_moves(found.moves + 1)
            return chosen
        more = [self.master.add(column) for column in bundle_columns(found, possible)]
        return self._chosen() if any(more) else chosen

    def _chosen(self) -> Chosen | None:
        """Whole columns: at first those that a state with a move more than the bound may have."""
        most = self.best.certain.moves + 1
        near = self._near(most)
        found = self.master.choose(self.best.clock.left / 4, near)
        if len(near) < len(self.master.columns) and (found is None or found.moves > most):
            return self.master.choose(self.best.clock.left / 4, self.master.columns)
        return found

    def _near(self, most: int) -> set[Column]:
        """Columns that prices don't rule out for states with so many moves."""
        if self.found is None:
            return set(self.master.columns)
        spare = UNIT * most - self.found.total
        least = self.found.nodes
        return {
            column
            for column in self.master.columns
            if self.master.value(column, self.found) <= int(least[column.node]) + spare
        }


def _counted(classes: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """How often each class is among those of a bundle."""
    return tuple(sorted(Counter(classes).items()))
