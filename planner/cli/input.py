"""What a command reads: files, a packaged example, or what is piped in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

import planner
from planner.cli.errors import warn_of_skipped
from planner.cli.session import session_of
from planner.errors import UsageError
from planner.words import count_of

if TYPE_CHECKING:
    from planner import Cluster, Fleet

STDIN = "-"


def read_cluster(
    context: typer.Context,
    filenames: Sequence[str] | None,
    example: str | None,
    *,
    keep_objects: bool = False,
) -> Cluster:
    """The cluster in the files and the example; without either, what is piped into planner."""
    paths = input_paths(context.command_path, filenames, example, sys.stdin.isatty())
    session = session_of(context)
    cluster = planner.load(
        paths,
        example=example,
        keep_objects=keep_objects,
        skip_invalid=session.skip_invalid,
        max_input=session.max_input,
    )
    warn_of_skipped(cluster.notices)
    session.tell(
        f"read {count_of(len(cluster.nodes), 'node')} and {count_of(len(cluster.pods), 'pod')}"
    )
    return cluster


def read_fleet(
    context: typer.Context, filenames: Sequence[str] | None, example: str | None
) -> Fleet:
    """The same for a fleet."""
    paths = input_paths(
        context.command_path, filenames, example, sys.stdin.isatty(), "fleet-walkthrough"
    )
    session = session_of(context)
    fleet = planner.load_fleet(
        paths, example=example, skip_invalid=session.skip_invalid, max_input=session.max_input
    )
    warn_of_skipped(fleet.notices)
    session.tell(f"read {len(fleet.members)} member clusters")
    return fleet


def input_paths(
    command: str,
    filenames: Sequence[str] | None,
    example: str | None,
    terminal: bool,
    suggested: str = "docs-conflicting-constraints",
) -> list[str]:
    """The paths to read; nobody is left waiting for a terminal that has nothing to say."""
    if filenames or example is not None:
        return list(filenames or ())
    if terminal:
        raise UsageError(
            "nothing to read: no -f, and stdin is a terminal",
            help=f"{command} -f cluster.json, or pipe kubectl's output, or\n"
            f"try {command} --example {suggested}",
        )
    return [STDIN]
