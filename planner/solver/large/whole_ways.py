"""Whether nodes used in whole ways can reach the bound of prices: if not, it is one move higher.

Prices bound the moves as a linear program over ways to use nodes does, in which half a node may be
used in one way and half in another. Where that bound is not met, a program in whole numbers decides
about the same ways. It knows less than there is to know, so that every state is one of its
solutions: the ways that prices leave to states with so few moves (see `ways`), landings that are
paid for, and the groups that are part of either, with their spread rule over few domains.

    per node     it is used in one way at the most
    per class    pods of it that land in a domain are no fewer than its groups land there
    per pair     departures of its group are no fewer than units are gone
    per group    arrivals - departures = pods that waited, counts within L and L + maxSkew
    in all       departures of pairs + other evictions + what other groups ask for <= moves

Departures from domains that are no pair cost nothing here: whoever leaves there is an eviction.
CP-SAT, which counts in integers, is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from planner.solver import tuning
from planner.solver.large.incumbent import Clock
from planner.solver.large.node_states import gratis
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.prices import Priced
from planner.solver.large.state import State
from planner.solver.large.ways import Way, Ways
from planner.solver.model.engine import raise_bound
from planner.solver.model.linear import Linear
from planner.solver.model.program import FREE, Program, cp_model_of


def rules_out(fresh: State, found: Priced, possible: Ways, most: int, clock: Clock) -> bool:
    """Whether no state has `most` moves, these being the ways that prices leave to such states."""
    program = _WholeWays(fresh, found, possible)
    if not program.program.columns:
        return program.moves.constant > most
    cp = cp_model_of(program.with_most(most).matrix())
    seconds = clock.left * tuning.WHOLE_WAYS_SHARE
    answer = raise_bound(cp, program.moves, fresh.problem.options, seconds)
    clock.spent += answer.time
    if answer.interrupted:
        raise KeyboardInterrupt
    return answer.complete and answer.values is None


@dataclass(eq=False)
class _WholeWays:
    """The program, and its moves as a sum."""

    fresh: State
    found: Priced
    possible: Ways
    program: Program = field(default_factory=Program)
    moves: Linear = field(default_factory=Linear)
    landing: dict[tuple[int, int], int] = field(default_factory=dict)
    leaving: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        market, pay = self.found.market, self.found.prices.pay
        self.landing = {
            (h, domain): self._row(0.0)
            for h in range(len(market.big))
            for domain in np.flatnonzero(pay[h]).tolist()
        }
        used = {pair for each in self.possible for way in each for pair, _ in way.gone}
        self.leaving = {pair: self._row(0.0) for pair in sorted(used)}
        for each, nodes in self.possible.items():
            self._add_nodes(len(nodes), each)
        of = {t.group: h for h, _ in self.landing for t in market.big[h].members}
        inside = {*of, *(market.room.pairs.all[pair][0] for pair in used)}
        for g, task in self.fresh.tasks.items():
            if g in inside:
                self._add_group(task, of.get(g))
            if g not in inside or gratis(task):
                self.moves.constant += task.bound

    def with_most(self, moves: int) -> Program:
        """The program of all states with so many moves at the most."""
        row = self.program.add_rows(np.array([-FREE]), np.array([moves - self.moves.constant]))
        self.program.enter(
            row, np.array(self.moves.vars, np.int64), np.array(self.moves.coeffs, np.int64)
        )
        return self.program

    def _row(self, least: float, most: float = FREE) -> int:
        return int(self.program.add_rows(np.array([least]), np.array([most]))[0])

    def _enter(self, row: int, columns: Iterable[int], amount: int) -> None:
        chosen = np.fromiter(columns, np.int64)
        self.program.enter(np.full(len(chosen), row), chosen, amount)

    def _add_nodes(self, nodes: int, known: tuple[Way, ...]) -> None:
        """Nodes that are used in the same ways."""
        columns = self.program.add_columns(
            np.zeros(len(known), np.int64), np.full(len(known), nodes)
        ).tolist()
        self._enter(self._row(-FREE, float(nodes)), columns, 1)
        for column, way in zip(columns, known, strict=True):
            if way.evictions:
                self.moves.add(column, way.evictions)
            for h, domain, pods in way.lands:
                self._enter(self.landing[h, domain], [column], pods)
            for pair, pods in way.gone:
                self._enter(self.leaving[pair], [column], -pods)

    def _add_group(self, task: PlainGroup, h: int | None) -> None:
        """What leaves and lands in each domain, within the rule over them."""
        movable, forced = task.by_domain(task.start), task.by_domain(task.forced)
        leave = self.program.add_columns(forced, movable).tolist()
        pods = int(movable.sum()) + task.waiting
        arrive = self.program.add_columns(np.zeros_like(movable), np.full_like(movable, pods))
        balance = self._row(float(task.waiting), float(task.waiting))
        self._enter(balance, arrive.tolist(), 1)
        self._enter(balance, leave, -1)
        for domain, (goes, comes) in enumerate(zip(leave, arrive.tolist(), strict=True)):
            pair = self.found.market.room.pairs.index.get((task.group, domain))
            if pair is not None and not gratis(task):
                self.moves.add(goes)
            if pair in self.leaving:
                self._enter(self.leaving[pair], [goes], 1)
            if h is not None and (h, domain) in self.landing:
                self._enter(self.landing[h, domain], [comes], -1)
        if task.main is not None:
            self._within(task, task.main, leave, arrive.tolist())

    def _within(self, task: PlainGroup, main: int, leave: list[int], arrive: list[int]) -> None:
        """L <= count <= L + maxSkew in every domain."""
        lows, skew = task.lows, task.rules[main].skew
        low = self.program.add_columns(np.array([lows[0]]), np.array([lows[-1]])).tolist()
        for now, goes, comes in zip(task.counts[main].tolist(), leave, arrive, strict=True):
            row = self._row(float(-now), float(skew - now))
            self._enter(row, [comes], 1)
            self._enter(row, [goes, *low], -1)
