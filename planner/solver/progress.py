"""How far a search has come, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a level has come: the best value and the bound in its natural direction."""

    level: str
    best: int
    bound: int
    seconds: float


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report nothing."""
