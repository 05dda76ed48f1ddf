"""Every way a run can end that is not a result, as one clear message and an exit code.

Exit codes: 1 bad input or failure, 2 usage, 130 interrupted, 141 nobody reads the result any more
(the last two as shells count signals: 128 + 2, 128 + 13).
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import typer

from planner.report.text.blocks import visible
from planner.solver.interrupts import INTERRUPTED
from planner.sources.errors import SourceError
from planner.sources.options import SKIPPED

if TYPE_CHECKING:
    from planner_models.notice import Notice

FAILURE = 1
USAGE = 2
NO_READER = 141

_COLOURS = {"error:": "\x1b[1;31m", "warning:": "\x1b[33m", "help:": "\x1b[36m"}
_RESET = "\x1b[0m"
_MARK = re.compile(r"^(error:|warning:|help:)", re.MULTILINE)


@dataclass(eq=False)
class UsageError(Exception):
    """The command line asks for something that it can't mean."""

    message: str
    help: str | None = None


def report_source_error(error: SourceError) -> int:
    """Something in the input needs its author."""
    _tell(error.render())
    return FAILURE


def report_usage(error: UsageError | typer.TyperException) -> int:
    """In our own words, or in typer's, put like ours."""
    if isinstance(error, UsageError):
        _tell(SourceError(error.message, help=error.help).render())
        return USAGE
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "planner"
    told = SourceError(message[:1].lower() + message[1:], help=f"{command} --help")
    _tell(told.render())
    return error.exit_code


def warn_of_skipped(notices: Iterable[Notice]) -> None:
    """Everything that `--skip-invalid` left out, a line each; not all results show notices."""
    for notice in notices:
        if notice.code == SKIPPED:
            _tell("\n".join(f"warning: left out: {name}" for name in notice.objects))


def report_interrupt() -> int:
    """Ctrl-C: a line of its own, for the terminal has printed `^C`."""
    _tell("Interrupted.")
    return INTERRUPTED


def report_bug(error: Exception, *, verbose: bool) -> int:
    """Nobody expected this; the traceback is for those who asked to see more."""
    if verbose:
        sys.stderr.write("".join(traceback.format_exception(error)))
    text = " ".join(str(error).split()) or "no message"
    told = SourceError(
        f"planner has a bug: {type(error).__name__}: {text}",
        help="please report it with the traceback above" if verbose else "-v shows the traceback",
    )
    _tell(told.render())
    return FAILURE


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


def _tell(text: str) -> None:
    """Names of the input may be anything: here they are only read, by people and CI logs alike."""
    text = "\n".join(map(visible, text.split("\n")))
    sys.stderr.write(f"{_coloured(text) if _shows_colours(sys.stderr) else text}\n")


def _coloured(text: str) -> str:
    return _MARK.sub(lambda mark: f"{_COLOURS[mark[0]]}{mark[0]}{_RESET}", text)


def _shows_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
