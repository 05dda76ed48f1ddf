"""`planner capacity`."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    AllNamespaces,
    Cache,
    Example,
    Filenames,
    IgnoredPlugins,
    MaxInput,
    Namespace,
    NewNodePools,
    OutputFormat,
    ReportFile,
    SchedulerConfig,
    Selector,
    SkipInvalid,
    Targets,
    Verbose,
    limit,
    named,
)
from planner.cli.output import show
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED
from planner.report.text.formats import Output

Pods = Annotated[
    list[str] | None,
    named(
        "--pod",
        "Pods, Deployments or Jobs that don't exist yet; several are counted as a mix in the "
        "ratio of their replicas. Repeatable.",
        "FILE",
    ),
]
Moves = Annotated[
    str | None,
    named(
        "--moves",
        "What so many moves of other pods would add; 0 leaves it out, any is the default for one "
        "workload.",
        "N|any",
    ),
]
By = Annotated[
    str | None,
    named("--by", "Show where they go by these domains.", "zone|node|pool|KEY"),
]
Survive = Annotated[
    str,
    typer.Option(
        "--survive",
        metavar="zone|node|none",
        help="How many more still stand the loss of any of these.",
    ),
]
As = Annotated[
    str,
    typer.Option("--as", metavar="removed|unreachable", help="What becomes of the lost nodes."),
]
UpTo = Annotated[int, limit("--up-to", "Count no further than this.", 1)]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", help="For plans with moves, about.")
]


def capacity(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    pods: Pods = None,
    moves: Moves = None,
    survive: Survive = "zone",
    manner: As = "removed",
    up_to: UpTo = 10_000,
    by: By = None,
    pools: NewNodePools = None,
    time_limit: TimeLimit = 60.0,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = None,
    cache: Cache = False,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = None,
    scheduler: SchedulerConfig = None,
    ignored_plugins: IgnoredPlugins = None,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Count how many more pods fit, and say what stops the next one.

    Exit code 3 if not a single one fits now, 4 if the best choice of nodes is not known.

    \b
    planner capacity                                     # of the running cluster
    planner capacity -f cluster.json                     # a line per workload
    planner capacity -f cluster.json deploy/api          # one in full
    planner capacity -f cluster.json --pod train.yaml    # pods that don't exist yet
    """
    cluster = read_cluster(context, filenames, example)
    found = cluster.capacity(
        *(targets or ()),
        pods=pods or (),
        namespace=namespace,
        all_namespaces=all_namespaces,
        selector=selector,
        moves=moves,
        survive=survive,
        manner=manner,
        up_to=up_to,
        by=by,
        pools=pools or (),
        time_limit=time_limit,
        scheduler=scheduler,
        ignored_plugins=ignored_plugins or (),
    )
    show(context, found, output, report)
    if not found.fits:
        return NEGATIVE
    return UNDECIDED if found.undecided else DONE
