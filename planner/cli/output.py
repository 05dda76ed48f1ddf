"""Where results go: to stdout, and as a page into a file."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from planner.cli.session import session_of
from planner.exit_codes import NO_READER

if TYPE_CHECKING:
    from planner.api.answers import Answer


def show(context: typer.Context, answer: Answer, output: str, report: str | None = None) -> None:
    """The page first: what is piped away may end the run."""
    write_page(context, answer, report)
    take = session_of(context).shown
    if take is not None:
        take(answer)
        return
    with quiet_when_nobody_reads():
        answer.called(session_of(context).program).write(sys.stdout, output)


def write_page(context: typer.Context, answer: Answer, report: str | None) -> None:
    """The page that `--report` asks for, with the command line that made it."""
    if report is not None:
        session = session_of(context)
        command = f"{session.program} {shlex.join(session.arguments)}"
        answer.called(session.program).write_html(report, command.strip())


@contextmanager
def quiet_when_nobody_reads() -> Iterator[None]:
    """`planner ... | head` ends without a word when head has seen enough."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more on exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(NO_READER) from None
