"""`planner whatif`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    Cache,
    Example,
    Filenames,
    IgnoredPlugins,
    MaxInput,
    PlanFormat,
    ReportFile,
    SchedulerConfig,
    SkipInvalid,
    Verbose,
    named,
)
from planner.cli.output import show
from planner.cli.progress import ProgressLine
from planner.cli.workers import Dask, Jobs, chosen_workers
from planner.exit_codes import DONE, INTERRUPTED, NEGATIVE, UNDECIDED
from planner.report.text.formats import PlanOutput


class As(StrEnum):
    """What becomes of the objects of nodes that fail."""

    UNREACHABLE = "unreachable"
    REMOVED = "removed"
    BOTH = "both"


Lose = Annotated[
    list[str] | None,
    named(
        "--lose",
        "These nodes fail; repeatable: together.",
        "NODE|zone/NAME|KEY=VALUE",
    ),
]
Manner = Annotated[
    As,
    typer.Option(
        "--as",
        help="Nodes that fail stay as silent objects, or are removed from the cluster.",
    ),
]
Each = Annotated[
    list[str] | None,
    named(
        "--each",
        "Every domain of the key fails alone, a line for each class of outcomes. Repeatable.",
        "zone|node|KEY",
    ),
]
Pairs = Annotated[
    bool,
    typer.Option("--pairs", help="With --each: every two of them fail at once, up to 200 pairs."),
]
Cordoned = Annotated[
    list[str] | None,
    named("--cordon", "No new pod comes to these nodes. Repeatable.", "NODE|zone/NAME|KEY=VALUE"),
]
Scaled = Annotated[
    list[str] | None,
    named("--scale", "As kubectl scale, up or down. Repeatable.", "KIND/NAME=N"),
]
Applied = Annotated[
    list[str] | None,
    named(
        "--apply",
        "Manifests over the cluster, as kubectl apply: new, changed or scaled. Repeatable.",
        "FILE|DIR",
    ),
]
Added = Annotated[
    list[str] | None,
    named("--add-nodes", "N nodes like the Node objects of a file. Repeatable.", "FILE[=N]"),
]
Preempt = Annotated[
    bool, typer.Option("--preempt", help="Pods of lower priority give way to higher ones.")
]
Seeds = Annotated[
    int | None,
    named(
        "--seeds",
        "Draws of ties to try. [default: 20, fewer where one takes long]",
        "N",
        min=1,
    ),
]
OutFile = Annotated[
    str | None,
    named(
        "--out",
        "Write the cluster as it is in the end, as JSON for the next command.",
        "FILE",
    ),
]
InNamespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="Where the workloads of --scale are.",
        show_default=False,
    ),
]


def whatif(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = None,
    cache: Cache = False,
    lose: Lose = None,
    each: Each = None,
    pairs: Pairs = False,
    manner: Manner = As.BOTH,
    cordon: Cordoned = None,
    scale: Scaled = None,
    apply: Applied = None,
    add_nodes: Added = None,
    namespace: InNamespace = None,
    preempt: Preempt = False,
    seeds: Seeds = None,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    out: OutFile = None,
    jobs: Jobs = None,
    dask: Dask = None,
    output: PlanFormat = PlanOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Show what happens by itself when nodes fail or something is changed.

    Changes are made in this order: --apply, --scale, --add-nodes, --cordon; then nodes fail.
    Exit code 3 if a pod that runs now does not run then or hard spread is broken by more pods, 4 if
    that depends on ties. With --each only pods that do not run matter. -o script writes the
    annotations that make a scale-down leave spread intact.

    \b
    planner whatif --lose zone/eu-1c
    planner whatif -f cluster.json --lose zone/eu-1c
    planner whatif -f cluster.json --apply deploy/ --lose node-1 --lose node-2
    planner whatif -f cluster.json --each zone --each node
    planner whatif -f cluster.json --scale deploy/web=30 --preempt
    """
    keep = out is not None or bool(apply)
    cluster = read_cluster(context, filenames, example, keep_objects=keep)
    with (
        chosen_workers(context, jobs, dask) as workers,
        ProgressLine(sys.stderr) as progress,
    ):
        found = cluster.whatif(
            lose=lose or (),
            each=each or (),
            pairs=pairs,
            manner=manner.value,
            cordon=cordon or (),
            scale=scale or (),
            apply=apply or (),
            add_nodes=add_nodes or (),
            namespace=namespace,
            preempt=preempt,
            seeds=seeds,
            scheduler=scheduler_config,
            ignored_plugins=ignored or (),
            jobs=workers,
            progress=progress,
        )
    if out is not None:
        found.after.write(out)
    show(context, found, output, report)
    if found.stopped == "interrupted":
        return INTERRUPTED
    return {"same": DONE, "worse": NEGATIVE, "undecided": UNDECIDED}[found.answer]
