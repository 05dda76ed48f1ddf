"""How many pods of a priority can be placed at the most, by whole pods on nodes of each kind.

Prices on room (see `room_prices`) let pods share what several nodes leave over. Here each group of
pods has a price, and a node earns what the dearest pods cost that fit there together. All that is
placed costs no more than all nodes earn, so no more pods are placed than that pays for. That holds
for any prices that are not negative. The best ones are the duals of a linear program over patterns
(see `pattern_program`): who earns more by another one gives it to the program, until nobody does
(Gilmore and Gomory 1961). Prices of a young program swing, so those half way to the ones that
proved most are tried first (Wentges 1997). Prices and earnings are whole numbers, and what CP-SAT
has not found out about a node counts as earned.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.knapsack import Nodes, Pods, value_of
from planner.solver.model.program import FloatArray
from planner.solver.packing.pattern_prices import PatternPrices
from planner.solver.packing.pattern_program import UNIT, Duals, Pattern, PatternProgram
from planner.solver.packing.question import Stock, pooled
from planner.solver.packing.room_bounds import ceiling
from planner.solver.packing.room_prices import affordable, best_prices, least_cost, offers

SURE = 1e-6
AT_ONCE = 12
"""So many patterns of a kind are added that were found quickly."""
WORTHWHILE = UNIT // 200
"""What those earn more at least, since each makes the program longer."""
NEW = UNIT // 100_000
"""The same for the best pattern of a kind."""
CLOSE = 1.0
"""Bounds less far from what is known to be possible say that pods should be traded further away."""
TOWARDS_BEST = (0.5, 0.0)
"""Shares of the prices that proved most so far, one after the other until a pattern is found."""


@dataclass(eq=False)
class _Answer:
    """What is known about one question."""

    most: int
    final: bool = False
    """Whether there is nothing more to find out in this way."""
    left: float = math.inf
    """How many pods the best prices pay for, were these parted."""
    prices: IntArray | None = None
    earned: IntArray | None = None


@dataclass(eq=False)
class PatternBounds:
    """What patterns say about one packing; those that were found serve every later question."""

    stock: Stock
    _answers: dict[tuple[int, ...], _Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stock = self.stock
        cap = stock.fitting(np.arange(len(stock.room)), stock.total).T
        described = np.concatenate([stock.room, cap], axis=1)
        _, first, kinds = np.unique(described, axis=0, return_index=True, return_inverse=True)
        self._kind = kinds.ravel()
        self._many = np.bincount(self._kind)
        self._nodes = Nodes(stock.size, stock.room[first], cap[first])
        self._patterns: dict[Pattern, None] = {}
        self.learn(stock.now)

    def learn(self, counts: IntArray) -> None:
        """Patterns of a packing: with those of a good one a program is not young any more."""
        for node, kind in enumerate(self._kind.tolist()):
            there = np.flatnonzero(counts[:, node])
            pods = zip(there.tolist(), counts[there, node].tolist(), strict=True)
            self._patterns[kind, tuple(pods)] = None

    @property
    def few_enough(self) -> bool:
        """Whether there are few enough kinds of nodes and groups for rounds to be short."""
        kinds, groups = self._nodes.cap.shape
        return bool(kinds <= tuning.PATTERN_KINDS and groups <= tuning.PATTERN_GROUPS)

    def most(self, above: Sequence[int], seconds: float, until: float) -> tuple[int, float]:
        """The most pods of the rank below those `above`, of which so many are placed; and the work.

        Within about so many seconds, and not after `until`: what is known by then holds, and the
        next time goes on from there.
        """
        placed = tuple(above)
        answer = self._answers.get(placed)
        if answer is None:
            answer = self._answers[placed] = _first_answer(self.stock, placed)
        if answer.final or not self.few_enough:
            return answer.most, 0.0
        search = _Search(self.stock, self._nodes, self._many, self._patterns, placed, answer)
        answer.final = search.run(seconds, until)
        return answer.most, search.spent

    def prices(self, above: Sequence[int]) -> PatternPrices | None:
        """The best ones that were found for such a question, if any were."""
        answer = self._answers.get(tuple(above))
        if answer is None or answer.prices is None or answer.earned is None:
            return None
        nodes = (answer.earned / UNIT)[self._kind]
        return PatternPrices(self.stock.priorities[len(above)], answer.prices / UNIT, nodes)


def _first_answer(stock: Stock, placed: tuple[int, ...]) -> _Answer:
    """What room in total says, and what a pod pays for its room where that is cheapest."""
    rank, pool = len(placed), pooled(stock)[0]
    most = ceiling(stock, placed, rank)
    found = best_prices(pool, placed, rank) if pool.now.size <= tuning.PRICED_CELLS else None
    if found is None:
        return _Answer(most)
    may = pool.landing | (pool.now > 0)
    cost = np.where(may, pool.size @ found.room.T, np.inf).min(axis=1, initial=np.inf)
    prices = np.rint(np.where(np.isfinite(cost), cost, 0.0) * UNIT).astype(np.int64)
    return _Answer(min(most, found.ceiling(pool, placed, rank)), prices=prices)


class _Search:
    """For prices that prove more about one question."""

    def __init__(
        self,
        stock: Stock,
        nodes: Nodes,
        many: IntArray,
        patterns: dict[Pattern, None],
        placed: tuple[int, ...],
        answer: _Answer,
    ) -> None:
        self._stock, self._nodes, self._many = stock, nodes, many
        self._placed, self._rank = placed, len(placed)
        self._patterns, self._answer = patterns, answer
        self._program = PatternProgram(stock, many, placed, self._known_prices)
        for pattern in patterns:
            self._program.add(pattern)
        self.spent = self._program_seconds

    def run(self, seconds: float, until: float) -> bool:
        """Whether there is nothing more to find out."""
        while self.spent < seconds and time.monotonic() < until:
            duals = self._program.duals()
            self.spent += self._program_seconds
            if duals is None:
                break
            if self._answer.most <= math.floor(duals.placed + SURE) and not duals.traded:
                return True
            if duals.traded and self._answer.left - duals.placed < CLOSE:
                self._program.give_way(self._known_prices)
            elif not (self._quickly(duals) or self._thoroughly(duals, seconds, until)):
                if not duals.traded:
                    return self.spent < seconds and time.monotonic() < until
                self._program.give_way(self._known_prices)
        return False

    @property
    def _program_seconds(self) -> float:
        return tuning.PATTERN_SECONDS * len(self._patterns) * len(self._stock.groups)

    @property
    def _known_prices(self) -> FloatArray:
        prices = self._answer.prices
        return np.zeros(len(self._stock.groups)) if prices is None else prices / UNIT

    def _quickly(self, duals: Duals) -> bool:
        """Whether some patterns were found by weights that earn more than those that are known."""
        values = np.broadcast_to(duals.pods, self._nodes.cap.shape)
        self.spent += tuning.PATTERN_CELL_SECONDS * values.size
        before = len(self._patterns)
        for kind, ways in enumerate(self._nodes.quickly(values)):
            worth = sorted((-value_of(pods, duals.pods), pods) for pods in ways)
            for value, pods in worth[:AT_ONCE]:
                if -value > duals.nodes[kind] + WORTHWHILE:
                    self._add(kind, pods)
        return len(self._patterns) > before

    def _thoroughly(self, duals: Duals, seconds: float, until: float) -> bool:
        """Whether there are patterns that earn more, for prices nearer and nearer to the duals."""
        best, unknown = self._answer.prices, math.isinf(self._answer.left)
        if best is None:
            return self._tried(duals.pods, duals, seconds, until)
        for share in (1.0, *TOWARDS_BEST) if unknown else TOWARDS_BEST:
            tried = np.rint(share * best + (1 - share) * duals.pods).astype(np.int64)
            if self._tried(tried, duals, seconds, until):
                return True
        return False

    def _tried(self, price: IntArray, duals: Duals, seconds: float, until: float) -> bool:
        """What every kind of node earns at the most by these prices: a bound, and new patterns."""
        earned, added = np.zeros_like(self._many), False
        for kind in range(len(self._many)):
            if self.spent >= seconds or time.monotonic() >= until:
                return added
            filled = self._nodes.exactly(kind, np.broadcast_to(price, self._nodes.cap.shape)[kind])
            self.spent += tuning.PATTERN_NODE_SECONDS + filled.work * tuning.PATTERN_WORK_SECONDS
            earned[kind] = filled.most
            self._add(kind, filled.pods)
            added |= value_of(filled.pods, duals.pods) > duals.nodes[kind] + NEW
        self._learn(price, earned)
        return added

    def _learn(self, price: IntArray, earned: IntArray) -> None:
        """What these prices prove, and whether they are the best so far."""
        answer, all_of_it = self._answer, int(self._many @ earned)
        most = affordable(self._stock, price.tolist(), all_of_it, self._placed, self._rank)
        answer.most = min(answer.most, most)
        left = self._left(price, all_of_it)
        if left < answer.left:
            answer.left, answer.prices, answer.earned = left, price, earned

    def _left(self, price: IntArray, earned: int) -> float:
        """How many pods of the rank that pays for, were these parted (the Lagrangian bound)."""
        stock = self._stock
        left, mine, below = earned, stock.rank == self._rank, stock.rank > self._rank
        for above in range(self._rank):
            left -= least_cost(offers(stock, price.tolist(), above), self._placed[above])
        left -= int((price[below] * stock.least[below]).sum())
        left += int((stock.least[mine] * (UNIT - price[mine])).sum())
        left += int(((stock.total - stock.least)[mine] * np.maximum(UNIT - price[mine], 0)).sum())
        return left / UNIT

    def _add(self, kind: int, pods: Pods) -> None:
        pattern = kind, pods
        if pattern not in self._patterns:
            self._patterns[pattern] = None
            self._program.add(pattern)
