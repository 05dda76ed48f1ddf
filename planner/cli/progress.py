"""How far a search has come, in words, on one line of stderr that is written over.

For terminals only. The line is there from the first second on, whatever the search has to say so
far, and its clock is its own: that of a search begins anew with each of its attempts.
"""

from __future__ import annotations

import math
import shutil
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from planner.workers.forks import rests_for_forks

if TYPE_CHECKING:
    from planner import Progress

WIDTH = 79
EVERY = 0.1
"""Seconds between two lines: nobody reads faster."""
TICK = 1.0
"""Seconds after which the clock goes on by itself."""
_COUNTED = {
    "trials": "trying ties and orders of arrival: {} of {}",
    "clusters": "asking clusters: {} of {}",
    "cells": "trying cells of the grid: {} of {}",
    "failures": "trying failures: {} of {}",
    "descheduler": "comparing with the descheduler's strategies: {} of {}",
}


class ProgressLine:
    """Called with every report of the search; gone without a trace in the end."""

    def __init__(self, stream: TextIO, time_limit: float = math.inf) -> None:
        self._stream = stream
        self._limit = time_limit
        self._width = min(WIDTH, shutil.get_terminal_size().columns - 1)
        self._begin = time.monotonic()
        self._last = 0.0
        self._written = False
        self._progress: Progress | None = None
        self._ended = threading.Event()
        self._writing = threading.Lock()
        self._clock: threading.Thread | None = None

    def __call__(self, progress: Progress) -> None:
        """What the search has reached."""
        if self._clock is None:
            return
        self._progress = progress
        if time.monotonic() - self._last >= EVERY:
            self._write()

    def __enter__(self) -> Self:
        if self._stream.isatty():
            self._clock = threading.Thread(target=self._tick, daemon=True)
            rests_for_forks(self._clock, self._writing)
            self._clock.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._clock is not None:
            self._clock.join()
        if self._written:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()

    def _tick(self) -> None:
        while not self._ended.wait(TICK):
            self._write()

    def _write(self) -> None:
        with self._writing:
            self._last, self._written = time.monotonic(), True
            said = text(self._progress, self._last - self._begin, self._limit)
            self._stream.write(f"\r{said[: self._width]:<{self._width}}")
            self._stream.flush()


def text(progress: Progress | None, seconds: float, limit: float) -> str:
    """`placing pods: 0 of 8 so far, 6 s of 60 s`.

    The time limit is one of the search, and measured in its work: what goes on after it is said to
    be the end.
    """
    level, _, failed = ("", "", "") if progress is None else progress.level.partition(" ")
    if progress is not None and level in _COUNTED:
        said = _COUNTED[level].format(progress.best, progress.bound)
        said += f", {failed} failed" if failed not in ("", "0") else ""
        return f"{said}, {seconds:.0f} s{_left(progress)}"
    again = f"attempt {progress.attempt}: " if progress is not None and progress.attempt > 1 else ""
    said = "preparing" if progress is None else _level(progress)
    if limit == math.inf:
        return f"{said}, {seconds:.0f} s"
    spent = f"{seconds:.0f} s of {limit:g} s" if seconds <= limit else f"{seconds:.0f} s, finishing"
    return f"{again}{said}, {spent}"


def _left(progress: Progress) -> str:
    """How long the rest takes if it goes on like that."""
    if not progress.best or progress.seconds < TICK:
        return ""
    rate = progress.best / progress.seconds
    return f", {rate:.2g} a second, {(progress.bound - progress.best) / rate:.0f} s left"


def _level(progress: Progress) -> str:
    best = progress.best
    least = min(best, progress.bound)
    done = "which is the least" if best == least else f"{least} at best"
    plural = "" if best == 1 else "s"
    kind, _, priority = progress.level.partition(" ")
    match kind:
        case "placed":
            which = f" of priority {priority}" if priority not in ("", "0") else ""
            return f"placing pods{which}: {best} of {max(best, progress.bound)} so far"
        case "unplaced":
            return f"placing pods: {best} without a node, {done}"
        case "broken":
            return f"breaking the least: {best} rule{plural}, {done}"
        case "excess":
            return f"repairing rules: {best} over the limit, {done}"
        case "moves":
            return f"looking for fewer moves: {best} move{plural}, {done}"
        case _:
            return "weighing preferences"
