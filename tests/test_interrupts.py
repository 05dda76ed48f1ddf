"""Ctrl-C ends a search in planner's own process, and does what it did before in any other."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from planner.interrupts import asked_to_end, interruptible, leave_at_once


@pytest.fixture(autouse=True)
def same_handler_afterwards() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_search_sees_ctrl_c_as_an_exception_and_others_leave_at_once() -> None:
    signal.signal(signal.SIGINT, leave_at_once)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is leave_at_once


def test_a_search_inside_a_search_leaves_the_outer_one_interruptible() -> None:
    signal.signal(signal.SIGINT, leave_at_once)
    with interruptible():
        with interruptible():
            pass
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_the_handler_of_another_program_is_left_alone() -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    with interruptible():
        signal.raise_signal(signal.SIGINT)
    assert seen == [signal.SIGINT]


def test_whoever_has_to_tidy_up_is_told_of_the_first_ctrl_c() -> None:
    signal.signal(signal.SIGINT, leave_at_once)
    with asked_to_end(lambda: "") as asked:
        assert not asked()
        signal.raise_signal(signal.SIGINT)
        assert asked()
    assert signal.getsignal(signal.SIGINT) is leave_at_once


def test_the_second_ctrl_c_ends_it_and_says_what_is_left() -> None:
    script = """
import signal
from planner.interrupts import asked_to_end, leave_at_once
signal.signal(signal.SIGINT, leave_at_once)
with asked_to_end(lambda: "Still cordoned: b1.\\n"):
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "\nStill cordoned: b1.\nInterrupted.\n")
