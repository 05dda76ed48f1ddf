"""One task after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from planner.workers.workers import R, S, T, WorkerDiedError, Workers


class InThisProcess(Workers):
    """Each task when its result is asked for."""

    def completed(
        self, function: Callable[[S, T], R], shared: S, tasks: Sequence[T], names: Sequence[str]
    ) -> Generator[tuple[int, R | WorkerDiedError]]:
        """In the order of the tasks."""
        for index, task in enumerate(tasks):
            yield index, function(shared, task)


HERE = InThisProcess()
