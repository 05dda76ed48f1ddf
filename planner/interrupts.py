"""What Ctrl-C does: it ends a search with the best so far, and the program everywhere else.

Python raises KeyboardInterrupt wherever the program happens to be. While modules are imported or
validators built, libraries swallow it or wrap it in errors of their own, and planner would go on
or call it a bug. Planner has nothing to tidy up there, so its own process leaves at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from planner.exit_codes import INTERRUPTED

_OVER_THE_LINE = b"\r\x1b[K"
"""The search's progress may stand on the terminal's line."""


def leave_at_once(_number: int, _frame: FrameType | None) -> NoReturn:
    """The handler of SIGINT in planner's own process."""
    line = b"Interrupted.\n"
    os.write(2, _OVER_THE_LINE + line if sys.stderr.isatty() else line)
    os._exit(INTERRUPTED)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt in here, where somebody knows what to make of it.

    In a process that isn't planner's own, whose handler is another, nothing changes.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not leave_at_once:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, leave_at_once)


@contextmanager
def asked_to_end(left: Callable[[], str]) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is only noted, for whoever has something to tidy up.

    Gives a function that says whether it came. The second one ends the process at once, with what
    `left` has to say. In a process that isn't planner's own nothing changes.
    """
    came = [False]

    def note(_number: int, _frame: FrameType | None) -> None:
        if came[0]:
            os.write(2, f"\n{left()}Interrupted.\n".encode())
            os._exit(INTERRUPTED)
        came[0] = True

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not leave_at_once:
        yield lambda: came[0]
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: came[0]
    finally:
        signal.signal(signal.SIGINT, leave_at_once)
