"""Where the independent parts of a question run: what its argument `jobs` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from planner.workers import Workers
from planner.workers.start import start_workers


@contextmanager
def workers_for(jobs: int | Workers | None) -> Iterator[Workers]:
    """So many processes for this question, or workers that go on to the next one."""
    if isinstance(jobs, Workers):
        yield jobs
        return
    with start_workers(jobs) as workers:
        yield workers
