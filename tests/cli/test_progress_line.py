from __future__ import annotations

import io
import sys
import time

import pytest

from planner.cli import progress as progress_line
from planner.cli.progress import ProgressLine, text
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
    with ProgressLine(stream, 60) as progress:
        progress(Progress("moves", 48, 41, 12.3))
    shown, blank, rest = stream.getvalue().split("\r")[1:]
    assert shown.startswith("looking for fewer moves: 48")
    assert len(shown) == len(blank) < columns
    assert (blank.strip(), rest) == ("", "")


def test_the_line_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(sys.stderr, 60) as progress:
        progress(Progress("moves", 48, 41, 12.3))
    assert capsys.readouterr().err == ""


def test_the_clock_goes_on_while_the_search_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "TICK", 0.01)
    stream = Terminal()
    with ProgressLine(stream, 60):
        time.sleep(0.1)
    assert "preparing, 0 s of 60 s" in stream.getvalue()


def test_a_further_attempt_is_named() -> None:
    said = text(Progress("placed 0", 1, 8, 0, attempt=2), 3, 60)
    assert said == "attempt 2: placing pods: 1 of 8 so far, 3 s of 60 s"


@pytest.mark.parametrize(
    ("level", "best", "bound", "said"),
    [
        ("placed 0", 0, 8, "placing pods: 0 of 8 so far"),
        ("placed 1000", 2, 3, "placing pods of priority 1000: 2 of 3 so far"),
        ("placed 0", 8, 7, "placing pods: 8 of 8 so far"),
        ("unplaced", 4, 1, "placing pods: 4 without a node, 1 at best"),
        ("excess", 27, 0, "repairing rules: 27 over the limit, 0 at best"),
        ("broken", 1, 1, "breaking the least: 1 rule, which is the least"),
        ("moves", 48, 41, "looking for fewer moves: 48 moves, 41 at best"),
        ("moves", 1, 1, "looking for fewer moves: 1 move, which is the least"),
        ("preferences", 900, 100, "weighing preferences"),
    ],
)
def test_levels_are_told_in_words(level: str, best: int, bound: int, said: str) -> None:
    assert text(Progress(level, best, bound, 99.0), 6.2, 60) == f"{said}, 6 s of 60 s"


def test_what_is_counted_has_no_limit_of_time() -> None:
    told = text(Progress("trials", 3, 40, 0.1), 70, 60)
    assert told == "trying ties and orders of arrival: 3 of 40, 70 s"


def test_beyond_the_limit_the_search_is_about_to_end() -> None:
    assert text(Progress("moves", 5, 3, 1), 61, 60).endswith("3 at best, 61 s, finishing")
