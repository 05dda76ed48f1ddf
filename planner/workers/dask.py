"""Workers of a Dask cluster, by a `distributed.Client`.

Its futures are used as they are. Its executor for `concurrent.futures` would wait for ever for a
task that is given up after its result was lost with a worker.

What tasks share is pickled and sent to the scheduler once, and from there to every worker. It is
the result of a task of its own, for Dask makes results anew that were lost with all workers that
had them; a value that is scattered would be gone. Dask sends tasks of a worker that dies to another
one, and gives a task up that has ended several workers. The only module that imports `distributed`.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from planner.errors import PlannerError
from planner.workers.in_worker import Sent, run_with
from planner.workers.workers import R, S, T, WorkerDiedError, Workers, died

if TYPE_CHECKING:
    from distributed.client import VersionsDict

PATIENCE = 30
"""Seconds until the scheduler has to answer, and to have a worker."""
BUNDLES = 500
"""So many tasks of Dask's at most: each costs the scheduler, the worker and this process some
milliseconds. Who is in a bundle with a task that ends its worker is repeated alone."""
COMPARED = ("pod-planner", "python", "distributed", "msgspec", "numpy", "ortools", "pydantic")
"""What answers depend on, or values go through: the versions have to be the same."""
INSTALL = "pip install 'pod-planner[dask]'"
NEEDS = "every worker needs the same planner as this machine, such as the same container image"


class DaskWorkers(Workers):
    """The workers that a scheduler knows."""

    def __init__(self, address: str) -> None:
        self._client: Any = connected(address)
        self._address = address
        self._shared: object = None
        self._sent: Any = None

    def completed(
        self, function: Callable[[S, T], R], shared: S, tasks: Sequence[T], names: Sequence[str]
    ) -> Generator[tuple[int, R | WorkerDiedError]]:
        """Dask gives up whatever a dying worker had at hand or in its queue several times.

        Such tasks are repeated one by one: who ends its worker then is known.
        """
        given_up: list[int] = []
        for index, result in self._together(function, shared, dict(enumerate(tasks)), names):
            if isinstance(result, WorkerDiedError) and len(tasks) > 1:
                given_up.append(index)
            else:
                yield index, result
        for index in given_up:
            yield from self._together(function, shared, {index: tasks[index]}, names)

    def _together(
        self, function: Callable[[S, T], R], shared: S, tasks: Mapping[int, T], names: Sequence[str]
    ) -> Generator[tuple[int, R | WorkerDiedError]]:
        """Keys have the names of tasks, which the dashboard shows; very many go in bundles."""
        import distributed

        everywhere, submit = self._everywhere(shared), self._client.submit
        bundles: dict[Any, Sequence[int]] = {}
        every, size = list(tasks), -(-len(tasks) // BUNDLES)
        for first in range(0, len(every), size):
            chosen = every[first : first + size]
            key = f"{names[chosen[0]]}-{uuid4().hex}"
            given = [tasks[index] for index in chosen]
            bundles[submit(run_with, function, everywhere, given, key=key)] = chosen
        as_completed: Any = getattr(distributed, "as_completed")  # noqa: B009 - it has no types
        try:
            for batch in as_completed(bundles, loop=self._client.loop).batches():
                for future, results in zip(batch, self._results(batch), strict=True):
                    for number, index in enumerate(bundles.pop(future)):
                        yield index, died(names[index]) if results is None else results[number]
        finally:
            self._client.cancel(list(bundles))

    def _results(self, batch: Sequence[Any]) -> Iterator[list[Any] | None]:
        """All at once, or one by one where some of them failed; None for who ends its workers."""
        from distributed import CancelledError, KilledWorker

        try:
            yield from self._client.gather(batch)
            return
        except (KilledWorker, CancelledError):
            if len(batch) > 1:
                for future in batch:
                    yield from self._results([future])
                return
            lost = batch[0].cancelled()
        if lost:
            text = f"the Dask cluster at {self._address} ended, or gave tasks up"
            raise PlannerError(text, help="look at the scheduler's log")
        yield None

    def close(self) -> None:
        """Leave the cluster to others."""
        self._shared = self._sent = None
        self._client.close()

    def _everywhere(self, shared: object) -> Any:
        """Pickled bytes on every worker, sent once for all tasks that share the same."""
        if self._sent is None or self._shared is not shared:
            pickled = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
            with warnings.catch_warnings():
                # Dask would rather have it scattered.
                warnings.filterwarnings("ignore", message="Sending large graph")
                self._sent = self._client.submit(Sent, pickled, key=f"shared-{uuid4().hex}")
            self._client.replicate(self._sent)
            self._shared = shared
        return self._sent


def connected(address: str) -> Any:
    """A client of the scheduler, whose workers run what this process runs."""
    try:
        import distributed
    except ImportError as error:
        raise PlannerError("`dask` needs the package distributed", help=INSTALL) from error
    try:
        client: Any = getattr(distributed, "Client")(  # noqa: B009 - it has no types
            address, timeout=PATIENCE, set_as_default=False
        )
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise PlannerError(
            f"there is no Dask scheduler at {address}: {reason}",
            help="its address is what `dask scheduler` prints, such as tcp://10.0.0.7:8786",
        ) from error
    try:
        _require_workers(client, address)
        _compare(client.get_versions(packages=list(COMPARED)), address)
    except BaseException:
        client.close()
        raise
    return client


def _require_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise PlannerError(
            f"the Dask scheduler at {address} has no workers", help=f"dask worker {address}"
        ) from error


def _compare(found: VersionsDict, address: str) -> None:
    """Every difference in one message."""
    own = _versions(found["client"])
    wrong = []
    for worker, told in sorted(found["workers"].items()):
        theirs = _versions(told)
        wrong += [
            f"{name} {theirs[name] or 'missing'} on {worker}, {own[name]} here"
            for name in COMPARED
            if theirs[name] != own[name]
        ]
    if wrong:
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise PlannerError(
            f"the workers at {address} do not run what this machine runs: "
            f"{'; '.join(wrong[:3])}{more}",
            help=NEEDS,
        )


def _versions(told: Mapping[str, Any]) -> dict[str, str | None]:
    """Of Python, major and minor decide what a pickled function is."""
    packages = dict(told["packages"])
    python = packages.get("python")
    if python is not None:
        packages["python"] = ".".join(python.split(".")[:3])
    return {name: packages.get(name) for name in COMPARED}
