"""From what a user asks for to workers."""

from __future__ import annotations

from planner.errors import UsageError
from planner.workers.here import HERE
from planner.workers.workers import Workers


def start_workers(
    jobs: int | Workers | None = None, dask: str | None = None, *, memory: int | None = None
) -> Workers:
    """Of a Dask cluster, or so many processes; 1 is this one, and None as many as there is room."""
    if isinstance(jobs, Workers):
        return jobs
    if dask is not None:
        if jobs is not None:
            raise UsageError(
                "`jobs` and `dask` are two places to run", help="leave one of them out"
            )
        from planner.workers.dask import DaskWorkers

        return DaskWorkers(dask)
    if jobs == 1:
        return HERE
    if jobs is not None and jobs < 1:
        raise UsageError(f"`jobs` is {jobs}, but it has to be at least 1")
    from planner.workers.processes import Processes

    return Processes(jobs, memory)
