"""How far a search has come, on one line of stderr that is written over; terminals only."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from planner import Progress

WIDTH = 79
_COUNTED = {
    "trials": "trying ties and orders of arrival: {} of {}",
    "descheduler": "comparing with the descheduler's strategies: {} of {}",
}
EVERY = 0.1
"""Seconds between two lines: nobody reads faster."""


class ProgressLine:
    """Called with every report of the search; gone without a trace in the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = stream.isatty()
        self._width = min(WIDTH, shutil.get_terminal_size().columns - 1)
        self._last = 0.0
        self._written = False

    def __call__(self, progress: Progress) -> None:
        """Level, best, bound, gap and time."""
        now = time.monotonic()
        if self._shown and now - self._last >= EVERY:
            self._last, self._written = now, True
            self._stream.write(f"\r{text(progress)[: self._width]:<{self._width}}")
            self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._written:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()


def text(progress: Progress) -> str:
    """`moves: best 48, bound 41, gap 15%, 12s`; counts of what is done are no gap."""
    if progress.level in _COUNTED:
        said = _COUNTED[progress.level].format(progress.best, progress.bound)
        return f"{said}, {progress.seconds:.0f}s"[:WIDTH]
    apart = abs(progress.best - progress.bound)
    gap = -(-100 * apart // max(progress.best, progress.bound, 1))
    said = f"{progress.level}: best {progress.best}, bound {progress.bound}, gap {gap}%"
    return f"{said}, {progress.seconds:.0f}s"[:WIDTH]
