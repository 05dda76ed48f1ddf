"""Nodes in demand and nodes with room to spare, filled anew together, again and again.

Each time a pod that has no node is chosen, and a few nodes: some where little is lacking for it,
some with dear room that nobody can use as it is, and some with cheap room for those that have to
make way. What prices say is dear comes from `room_prices`, which also says when no more can be
placed. Where `pattern_prices` are known for its priority, every other time the nodes are those that
are filled badly. Then moves are saved in the same way, around pods that were moved. At first and in
between, what `chains` of moves find a place for is placed at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.program import FloatArray
from planner.solver.packing.chains import Chains
from planner.solver.packing.pattern_prices import PatternPrices
from planner.solver.packing.question import Stock, pooled
from planner.solver.packing.room_prices import priced
from planner.solver.packing.visitors import without_visitors
from planner.solver.packing.window import refill_window

Tell = Callable[[tuple[int, ...]], None]
"""Is told how many pods are placed by rank, whenever that changes."""


@dataclass(eq=False)
class Budget:
    """Work in about seconds, and the clock: whichever ends first."""

    seconds: float
    until: float
    spent: float = 0.0

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.share(0.0) >= 1

    def share(self, more: float) -> float:
        """How much is over after some more work; all of it if the clock says so."""
        if time.monotonic() >= self.until or self.spent + more >= self.seconds:
            return 1.0
        return (self.spent + more) / self.seconds


class Rearranging:
    """The best packing so far, `counts`; whoever is interrupted finds it there."""

    def __init__(
        self,
        stock: Stock,
        counts: IntArray,
        seed: int,
        *,
        most_moves: int | None = None,
        prices: PatternPrices | None = None,
    ) -> None:
        self._stock = stock
        self._most_moves = math.inf if most_moves is None else most_moves
        self._prices = prices
        self._random = np.random.default_rng(seed)
        pool, kinds = pooled(stock)
        known = priced(pool)
        self.most = known.most
        self._largest = np.maximum(stock.room.max(axis=0, initial=0), 1)
        self._price: FloatArray = known.room[kinds]
        self._may_hold: BoolArray = pool.landing[:, kinds]
        self._tries = np.zeros(len(stock.priorities))
        self._successes = np.zeros(len(stock.priorities))
        self._windows = 0
        self._proven: dict[tuple[int, ...], int] = {}
        self.counts = counts

    def learn(self, above: tuple[int, ...], most: int, prices: PatternPrices | None) -> None:
        """Beside so many pods placed above it no more of the next priority can be placed."""
        self._proven[above] = min(most, self._proven.get(above, most))
        self._prices = prices or self._prices

    @property
    def _placed(self) -> tuple[int, ...]:
        return self._stock.placed(self.counts)

    def run(self, budget: Budget, tell: Tell) -> None:
        """Place more, then move less, until the budget ends or nothing is left to gain."""
        self._fill(budget, thorough=True)
        in_vain, fruitless, told = 0, 0, self._placed
        tell(told)
        while not budget.over and fruitless < tuning.FRUITLESS_WINDOWS:
            before = self._key(self.counts)
            ranks = self.open_ranks()
            if len(ranks) and (in_vain < tuning.PLACING_PATIENCE or self._windows % 2):
                in_vain = 0 if self._place_more(ranks, budget) else in_vain + 1
            else:
                self._move_less(budget)
                fruitless = 0 if len(ranks) or self._key(self.counts) > before else fruitless + 1
            if self._placed != told:
                told = self._placed
                tell(told)

    def _key(self, counts: IntArray) -> tuple[tuple[int, ...], int]:
        return self._stock.placed(counts), -self._stock.moves(counts)

    def _offer(self, counts: IntArray) -> bool:
        """Take a packing that is as good, since another one may lead on; whether it places more."""
        before = self._placed
        if self._key(counts) >= self._key(self.counts):
            self.counts = counts
        return self._placed > before

    # Who has no node

    @property
    def _missing(self) -> IntArray:
        found: IntArray = self._stock.total - self.counts.sum(axis=1)
        return np.where(self._may_hold.any(axis=1), found, 0)

    def open_ranks(self) -> IntArray:
        """Priorities of which more may be possible, and of which pods wait that a node can hold."""
        waiting = np.bincount(self._stock.rank, self._missing, minlength=len(self.most)) > 0
        most = [self.most_beside(self._placed[:rank]) for rank in range(len(self.most))]
        return np.flatnonzero(waiting & (np.array(self._placed) < np.array(most)))

    def most_beside(self, above: tuple[int, ...]) -> int:
        """The most pods of the next priority, where so many of those above have a node."""
        rank = len(above)
        everybody = int(self._stock.total[self._stock.rank == rank].sum())
        known = self.most[rank] if above == self.most[:rank] else everybody
        return min(known, self._proven.get(above, known))

    def _place_more(self, ranks: IntArray, budget: Budget) -> bool:
        """Around a pod that waits; whether that placed more."""
        rank = self._choose_rank(ranks, budget)
        waiting = np.flatnonzero((self._missing > 0) & (self._stock.rank == rank))
        group = int(self._random.choice(waiting))
        found = self._without_visitors(group, budget) or self._window_for(group, ranks, budget)
        self._tries *= tuning.FORGET
        self._successes *= tuning.FORGET
        self._tries[rank] += 1
        self._successes[rank] += found
        self._windows += 1
        if self._windows % tuning.WINDOWS_BEFORE_FILL == 0:
            self._fill(budget, thorough=False)
        return found

    def _fill(self, budget: Budget, *, thorough: bool) -> None:
        """What chains of moves find a place for."""
        chains = Chains(self._stock, self.counts, self._price, self._most_moves)
        self._offer(
            chains.run(
                thorough=thorough, share=lambda work: budget.share(work * tuning.CHAIN_SECONDS)
            )
        )
        budget.spent += chains.work * tuning.CHAIN_SECONDS

    def _choose_rank(self, ranks: IntArray, budget: Budget) -> int:
        """By success so far, and by priority: in a long search the highest one more and more.

        Pods of lower priorities that were placed first can give their place up for the last ones
        of a higher priority, which those that run can't. That takes many windows: with a few, more
        of the lower ones are placed.
        """
        chances = (self._successes[ranks] + 1) / (self._tries[ranks] + 1)
        long = budget.seconds >= tuning.LONG_SEARCH
        early = not long or budget.share(0.0) < tuning.EARLY_SHARE
        preference = tuning.EARLY_FIRST_RANK if early else tuning.FIRST_RANK
        chances *= preference ** np.arange(len(ranks) - 1, -1, -1)
        return int(self._random.choice(ranks, p=chances / chances.sum()))

    def _joining(self, group: int, nodes: IntArray, ranks: IntArray) -> BoolArray:
        """Who may come to the nodes: this group and some others, small ones more often."""
        others = np.flatnonzero((self._missing > 0) & self._may_hold[:, nodes].any(axis=1))
        size = (self._stock.size[others] / self._largest).sum(axis=1)
        size[~np.isin(self._stock.rank[others], ranks)] += len(self._largest)
        order = np.argsort(size * self._random.random(len(others)), kind="stable")
        found = np.zeros(len(self._stock.groups), np.bool_)
        found[others[order[: tuning.JOINING]]] = True
        found[group] = True
        return found

    def _window_for(self, group: int, ranks: IntArray, budget: Budget) -> bool:
        nodes, work = self._around(group)
        return self._refill(nodes, self._joining(group, nodes, ranks), work, budget)

    def _without_visitors(self, group: int, budget: Budget) -> bool:
        """Where the group has few nodes, send those away who could be elsewhere; if that works out.

        Whoever is sent away finds a place by chains or in windows, or all stays as it was.
        """
        turn = self._windows // len(tuning.REFILL_WINDOWS) % 2 == 1
        long = budget.seconds >= tuning.LONG_SEARCH
        if not (long and turn) or self._may_hold[group].sum() > tuning.FEW_NODES:
            return False
        before = self.counts
        found = without_visitors(self._stock, before, self._may_hold, group, self._windows)
        budget.spent += found.work * tuning.REFILL_WORK_SECONDS + tuning.WINDOW_BUILD_SECONDS
        if self._stock.placed(found.counts) == self._placed:
            return False
        try:
            self.counts = found.counts
            after = self._with_places_for_all(budget)
        finally:
            self.counts = before
        return after is not None and self._offer(after)

    def _with_places_for_all(self, budget: Budget) -> IntArray | None:
        """Places for those that lack one and have to have it; None if they are not found."""
        self._fill(budget, thorough=True)
        for _ in range(tuning.VISITORS_WINDOWS):
            lacking = np.flatnonzero(self._lacking)
            if not len(lacking) or budget.over:
                break
            self._window_for(int(self._random.choice(lacking)), self.open_ranks(), budget)
        moves = self._stock.moves(self.counts)
        return None if self._lacking.any() or moves > self._most_moves else self.counts

    @property
    def _lacking(self) -> BoolArray:
        """Groups of which fewer pods have a node than have to."""
        return np.asarray(self.counts.sum(axis=1) < self._stock.least)

    # Which nodes

    def _around(self, group: int) -> tuple[IntArray, float]:
        width, work = tuning.REFILL_WINDOWS[self._windows % len(tuning.REFILL_WINDOWS)]
        priority = self._stock.priorities[self._stock.rank[group]]
        other_time = self._windows // len(tuning.REFILL_WINDOWS) % 2 == 1
        if self._prices is not None and priority <= self._prices.priority and other_time:
            return self._badly_filled(group, width, self._prices), work
        free = self._stock.room - self.counts.T @ self._stock.size
        lacking = (np.maximum(self._stock.size[group] - free, 0) / self._largest).sum(axis=1)
        lacking += tuning.WINDOW_NOISE * self._random.random(len(free))
        chosen = np.zeros(len(free), np.bool_)
        _take(chosen, np.where(self._may_hold[group], lacking, np.inf), width // 3)
        _take(
            chosen, -(free * self._price).sum(axis=1) * self._random.random(len(free)), width // 3
        )
        self._take_cheap(chosen, free, width)
        return np.flatnonzero(chosen), work

    def _badly_filled(self, group: int, width: int, prices: PatternPrices) -> IntArray:
        """Nodes that hold less than they could be worth, a third of them for this group."""
        chosen = np.zeros(len(self._stock.room), np.bool_)
        waste = prices.waste(self.counts) + tuning.LEAST_WASTE
        drawn = -waste * self._random.random(len(waste))
        _take(chosen, np.where(self._may_hold[group], drawn, np.inf), width // 3)
        drawn = -waste * self._random.random(len(waste))
        _take(chosen, drawn, width - int(chosen.sum()))
        return np.flatnonzero(chosen)

    def _take_cheap(self, chosen: BoolArray, free: IntArray, width: int) -> None:
        """Nodes with much room that costs little, until there are so many."""
        price = (self._price * self._largest).sum(axis=1)
        cheap = (free / self._largest).sum(axis=1) / (tuning.CHEAP + price)
        _take(chosen, -cheap * self._random.random(len(free)), width - int(chosen.sum()))

    # Fewer moves

    def _move_less(self, budget: Budget) -> None:
        """Around a pod that was moved: its home, where it may be now, and others with newcomers."""
        width, work = tuning.REFILL_WINDOWS[self._windows % len(tuning.REFILL_WINDOWS)]
        self._windows += 1
        come = self.counts - self._stock.now
        groups, homes = np.nonzero(come < 0)
        if not len(groups):
            return
        at = int(self._random.integers(len(groups)))
        new = (come > 0).sum(axis=0)
        mine = come[groups[at]] > 0
        chosen = np.zeros(len(new), np.bool_)
        chosen[homes[at]] = True
        chance = self._random.random(len(new))
        _take(chosen, np.where(mine, chance, np.inf), width // 3)
        _take(chosen, np.where(new > 0, chance / np.maximum(new, 1), np.inf), width // 3)
        self._take_cheap(chosen, self._stock.room - self.counts.T @ self._stock.size, width)
        nobody = np.zeros(len(self._stock.groups), np.bool_)
        self._refill(np.flatnonzero(chosen), nobody, work, budget)

    def _refill(self, nodes: IntArray, joining: BoolArray, work: float, budget: Budget) -> bool:
        left = (budget.seconds - budget.spent) / tuning.REFILL_WORK_SECONDS
        most = max(min(work, left), tuning.LEAST_WORK)
        here = np.maximum(self._stock.now - self.counts, 0)[:, nodes].sum()
        moves = self._most_moves - self._stock.moves(self.counts) + int(here)
        found = refill_window(self._stock, self.counts, nodes, joining, most, self._windows, moves)
        budget.spent += found.work * tuning.REFILL_WORK_SECONDS + tuning.WINDOW_BUILD_SECONDS
        return self._offer(found.counts)


def _take(chosen: BoolArray, score: FloatArray, nodes: int) -> None:
    """So many more nodes, the lowest scores first; an infinite one is none."""
    open_ = np.flatnonzero(~chosen & np.isfinite(score))
    chosen[open_[np.argsort(score[open_], kind="stable")[: max(0, nodes)]]] = True
