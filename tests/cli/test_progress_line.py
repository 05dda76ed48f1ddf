from __future__ import annotations

import io

import pytest

from planner.cli.progress import ProgressLine
from planner.solver.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [30, 80, 200])
def test_the_line_is_written_over_and_never_wraps(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress(Progress("moves", 48, 41, 12.3))
    shown, blank, rest = stream.getvalue().split("\r")[1:]
    assert shown.startswith("moves: best 48, bound 41")
    assert len(shown) == len(blank) < columns
    assert (blank.strip(), rest) == ("", "")
