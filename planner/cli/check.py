"""`planner check`."""

from __future__ import annotations

from typing import Annotated

import typer

import planner
from planner.cli.errors import warn
from planner.cli.live_options import live_of
from planner.cli.options import (
    Cache,
    Example,
    IgnoredPlugins,
    MaxInput,
    OutputFormat,
    ReportFile,
    SchedulerConfig,
    Verbose,
    named,
)
from planner.cli.output import show
from planner.cli.session import session_of
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED
from planner.report.text.formats import Output

Manifests = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE|DIR|-",
        help="The manifests to check; - is stdin, such as helm template. Repeatable.",
        show_default=False,
    ),
]
Against = Annotated[
    list[str] | None,
    named(
        "--against",
        "The cluster that the manifests would be applied to, as a dump; without it everything "
        "in the input is checked against itself. Repeatable.",
        "FILE|DIR",
    ),
]
Rules = Annotated[list[str] | None, named("--rule", "Only this rule. Repeatable.", "ID")]
Skip = Annotated[list[str] | None, named("--skip", "All rules but this one. Repeatable.", "ID")]
FailOn = Annotated[
    str,
    typer.Option("--fail-on", metavar="error|warning|note|never", help="What exit code 3 is for."),
]
Survive = Annotated[
    str,
    typer.Option("--survive", metavar="zone|node|none", help="Single failures to try."),
]
Seeds = Annotated[
    int, typer.Option("--seeds", metavar="N", min=1, help="Draws of ties that are simulated.")
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", help="For searches, each.")
]
Baseline = Annotated[
    str | None,
    named("--baseline", "Findings that are known and accepted: an earlier -o json.", "FILE"),
]


def check(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    filenames: Manifests = None,
    against: Against = None,
    example: Example = None,
    rules: Rules = None,
    skip: Skip = None,
    fail_on: FailOn = "error",
    survive: Survive = "zone",
    seeds: Seeds = 20,
    time_limit: TimeLimit = 60.0,
    baseline: Baseline = None,
    max_input: MaxInput = None,
    cache: Cache = False,
    scheduler: SchedulerConfig = None,
    ignored_plugins: IgnoredPlugins = None,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Find what is wrong with manifests by trying them on a cluster.

    Exit code 3 if something is as bad as --fail-on says, 4 if a rule that may be as bad is
    undecided.

    \b
    planner check -f deploy/ --live
    planner check -f deploy/ --against cluster.json
    helm template . | planner check -f - --against cluster.json -o sarif
    planner check --example zone-outage-before
    """
    live = live_of(context, files=bool(filenames or against) or example is not None)
    if not (filenames or against or live) and example is None:
        filenames = ["-"]
    found = planner.check(
        filenames or (),
        against=against or (),
        example=example,
        rules=rules or (),
        skip=skip or (),
        survive=survive,
        seeds=seeds,
        time_limit=time_limit,
        baseline=baseline,
        scheduler=scheduler,
        ignored_plugins=ignored_plugins or (),
        max_input=session_of(context).max_input,
        cache=cache,
        live=live or False,
    )
    for text in found.warnings:
        warn(text)
    show(context, found, output, report)
    if found.fails(fail_on):
        return NEGATIVE
    return UNDECIDED if found.undecided(fail_on) else DONE
