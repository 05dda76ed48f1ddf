"""Options that commands share, so that they mean the same everywhere.

Only names are known here; what they stand for is imported when a command needs it.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import Parameter
from pathlib import PurePath
from typing import Annotated, Any, TypeAlias, get_args, get_origin

import typer

from planner.cli.session import Session
from planner.errors import UsageError
from planner.examples import examples, fleets
from planner.report.text.files import check_writable
from planner.report.text.formats import Output, PlanOutput

LIST = "list"
PAGES = (".html", ".htm")
MOST_SEEDS = 10_000


def named(name: str, help_text: str, metavar: str | None = None, **more: Any) -> Any:
    """An option with a value, which has no default that anybody would want to see."""
    return typer.Option(name, metavar=metavar, help=help_text, show_default=False, **more)


def option_names(parameter: Parameter) -> tuple[str, ...]:
    """What an option is called on the command line; none if the parameter is an argument."""
    if get_origin(parameter.annotation) is not Annotated:
        return ()
    told = get_args(parameter.annotation)[1]
    # The first name is where typer has a default, until it reads the annotation.
    first = (told.default,) if str(told.default).startswith("-") else ()
    return (*first, *(getattr(told, "param_decls", None) or ()))


def limit(name: str, help_text: str, least: int = 0, most: int | None = None) -> Any:
    """A whole number; without the option there is no limit."""
    return named(name, help_text, "N", min=least, max=most)


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
        context.obj.skip_invalid = value
    return value


def _remember_max_input(context: typer.Context, value: str | None) -> str | None:
    if isinstance(context.obj, Session):
        context.obj.max_input = value
    return value


def _remember_cache(context: typer.Context, value: bool) -> bool:
    if isinstance(context.obj, Session):
        context.obj.cache = value
    return value


def _check_report(value: str | None) -> str | None:
    """Before anything is read and planned for minutes."""
    if value is not None:
        check_writable(value)
        if not value.lower().endswith(PAGES):
            raise UsageError(
                f"--report writes a page, and {value} is not the name of one",
                help=f"{PurePath(value).with_suffix('.html')}; browsers print it as PDF",
            )
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
Example: TypeAlias = Annotated[
    str | None,
    named(
        "--example",
        "A cluster that ships with planner; 'list' names them all.",
        "NAME",
        callback=_list_examples,
        autocompletion=_complete_example,
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
    str | None,
    named(
        "--max-input",
        "The most text to read from one file, unpacked; more is an error. [default: 16Gi]",
        "SIZE",
        callback=_remember_max_input,
    ),
]
Cache: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--cache",
        help="Keep what was read of the files, and start from it while their content is the same.",
        callback=_remember_cache,
        show_default=False,
    ),
]
_NAMES = "name lists pod/web-1, and deploy/web where planner made the pods itself from a template"
OutputFormat: TypeAlias = Annotated[
    Output,
    typer.Option(
        "--output", "-o", help=f"How to write the result; {_NAMES}.", case_sensitive=False
    ),
]
PlanFormat: TypeAlias = Annotated[
    PlanOutput,
    typer.Option(
        "--output",
        "-o",
        help=f"How to write the result; script is a shell script that carries it out, {_NAMES}.",
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
    named(
        "--allow-owner",
        "Trust owners of this kind to bring the same pod back, such as StrimziPodSet. Repeatable.",
        "KIND",
    ),
]

ReportFile: TypeAlias = Annotated[
    str | None,
    named(
        "--report",
        "Write the result as a page with pictures, too: one file that needs no network.",
        "FILE.html",
        callback=_check_report,
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
Targets: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Pods and workloads that it is about, as for kubectl: pod/web-1, deploy/web, "
        "deploy web api, or a pod's bare name; without any, all.",
        show_default=False,
    ),
]
Namespace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="Where the targets are, by default in namespace default, or that of the context of a "
        "running cluster; without targets, only pods of this namespace.",
        show_default=False,
    ),
]
AllNamespaces: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--all-namespaces",
        "-A",
        help="Targets of every namespace; without targets and -n that is so anyway.",
        show_default=False,
    ),
]
Selector: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--selector",
        "-l",
        metavar="SELECTOR",
        help="Only pods with these labels, such as app=web or 'tier in (a,b)'.",
        show_default=False,
    ),
]
SchedulerConfig: TypeAlias = Annotated[
    str | None,
    named(
        "--scheduler-config",
        "A KubeSchedulerConfiguration; one in the input counts, too.",
        "FILE",
    ),
]
IgnoredPlugins: TypeAlias = Annotated[
    list[str] | None,
    named(
        "--ignore-plugin", "Go on without a plugin that planner can't model. Repeatable.", "NAME"
    ),
]
MaxUnavailable: TypeAlias = Annotated[
    int | None,
    limit("--max-unavailable", "Have no more pods down at once; budgets hold in any case.", 1),
]
Seeds: TypeAlias = Annotated[
    int | None,
    limit(
        "--seeds",
        "Tie seeds and orders of arrival to try; 20, fewer for very large plans.",
        1,
        MOST_SEEDS,
    ),
]
WaveNumber: TypeAlias = Annotated[int | None, limit("--wave", "Show this wave only.", 1)]
NewNodePools = Annotated[
    list[str] | None,
    named(
        "--pools",
        "Nodes that could be added, as for scale-up: which of them to add, and what they cost. "
        "Repeatable.",
        "FILE|DIR",
    ),
]
