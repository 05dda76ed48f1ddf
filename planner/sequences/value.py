"""What a plan is worth: the levels that a search over steps compares."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """Pods placed by priority from the top, violations left, and what the evictions cost.

    More placed pods of a higher priority beat everything below; then fewer violations, then less
    cost.
    """

    placed: tuple[int, ...]
    violations: int
    cost: int

    @property
    def key(self) -> tuple[tuple[int, ...], int, int]:
        """Larger is better."""
        return self.placed, -self.violations, -self.cost

    def __add__(self, other: Value) -> Value:
        """The worth of two plans that have nothing to do with each other."""
        placed = tuple(a + b for a, b in zip(self.placed, other.placed, strict=True))
        return Value(placed, self.violations + other.violations, self.cost + other.cost)
