"""`planner inspect`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner.cli.errors import UsageError, quiet_when_nobody_reads
from planner.cli.input import read_cluster
from planner.cli.options import Example, Filenames, OutputFormat, Verbose
from planner.report.text.formats import Output

DRAWN = (Output.TABLE, Output.WIDE)

Map = Annotated[
    bool,
    typer.Option("--map", help="Draw the cluster: zones, nodes, a letter per pod."),
]


def inspect(
    context: typer.Context,
    filenames: Filenames = None,
    example: Example = None,
    drawn: Map = False,
    output: OutputFormat = Output.TABLE,
    verbose: Verbose = False,
) -> int:
    """Show what was loaded: nodes, workloads, utilisation, spread.

    \b
    kubectl get nodes,pods,deploy,rs,sts,pdb -A -o json | planner inspect
    planner inspect -f cluster.json -o wide
    planner inspect --example zone-outage --map
    """
    if drawn and output not in DRAWN:
        raise UsageError(
            f"--map is drawn as text, and -o {output} is none",
            help="-o markdown has a graph of its own; -o json holds what is counted",
        )
    cluster = read_cluster(context, filenames, example)
    from planner.documents.inspection import inspect_cluster
    from planner.report.emit import Origin, emit
    from planner.report.tables import inspect_table
    from planner.report.tables.cluster_map import MapTexts

    texts = MapTexts(cluster) if drawn else inspect_table
    origin = Origin("planner inspect", filenames or (), cluster)
    with quiet_when_nobody_reads():
        emit(inspect_cluster(cluster), output, texts, sys.stdout, origin)
    return 0
