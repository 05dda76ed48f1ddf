"""What happens in a process that works for another one.

Tasks run one at a time, also where a Dask worker has several threads: what they share remembers
what it has found, and is not made for two at once.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing import parent_process
from typing import Any

from planner.garbage import seldom_collected

_one_at_a_time = threading.Lock()


class Sent:
    """What all tasks share, as it was sent; unpickled once in each process, for the first task."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled
        self._values: list[Any] = []

    @classmethod
    def here(cls, value: Any) -> Sent:
        """What a fork of this process has already."""
        sent = cls(b"")
        sent._values.append(value)
        return sent

    @property
    def value(self) -> Any:
        """The same for all tasks of this process.

        It stays, so the garbage collector need not look at it again and again.
        """
        if not self._values:
            self._values.append(pickle.loads(self._pickled))
            gc.freeze()
        return self._values[0]

    def __reduce__(self) -> tuple[type[Sent], tuple[bytes]]:
        return Sent, (self._pickled,)


_begun: list[Sent] = []


def begin(sent: Sent) -> None:
    """The first thing in a process of a pool; Ctrl-C is for the process that waits for results.

    What is there already stays out of the way of the garbage collector, which would write to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _begun[:] = [sent]


def _end_with_parent() -> None:
    """Nobody needs the results of a pool whose owner was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run(function: Callable[[Any, Any], Any], task: Any) -> Any:
    """One task of a pool."""
    with _one_at_a_time:
        return function(_begun[0].value, task)


def run_with(function: Callable[[Any, Any], Any], sent: Sent, tasks: Sequence[Any]) -> list[Any]:
    """Tasks of a Dask worker, which keeps what was sent to it."""
    with _one_at_a_time, seldom_collected():
        return [function(sent.value, task) for task in tasks]
