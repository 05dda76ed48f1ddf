"""Processes of this machine: a `concurrent.futures.ProcessPoolExecutor`.

Where this process has no thread that could hold a lock, it is forked as it is: nothing is pickled,
imported or read again, and memory is shared until somebody writes to it. Otherwise processes are
forked from a server that has imported planner and has no threads; a fresh interpreter for each
would import for two seconds of processor time. What tasks share is pickled once then, and goes to
each process with its start.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from planner.workers.forks import can_fork
from planner.workers.in_worker import Sent, begin, run
from planner.workers.number import usual_number
from planner.workers.workers import R, S, T, WorkerDiedError, Workers, died

FORK_SERVER = "forkserver"
IMPORTED = ["planner.api.cluster", "planner.documents.whatif", "planner.documents.drain_rounds"]
"""What the server imports before it forks: most of what tasks need, ortools included."""
BEGIN_HERE = 1.0
"""Seconds of work in this process before others are started."""
WORTH_IT = 4.0
"""Seconds of work that are left at the least, as it seems, when others are started."""


class Processes(Workers):
    """So many processes, as soon as they are worth it; by default as many as there is room for."""

    def __init__(
        self, number: int | None = None, memory: int | None = None, *, at_once: bool = False
    ) -> None:
        """`memory` is what one is expected to need, in bytes."""
        self._asked = number
        self._memory = memory
        self._at_once = at_once
        self._pool: ProcessPoolExecutor | None = None
        self._number = number or 0
        self._shared: object = None
        self._spent = 0.0

    def completed(
        self, function: Callable[[S, T], R], shared: S, tasks: Sequence[T], names: Sequence[str]
    ) -> Generator[tuple[int, R | WorkerDiedError]]:
        """A process that dies takes its pool along; whatever it may have had at hand is repeated.

        That is done one by one: who ends its process again is known then.
        """
        left = dict(enumerate(tasks))
        yield from self._begun_here(function, shared, left)
        while left:
            pool = self._pool_for(shared)
            yield from _in_pool(pool, function, left)
            if not left:
                return
            self._end(pool)
            for index in list(left)[: 2 * self._number + 1]:
                yield index, self._alone(function, shared, left.pop(index), names[index])

    def close(self) -> None:
        """Whatever they still do."""
        if self._pool is not None:
            self._end(self._pool)

    def _begun_here(
        self, function: Callable[[S, T], R], shared: S, left: dict[int, T]
    ) -> Generator[tuple[int, R]]:
        """Tasks that are done before it is clear that more processes are worth it."""
        if self._at_once or (self._pool is not None and shared is self._shared):
            return
        before = self._spent
        for done, index in enumerate(list(left)):
            each = (self._spent - before) / max(1, done)
            if self._spent > BEGIN_HERE and each * len(left) > WORTH_IT and self._many:
                return
            begun = time.perf_counter()
            result = function(shared, left.pop(index))
            self._spent += time.perf_counter() - begun
            yield index, result

    @property
    def _many(self) -> bool:
        return (self._asked or usual_number(self._memory)) > 1

    def _pool_for(self, shared: object) -> ProcessPoolExecutor:
        """The same as before if they share the same."""
        if self._pool is None or self._shared is not shared:
            self.close()
            self._number = self._asked or usual_number(self._memory)
            self._pool, self._shared = _started(self._number, shared), shared
        return self._pool

    def _alone(
        self, function: Callable[[S, T], R], shared: S, task: T, name: str
    ) -> R | WorkerDiedError:
        """Once more if it fails alone: in the pool another task may have been at fault."""
        for _ in range(2):
            pool = _started(1, shared)
            try:
                result: R = pool.submit(run, function, task).result()
                return result
            except BrokenProcessPool:
                continue
            finally:
                _end(pool)
        return died(name)

    def _end(self, pool: ProcessPoolExecutor) -> None:
        _end(pool)
        self._pool = self._shared = None


def _started(number: int, shared: object) -> ProcessPoolExecutor:
    if can_fork():
        forks = multiprocessing.get_context("fork")
        return ProcessPoolExecutor(number, forks, initializer=begin, initargs=(Sent.here(shared),))
    known = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context(FORK_SERVER if FORK_SERVER in known else "spawn")
    context.set_forkserver_preload(IMPORTED)
    sent = Sent(pickle.dumps(shared, pickle.HIGHEST_PROTOCOL))
    return ProcessPoolExecutor(number, context, initializer=begin, initargs=(sent,))


def _in_pool(
    pool: ProcessPoolExecutor, function: Callable[[Any, T], R], left: dict[int, T]
) -> Generator[tuple[int, R]]:
    """Results until one of the processes dies; what is there by then is given, too."""
    futures: Mapping[Future[Any], int] = {}
    try:
        with _ctrl_c_later():
            futures = {pool.submit(run, function, task): index for index, task in left.items()}
        for future in as_completed(futures):
            if not isinstance(future.exception(), BrokenProcessPool):
                result = future.result()
                del left[futures[future]]
                yield futures[future], result
    except BrokenProcessPool:
        return
    finally:
        for future in futures:
            future.cancel()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Until processes have started: one that is half made would complain about its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(pool: ProcessPoolExecutor) -> None:
    """At once: a task may take minutes, and nobody waits for it."""
    every = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in every:
        process.terminate()
    for process in every:
        process.join()
