"""The options that say which running cluster to read, alike for every command that reads one.

They are added to the commands here, so that no command has to repeat them: what was given is in the
session.
"""

from __future__ import annotations

import inspect
import os
import stat
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import planner
from planner.cli.options import named, option_names
from planner.cli.session import session_of

if TYPE_CHECKING:
    from planner import Live

Command = Callable[..., int | None]


def _options(  # noqa: PLR0913, PLR0917 - the options themselves
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Read the running cluster of kubectl's current context, which is so without -f "
            "anyway; with -f, put the files on top of it as kubectl apply would.",
            show_default=False,
        ),
    ] = False,
    kube_context: Annotated[
        str | None, named("--context", "The context of the kubeconfig to read.", "NAME")
    ] = None,
    kubeconfig: Annotated[str | None, named("--kubeconfig", "Another kubeconfig.", "FILE")] = None,
    as_user: Annotated[str | None, named("--as", "Read as this user.", "USER")] = None,
    as_groups: Annotated[
        list[str] | None, named("--as-group", "And as one of this group. Repeatable.", "GROUP")
    ] = None,
    request_timeout: Annotated[
        str | None,
        named("--request-timeout", "What one request may take, such as 5m. [default: 60s]", "TIME"),
    ] = None,
    max_age: Annotated[
        str | None,
        named(
            "--max-age",
            "Take what was read of the cluster before, if it is not older than this, such as 10m. "
            "Not with -f.",
            "TIME",
        ),
    ] = None,
    in_cluster: Annotated[
        bool,
        typer.Option(
            "--in-cluster",
            help="In a pod: read its own cluster with its service account.",
            show_default=False,
        ),
    ] = False,
) -> None:
    """The options themselves."""


_PARAMETERS = tuple(inspect.signature(_options, eval_str=True).parameters.values())
_IMPERSONATION = ("as_user", "as_groups")
_OF_READERS = ("live", "max_age")
"""For commands that may read files, too."""


def with_live_options(command: Command) -> Command:
    """The same command, which can read running clusters, too.

    Where `--as` is a word of the command's own, as in questions about lost nodes, the login is the
    kubeconfig's alone.
    """
    own = inspect.signature(command, eval_str=True)
    taken = any("--as" in option_names(each) for each in own.parameters.values())
    reads_files = "example" in own.parameters
    left_out = (*(_IMPERSONATION if taken else ()), *(() if reads_files else _OF_READERS))
    added = [each for each in _PARAMETERS if each.name not in left_out]

    @wraps(command)
    def run(**given: Any) -> int | None:
        session_of(given["context"]).live = {each.name: given.pop(each.name) for each in added}
        return command(**given)

    parameters = list(own.parameters.values())
    before = (i for i, each in enumerate(parameters) if each.name == "example")
    at = next(before, len(parameters) - 2) + 1
    run.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*parameters[:at], *added, *parameters[at:]]
    )
    return run


def live_of(context: typer.Context, *, files: bool) -> Live | None:
    """The running cluster that is meant; None if it is files, an example, or what is piped in.

    Options that choose a cluster mean one; without -f, so do -n and -A, and being called as a
    plugin of kubectl, or having nobody on stdin who could give another one. Otherwise stdin is not
    even looked at: it may be the input of the loop that planner is called in.
    """
    given = dict(session_of(context).live)
    namespace = context.params.get("namespace")
    chosen = given.pop("live", False) or any(given.values())
    if not chosen:
        if files:
            return None
        part = namespace is not None or context.params.get("all_namespaces")
        if not (part or session_of(context).plugin or _nobody_on_stdin()):
            return None
    return live_given(context)


def live_given(context: typer.Context) -> Live:
    """The running cluster that the options choose; without any, that of the current context."""
    given, namespace = session_of(context).live, context.params.get("namespace")
    return planner.Live(
        context=given.get("kube_context"),
        kubeconfig=given.get("kubeconfig"),
        namespace=namespace,
        as_user=given.get("as_user"),
        as_groups=tuple(given.get("as_groups") or ()),
        request_timeout=given.get("request_timeout"),
        in_cluster=bool(given.get("in_cluster")),
        max_age=given.get("max_age"),
    )


def _nobody_on_stdin() -> bool:
    """A terminal, /dev/null, or nothing at all."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return True
    try:
        found = os.fstat(sys.stdin.fileno())
    except OSError:
        return False
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == Path(os.devnull).stat().st_rdev
