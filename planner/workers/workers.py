"""What all kinds of workers have in common: results as they come, or in the order of the tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, Self, TypeVar

from planner.errors import PlannerError

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


class WorkerDiedError(PlannerError):
    """A task that ends its worker's process, again and again; a value until somebody raises it."""


def died(name: str) -> WorkerDiedError:
    """The error, with the name of the task."""
    return WorkerDiedError(
        f"{name}: the process that works on it dies, again and again",
        help="it may need more memory than there is: fewer jobs at once leave more for each",
    )


class Workers(ABC):
    """Runs `function(shared, task)` for every task; tasks know nothing of each other.

    Functions are those of a module, and values can be pickled: they may go to other processes. In
    these there are no further workers, so an object that holds some may be shared as it is.
    """

    @abstractmethod
    def completed(
        self, function: Callable[[S, T], R], shared: S, tasks: Sequence[T], names: Sequence[str]
    ) -> Generator[tuple[int, R | WorkerDiedError]]:
        """The number of each task with its result, as soon as it is there.

        What a task raises is raised here. Who closes the iterator needs the rest no more.
        """

    def in_order(
        self, function: Callable[[S, T], R], shared: S, tasks: Sequence[T], names: Sequence[str]
    ) -> Generator[R]:
        """The results in the order of the tasks; a task that can't be done is raised."""
        early: dict[int, R | WorkerDiedError] = {}
        number = 0
        with closing(self.completed(function, shared, tasks, names)) as found:
            for index, result in found:
                early[index] = result
                while number in early:
                    first = early.pop(number)
                    if isinstance(first, WorkerDiedError):
                        raise first
                    yield first
                    number += 1

    def close(self) -> None:  # noqa: B027 - in this process nothing is left to end
        """End what still runs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _here, ()


def _here() -> Workers:
    from planner.workers.here import HERE

    return HERE
