"""What was found about nodes and moves together."""

from __future__ import annotations

from dataclasses import dataclass

from planner.pools.find import Found
from planner.pools.moves.waves import Rearranged


@dataclass(frozen=True, eq=False)
class WithMoves:
    """`found` is the answer: with `rearranged` by evictions, and otherwise by nodes alone.

    `without` is the answer by nodes alone in any case. `fewest` says that no set of as little cost,
    with as few nodes, does with fewer evictions.
    """

    most: int
    """So many pods may be evicted."""
    found: Found
    without: Found
    rearranged: Rearranged | None = None
    fewest: bool = False

    @property
    def evictions(self) -> int:
        """How many pods are evicted."""
        return 0 if self.rearranged is None else self.rearranged.evictions

    @property
    def saved(self) -> int:
        """What evictions save, in whole units of the objective; 0 if more pods run by them."""
        one, other = self.found, self.without
        if self.rearranged is None or one.best is None or other.best is None:
            return 0
        if not other.accepted or len(one.goal) > len(other.goal):
            return 0
        return other.cost(other.best.added.counts) - one.cost(one.best.added.counts)
