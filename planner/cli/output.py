"""Where results go: to stdout, and as a page into a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from planner.exit_codes import NO_READER

if TYPE_CHECKING:
    from planner.api.answers import Answer


def show(answer: Answer, output: str, report: str | None = None) -> None:
    """The page first: what is piped away may end the run."""
    if report is not None:
        answer.write_html(report)
    with quiet_when_nobody_reads():
        answer.write(sys.stdout, output)


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
