"""`planner inspect`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner.cli.errors import UsageError, quiet_when_nobody_reads
from planner.cli.input import input_paths, read_cluster
from planner.cli.options import (
    MAX_INPUT_TEXT,
    Example,
    Filenames,
    MaxInput,
    OutputFormat,
    SkipInvalid,
    Verbose,
)
from planner.report.text.formats import Output

DRAWN = (Output.TABLE, Output.WIDE)

Map = Annotated[
    bool,
    typer.Option("--map", help="Draw the cluster: zones, nodes, a letter per pod."),
]


def inspect(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = MAX_INPUT_TEXT,
    drawn: Map = False,
    output: OutputFormat = Output.TABLE,
    verbose: Verbose = False,
) -> int:
    """Show what was loaded: nodes, workloads, utilisation, spread.

    \b
    kinds=nodes,pods,deploy,rs,sts,ds,jobs,rc,svc,pdb,pv,pvc,sc,pc,ns,limits
    kinds=$kinds,csinodes,csidrivers,csistoragecapacities,volumeattachments
    kubectl get $kinds -A -o json > cluster.json
    planner inspect -f cluster.json -o wide
    planner inspect --example zone-outage --map
    """
    if drawn and output not in DRAWN:
        raise UsageError(
            f"--map is drawn as text, and -o {output} is none",
            help="-o markdown has a graph of its own; -o json holds what is counted",
        )
    paths = input_paths(context.command_path, filenames, example, sys.stdin.isatty())
    _, cluster = read_cluster(context, paths)
    from planner.documents.inspection import inspect_cluster
    from planner.report.emit import Origin, emit
    from planner.report.tables import inspect_table
    from planner.report.tables.cluster_map import MapTexts

    texts = MapTexts(cluster) if drawn else inspect_table
    origin = Origin("planner inspect", filenames or (), cluster)
    with quiet_when_nobody_reads():
        emit(inspect_cluster(cluster), output, texts, sys.stdout, origin)
    return 0
