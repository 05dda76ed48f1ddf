"""Whether this process can be forked as it is.

A fork has one thread, and a lock that another one held stays locked in it for ever. So nothing is
forked from a process with threads of libraries, or with threads of Python beside this one; except
those that hold no lock but one of their own, which they let go of while a fork is made.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from weakref import WeakKeyDictionary

_TASKS = Path("/proc/self/task")
_registered: list[bool] = []
_held: list[threading.Lock] = []
_resting: WeakKeyDictionary[threading.Thread, threading.Lock] = WeakKeyDictionary()


def rests_for_forks(thread: threading.Thread, lock: threading.Lock) -> None:
    """Whatever the thread does, it holds this lock meanwhile, and no other one between."""
    if not _registered:
        _registered.append(True)
        os.register_at_fork(before=_take, after_in_parent=_give, after_in_child=_give)
    _resting[thread] = lock


def can_fork() -> bool:
    """Whether every other thread rests; False where nobody can count them."""
    if not hasattr(os, "fork") or not _TASKS.is_dir():
        return False
    others = [each for each in threading.enumerate() if each is not threading.current_thread()]
    counted = len(list(_TASKS.iterdir())) == len(others) + 1
    return counted and all(each in _resting for each in others)


def _take() -> None:
    for lock in _resting.values():
        lock.acquire()
        _held.append(lock)


def _give() -> None:
    while _held:
        _held.pop().release()
