"""Every way a run can end that is not a result, as one clear message and an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import typer

from planner.errors import PlannerError, RefusedError, UsageError
from planner.exit_codes import FAILURE, INTERRUPTED, NEGATIVE, USAGE
from planner.report.text.blocks import visible

if TYPE_CHECKING:
    from planner_models.notice import Notice

SKIPPED = "invalid"
"""The code of the notice about objects that were left out."""
_COLOURS = {"error:": "\x1b[1;31m", "warning:": "\x1b[33m", "help:": "\x1b[36m"}
_RESET = "\x1b[0m"
_MARK = re.compile(r"^(error:|warning:|help:)", re.MULTILINE)


FLAGS = {
    "all_namespaces": "-A",
    "anonymous": "--anonymous",
    "cache": "--cache",
    "cordons": "--cordons",
    "costs": "--cost",
    "dask": "--dask",
    "extra_nodes": "--extra-nodes",
    "goals": "--for",
    "like_descheduler": "--like-descheduler",
    "ignored_plugins": "--ignore-plugin",
    "ignored_strategies": "--ignore-strategy",
    "immovable": "--immovable",
    "in_cluster": "--in-cluster",
    "jobs": "--jobs",
    "against": "--against",
    "example": "--example",
    "request_timeout": "--request-timeout",
    "max_age": "--max-age",
    "journal": "--journal",
    "keep": "--keep",
    "log_format": "--log-format",
    "max_input": "--max-input",
    "max_moves": "--max-moves",
    "mode": "--mode",
    "most": "--most",
    "movable": "--movable",
    "names": "--names",
    "namespace": "-n",
    "nodes_at_once": "--nodes-at-once",
    "now": "--now",
    "pod_selector": "--pod-selector",
    "objective": "--objective",
    "policy": "--policy",
    "pools": "--pools",
    "port": "--port",
    "price": "--price",
    "priority_threshold": "--priority-threshold",
    "rebalance": "--rebalance",
    "replan": "--replan",
    "rolling": "--rolling",
    "round": "--round",
    "round_timeout": "--round-timeout",
    "scheduler": "--scheduler-config",
    "selector": "-l",
    "survive": "--survive",
    "time_limit": "--time-limit",
    "wave": "--wave",
    "wave_timeout": "--wave-timeout",
}
"""What the façade's arguments are called here, as far as its messages speak of them."""
_ARGUMENT = re.compile(r"`(?P<name>\w+)(?:=(?P<value>[^`]*))?`")


def report_error(error: PlannerError) -> int:
    """Something needs the author of the input, or of the command line."""
    help_text = None if error.help is None else _with_flags(error.help)
    told = replace(error, message=_with_flags(error.message), help=help_text)
    _tell(told.render())
    if isinstance(error, RefusedError):
        return NEGATIVE
    return USAGE if isinstance(error, UsageError) else FAILURE


def _with_flags(text: str) -> str:
    """`--time-limit` for `time_limit`, in backticks there; `-n shop` for `namespace=shop`."""

    def flag(found: re.Match[str]) -> str:
        parts = (FLAGS[found["name"]], found["value"]) if found["name"] in FLAGS else (found[0],)
        return " ".join(part for part in parts if part)

    return _ARGUMENT.sub(flag, text)


def report_usage(error: typer.TyperException) -> int:
    """What typer refuses, put like our own messages."""
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "planner"
    _tell(UsageError(message[:1].lower() + message[1:], help=f"{command} --help").render())
    return error.exit_code


def warn(text: str) -> None:
    """Something to know about the answer; lines after the first say more."""
    _tell(f"warning: {_with_flags(text)}")


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
    told = PlannerError(
        f"planner has a bug: {type(error).__name__}: {text}",
        help="please report it with the traceback above" if verbose else "-v shows the traceback",
    )
    _tell(told.render())
    return FAILURE


def _tell(text: str) -> None:
    """Names of the input may be anything: here they are only read, by people and CI logs alike."""
    text = "\n".join(map(visible, text.split("\n")))
    sys.stderr.write(f"{_coloured(text) if _shows_colours(sys.stderr) else text}\n")


def _coloured(text: str) -> str:
    return _MARK.sub(lambda mark: f"{_COLOURS[mark[0]]}{mark[0]}{_RESET}", text)


def _shows_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
