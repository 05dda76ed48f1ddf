"""How far a search has come, for whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Progress:
    """How far a level has come: the best value and the bound in its natural direction.

    A search that goes back to an earlier level, with another model or without some pods, is another
    `attempt`. Within one the best value of a level never gets worse and its bound never weaker.
    """

    level: str
    best: int
    bound: int
    seconds: float
    attempt: int = 1


Report = Callable[[Progress], None]

_RANKS = {"placed": 0, "unplaced": 0, "broken": 1, "excess": 2, "moves": 3}
"""Levels in the order in which an attempt decides them; wishes follow."""
_GROWING = frozenset({"placed", "trials", "failures", "descheduler"})
"""Levels of which more is better, or has been done."""


def silent(progress: Progress) -> None:
    """Report nothing."""


def steady(report: Report | None) -> Report:
    """The reports of all searches of one command as one story, with one clock."""
    return silent if report is None else _Steady(report)


class _Steady:
    """Keeps what was told of each level of an attempt."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._begin = time.monotonic()
        self._attempt = 1
        self._at: tuple[int, int] | None = None
        self._told: dict[str, tuple[int, int]] = {}

    def __call__(self, progress: Progress) -> None:
        place = _place(progress.level)
        if self._at is not None and (place < self._at or self._beats(progress)):
            self._attempt += 1
            self._told.clear()
        self._at = place
        best, bound = self._merged(progress)
        self._told[progress.level] = best, bound
        seconds = time.monotonic() - self._begin
        self._report(
            replace(progress, best=best, bound=bound, seconds=seconds, attempt=self._attempt)
        )

    def _beats(self, progress: Progress) -> bool:
        """Whether it is better than the bound: then it is about another question."""
        _, bound = self._told.get(progress.level, (progress.best, progress.best))
        return progress.best > bound if _grows(progress.level) else progress.best < bound

    def _merged(self, progress: Progress) -> tuple[int, int]:
        best, bound = self._told.get(progress.level, (progress.best, progress.bound))
        if _grows(progress.level):
            best = max(best, progress.best)
            return best, max(best, min(bound, progress.bound))
        best = min(best, progress.best)
        return best, min(best, max(bound, progress.bound))


def _grows(level: str) -> bool:
    return level.partition(" ")[0] in _GROWING


def _place(level: str) -> tuple[int, int]:
    """Where in an attempt the level is decided: higher priorities first."""
    kind, _, priority = level.partition(" ")
    return _RANKS.get(kind, len(_RANKS)), -int(priority) if priority.lstrip("-").isdigit() else 0
