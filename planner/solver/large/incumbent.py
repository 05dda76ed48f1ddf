"""The best state so far and what is known of all states; and how much work is left to be done.

Whoever improves the state offers it here at once, so that Ctrl-C finds the best one.
"""

from __future__ import annotations

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

    @property
    def left(self) -> float:
        """Seconds until the limit."""
        return max(0.0, self.limit - self.spent)

    @property
    def over(self) -> bool:
        """Whether the limit has come."""
        return self.spent >= self.limit


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

    def expect_moves(self, moves: int) -> None:
        """The same, as far as floating-point arithmetic is to be trusted."""
        if moves > self.least.moves:
            self.expect(replace(self.least, moves=moves))

    def expect(self, least: Score) -> None:
        """No state scores less, as far as floating-point arithmetic is to be trusted."""
        if least.key > self.least.key:
            self.least = least
            self.report()
