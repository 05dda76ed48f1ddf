"""The best state so far and what is known of all states; and how much work is left to be done.

Whoever improves the state offers it here at once, so that Ctrl-C finds the best one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from planner.solver.large.construct import Score, score
from planner.solver.large.state import State

Tell = Callable[[Score, Score], None]
"""Is told the best score and the least one whenever one of them improves."""


@dataclass(eq=False)
class Clock:
    """Work in about seconds, measured in what is done: the same input stops at the same place."""

    limit: float
    spent: float = 0.0
    until: float = math.inf
    """When the user stops waiting, by the monotonic clock: a slow machine does less."""

    @property
    def left(self) -> float:
        """Seconds until the limit."""
        return max(0.0, min(self.limit - self.spent, self.until - time.monotonic()))

    @property
    def over(self) -> bool:
        """Whether the limit has come."""
        return self.left <= 0.0

    @property
    def late(self) -> bool:
        """Whether a user has waited long enough: then nothing else is begun."""
        return self.ends_within(0.0)

    def ends_within(self, seconds: float) -> bool:
        """Whether a user will have waited long enough by then."""
        return time.monotonic() + seconds >= self.until


@dataclass(eq=False)
class Incumbent:
    """A state and its score.

    `least` bounds the score of every state, level by level, as far as those before are met; it may
    rest on floating-point arithmetic. `certain` is what integers prove: only that makes a result
    optimal, while `least` says when to stop looking.
    """

    state: State
    best: Score
    certain: Score
    clock: Clock
    tell: Tell
    least: Score = field(init=False)

    def __post_init__(self) -> None:
        self.least = self.certain
        self.report()

    def report(self) -> None:
        """Say how far it has come."""
        self.tell(self.best, self.least)

    def announce(self, unplaced: tuple[int, ...]) -> None:
        """Say how far a search has come that offers its state at its end."""
        coming = replace(self.best, stranded=0, unplaced=unplaced)
        if coming.key < self.best.key:
            self.tell(coming, self.least)

    @property
    def open(self) -> bool:
        """Whether value and bound still differ."""
        return self.best.key > self.least.key

    def offer(self, state: State) -> bool:
        """Keep a state that is better."""
        found = score(state)
        if found.key >= self.best.key:
            return False
        self.state, self.best = state, found
        self.report()
        return True

    def prove_moves(self, moves: int) -> None:
        """No state that meets the levels before has fewer moves: computed in integers."""
        if moves > self.certain.moves:
            self.certain = replace(self.certain, moves=moves)
        self.expect_moves(moves)

    def prove_unplaced(self, unplaced: tuple[int, ...]) -> None:
        """No state leaves fewer pods without a node, by priority: computed in integers."""
        self.certain = replace(self.certain, unplaced=unplaced)
        self.expect(replace(self.least, unplaced=unplaced))

    def expect_moves(self, moves: int) -> None:
        """The same, as far as floating-point arithmetic is to be trusted."""
        if moves > self.least.moves:
            self.expect(replace(self.least, moves=moves))

    def expect(self, least: Score) -> None:
        """No state scores less, as far as floating-point arithmetic is to be trusted."""
        if least.key > self.least.key:
            self.least = least
            self.report()
