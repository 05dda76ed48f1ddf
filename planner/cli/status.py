"""`planner status`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

import planner
from planner.cli.live_options import live_given
from planner.cli.options import Verbose
from planner.cli.output import quiet_when_nobody_reads
from planner.exit_codes import DONE, NEGATIVE


class StatusOutput(StrEnum):
    """A few sentences, or everything."""

    TEXT = "text"
    JSON = "json"


StatusFormat = Annotated[
    StatusOutput,
    typer.Option("--output", "-o", help="How to write the result.", case_sensitive=False),
]
RunNamespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="Where planner runs. [default: planner-system]",
        show_default=False,
    ),
]


def status(
    context: typer.Context,
    output: StatusFormat = StatusOutput.TEXT,
    namespace: RunNamespace = None,
    verbose: Verbose = False,
) -> int:
    """Say what planner run does in a cluster: its leader, its last round, what it leaves alone.

    Exit code 3 if nobody holds its Lease, or the last round failed.

    \b
    planner status
    planner status -n planner-system -o json
    """
    found = planner.run_status(live=live_given(context))
    if output is StatusOutput.JSON:
        text = found.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"
    else:
        from planner.report.text.status_text import status_text

        text = status_text(found)
    with quiet_when_nobody_reads():
        sys.stdout.write(text)
    rounds = found.state.rounds
    failed = bool(rounds) and rounds[-1].result == "failed"
    return NEGATIVE if failed or found.leader is None else DONE
