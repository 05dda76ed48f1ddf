"""The options that say where the independent parts of a question run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

import planner
from planner.cli.options import named
from planner.cli.session import session_of

if TYPE_CHECKING:
    from planner import Workers

Jobs: TypeAlias = Annotated[
    int | None,
    named(
        "--jobs",
        "Processes that work side by side, once there are seconds of work; 1: only this one. "
        "[default: as many as cores and memory allow]",
        "N",
        min=1,
    ),
]
Dask: TypeAlias = Annotated[
    str | None,
    named(
        "--dask",
        "The scheduler of a Dask cluster whose workers do it; needs pod-planner[dask].",
        "ADDRESS",
    ),
]


def chosen_workers(
    context: typer.Context, jobs: int | None, dask: str | None, *, memory: int | None = None
) -> Workers:
    """What the options ask for; a command of a sweep has the process that it runs in."""
    if session_of(context).shown is not None and dask is None:
        jobs = 1
    return planner.start_workers(jobs, dask, memory=memory)
