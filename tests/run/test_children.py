"""Children of `planner run` as real processes: they end, hang, are killed, or run out of memory."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from planner.run import child
from planner.run.child import Ended, run_child

CALM = lambda: None  # noqa: E731


@pytest.fixture
def as_planner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """`python -m planner` is a script of the test's own."""
    package = tmp_path / "planner"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return package / "__main__.py"


def run(script: Path, text: str, limit: float = 60.0) -> Ended:
    script.write_text(text)
    before = Path.cwd()
    os.chdir(script.parent.parent)
    try:
        return run_child(("x",), limit, CALM)
    finally:
        os.chdir(before)


def test_what_planner_prints_is_the_answer() -> None:
    ended = run_child(("--version",), 60.0, CALM)
    assert (ended.code, ended.output[:8], ended.stopped) == (0, b"planner ", None)


def test_what_planner_says_last_is_why_it_failed() -> None:
    ended = run_child(("evict", "--example", "no-such"), 60.0, CALM)
    assert ended.code == 1
    assert "no-such" in ended.why


def test_a_child_that_is_killed_is_told_from_one_that_failed(as_planner: Path) -> None:
    ended = run(as_planner, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (ended.code, ended.why) == (-9, "it was killed (SIGKILL; out of memory?)")


def test_a_child_that_hangs_is_interrupted(as_planner: Path) -> None:
    text = "import sys, time\ntry:\n  time.sleep(99)\nexcept KeyboardInterrupt:\n  print('lifted')"
    ended = run(as_planner, text, limit=1.0)
    assert (ended.stopped, ended.output) == ("it took too long", b"lifted\n")


def test_a_child_that_does_not_listen_is_killed(
    as_planner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "GRACE", 0.3)
    text = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(99)"
    ended = run(as_planner, text, limit=1.0)
    assert (ended.code, ended.why) == (-9, "it took too long")


def test_a_reason_to_stop_ends_the_child(as_planner: Path) -> None:
    as_planner.write_text("import time; time.sleep(99)")
    began = time.monotonic()
    before = Path.cwd()
    os.chdir(as_planner.parent.parent)
    try:
        ended = run_child(("x",), 60.0, lambda: "the lease is lost")
    finally:
        os.chdir(before)
    assert ended.why == "the lease is lost"
    assert time.monotonic() - began < 60


def test_memory_of_a_container_is_not_all_for_the_child(
    as_planner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{child.OWN_SHARE + (200 << 20)}\n")
    monkeypatch.setattr(child, "MEMORY_LIMIT", limit)
    text = (
        "import sys, time\ntime.sleep(0.5)\n"
        "try:\n  x = bytearray(400 << 20)\n"
        "except MemoryError:\n  sys.exit('error: there is not enough memory')"
    )
    ended = run(as_planner, text)
    assert (ended.code, ended.why) == (1, "there is not enough memory")


@pytest.mark.parametrize("text", ["max\n", "", "1000\n"])
def test_without_a_limit_there_is_none(
    text: str, as_planner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(text)
    monkeypatch.setattr(child, "MEMORY_LIMIT", limit)
    assert run(as_planner, "print('well')").output == b"well\n"


def test_a_plan_fits_into_the_memory_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{512 << 20}\n")
    monkeypatch.setattr(child, "MEMORY_LIMIT", limit)
    ended = run_child(("evict", "--example", "rack-row-grid", "--seeds", "2"), 300.0, CALM)
    assert (ended.code, ended.stopped) == (0, None), ended.said
