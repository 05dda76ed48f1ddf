"""How far the reading of a running cluster is: one line of stderr that is written over."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from planner.cli.progress import EVERY, WIDTH

if TYPE_CHECKING:
    from planner import ReadProgress


class ReadingLine:
    """Called with every page; on terminals only, and gone in the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = stream.isatty()
        self._width = min(WIDTH, shutil.get_terminal_size().columns - 1)
        self._last = 0.0
        self._written = False

    def __call__(self, progress: ReadProgress) -> None:
        """So many nodes and pods are there."""
        now = time.monotonic()
        if self._shown and now - self._last >= EVERY:
            self._last, self._written = now, True
            said = text(progress)
            self._stream.write(f"\r{said[: self._width]:<{self._width}}")
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


def text(progress: ReadProgress) -> str:
    """`reading prod-eu: 5,000 nodes, 41,500 pods so far`."""
    return f"reading {progress.place}: {progress.nodes:,} nodes, {progress.pods:,} pods so far"
