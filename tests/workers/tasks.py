"""Tasks that workers import; the folder that tasks leave traces in is what they share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Snapshot:
    """Says in a file for each process how often it arrived there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with (self.folder / f"arrived-{os.getpid()}").open("a") as file:
            file.write("x")


def square(snapshot: Snapshot, task: int) -> int:
    with (snapshot.folder / f"done-{os.getpid()}").open("a") as file:
        file.write(f"{task}\n")
    return task * task


def squares_or_dies(snapshot: Snapshot, task: int) -> int:
    """Task 3 is killed when it is tried for the first time, task 5 always."""
    if task == 3:
        first = snapshot.folder / "killed"
        if not first.exists():
            first.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if task == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def refuses(_: Snapshot, task: int) -> int:
    raise ValueError(f"{task} is refused")


def own_process(_: None, _task: int) -> int:
    return os.getpid()


def asks(question: Callable[[int], int], task: int) -> int:
    return question(task)
