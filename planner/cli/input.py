"""What a command reads: a running cluster, files, a packaged example, or what is piped in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

import planner
from planner.cli.errors import warn, warn_of_skipped
from planner.cli.live_options import live_of
from planner.cli.reading_line import ReadingLine
from planner.cli.session import session_of
from planner.errors import UsageError

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
    """The cluster that the options name; without any, the running one, or what is piped in."""
    session = session_of(context)
    live = live_of(context, files=bool(filenames) or example is not None)
    with ReadingLine(sys.stderr) as line:
        cluster = planner.load(
            filenames or () if live else input_paths(filenames, example),
            example=example,
            keep_objects=keep_objects,
            skip_invalid=session.skip_invalid,
            max_input=session.max_input,
            live=live or False,
            progress=line,
            cache=session.cache,
        )
    for text in (*cluster.ages(), *cluster.warnings):
        warn(text)
    warn_of_skipped(cluster.notices)
    session.tell(f"read {len(cluster.nodes)} nodes and {len(cluster.pods)} pods")
    return cluster


def own_namespace(cluster: Cluster, namespace: str | None, all_namespaces: bool) -> str | None:
    """What `--all-pending` covers: in a running cluster, the namespace that the user is in."""
    if cluster.live is None or all_namespaces:
        return namespace
    return namespace or cluster.namespace


def read_fleet(
    context: typer.Context, filenames: Sequence[str] | None, example: str | None
) -> Fleet:
    """The same for a fleet, which is never read from a running cluster."""
    if not filenames and example is None and sys.stdin.isatty():
        raise UsageError(
            "nothing to read: no -f, and stdin is a terminal",
            help=f"{context.command_path} -f cluster.json, or pipe kubectl's output, or\n"
            f"try {context.command_path} --example fleet-walkthrough",
        )
    session = session_of(context)
    fleet = planner.load_fleet(
        input_paths(filenames, example),
        example=example,
        skip_invalid=session.skip_invalid,
        max_input=session.max_input,
        cache=session.cache,
    )
    for text in (*fleet.ages(), *fleet.warnings):
        warn(text)
    warn_of_skipped(fleet.notices)
    session.tell(f"read {len(fleet.members)} member clusters")
    return fleet


def input_paths(filenames: Sequence[str] | None, example: str | None) -> list[str]:
    """The paths to read; without any, what is piped in."""
    return list(filenames or ()) if filenames or example is not None else [STDIN]
