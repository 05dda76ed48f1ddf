"""Ctrl-C ends a search in planner's own process, and does what it did before in any other."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from planner.interrupts import interruptible, leave_at_once


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
