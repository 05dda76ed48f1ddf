"""Options that commands share, so that they mean the same everywhere.

Only names are known here; what they stand for is imported when a command needs it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from planner.cli.errors import UsageError
from planner.cli.session import Session
from planner.examples import examples, fleets
from planner.report.text.files import check_writable
from planner.report.text.formats import Output, PlanOutput

LIST = "list"


def _complete_example(incomplete: str) -> Iterable[tuple[str, str]]:
    every = (*examples(), *fleets())
    return [(e.name, e.description) for e in every if e.name.startswith(incomplete)]


def _list_examples(value: str | None) -> str | None:
    """`--example list` answers by itself."""
    if value == LIST:
        every = (*examples(), *fleets())
        width = max(len(each.name) for each in every)
        typer.echo("\n".join(f"{e.name:<{width}}  {e.description}" for e in every))
        raise typer.Exit
    return value


def _remember_verbose(context: typer.Context, value: bool) -> bool:
    """Known to the session at once, so that errors in other options can show more, too."""
    if value and isinstance(context.obj, Session):
        context.obj.verbose = True
    return value


def _remember_skip_invalid(context: typer.Context, value: bool) -> bool:
    if isinstance(context.obj, Session):
        context.obj.reading = replace(context.obj.reading, skip_invalid=value)
    return value


def _remember_max_input(context: typer.Context, value: str) -> str:
    if isinstance(context.obj, Session) and value != MAX_INPUT_TEXT:
        size = _size(value)
        if size < 1:
            raise UsageError(
                f'--max-input "{value}": SIZE is a number of bytes above 0',
                help=f"such as {MAX_INPUT_TEXT}, which is the default, 500M or 2e9",
            )
        context.obj.reading = replace(context.obj.reading, max_input=size)
    return value


def _size(text: str) -> int:
    """Whole bytes of a quantity; 0 for what is none."""
    from planner_models.quantity import parse_quantity, whole_value

    try:
        return whole_value(parse_quantity(text))
    except ValueError:
        return 0


def _check_report(value: str | None) -> str | None:
    """Before anything is read and planned for minutes."""
    if value is not None:
        check_writable(value)
    return value


Filenames: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE|DIR|-",
        help="Kubernetes objects as YAML or JSON, also gzipped; - is stdin. Repeatable. "
        "Big dumps load many times faster as JSON.",
        show_default=False,
    ),
]

SkipInvalid: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-invalid",
        help="Go on without objects that can't be used; a notice names each of them.",
        callback=_remember_skip_invalid,
        show_default=False,
    ),
]

MaxInput: TypeAlias = Annotated[
    str,
    typer.Option(
        "--max-input",
        metavar="SIZE",
        help="The most text to read from one file, unpacked; more is an error.",
        callback=_remember_max_input,
    ),
]
MAX_INPUT_TEXT = "16Gi"
"""As text what planner.sources.options.MAX_INPUT is as a number."""

Example: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--example",
        metavar="NAME",
        help="A cluster that ships with planner; 'list' names them all.",
        callback=_list_examples,
        autocompletion=_complete_example,
        show_default=False,
    ),
]

OutputFormat: TypeAlias = Annotated[
    Output, typer.Option("--output", "-o", help="How to write the result.", case_sensitive=False)
]

PlanFormat: TypeAlias = Annotated[
    PlanOutput,
    typer.Option(
        "--output",
        "-o",
        help="How to write the result; script is a shell script that carries it out.",
        case_sensitive=False,
    ),
]

AllowJobs: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-jobs",
        help="Evict pods of Jobs, too, where the Job ignores evictions or its backoffLimit "
        "surely allows them.",
    ),
]

AllowOwners: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-owner",
        metavar="KIND",
        help="Trust owners of this kind to bring the same pod back, such as StrimziPodSet. "
        "Repeatable.",
        show_default=False,
    ),
]

ReportFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Write the result as a page with pictures, too: one file that needs no network.",
        callback=_check_report,
        show_default=False,
    ),
]

Verbose: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Say more on stderr; show the traceback of a bug.",
        callback=_remember_verbose,
        is_eager=True,
        show_default=False,
    ),
]
