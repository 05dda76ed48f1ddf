"""`planner inspect`."""

from __future__ import annotations

import sys

import typer

from planner.cli.errors import quiet_when_nobody_reads
from planner.cli.input import read_cluster
from planner.cli.options import Example, Filenames, OutputFormat, Verbose
from planner.report.formats import Output


def inspect(
    context: typer.Context,
    filenames: Filenames = None,
    example: Example = None,
    output: OutputFormat = Output.TABLE,
    verbose: Verbose = False,
) -> int:
    """Show what was loaded: nodes, workloads, utilisation, spread.

    \b
    kubectl get nodes,pods,deploy,rs,sts,pdb -A -o json | planner inspect
    planner inspect -f cluster.json -o wide
    planner inspect --example zone-outage
    """
    cluster = read_cluster(context, filenames, example)
    from planner.report import inspect_table
    from planner.report.emit import emit
    from planner.report.inspection import inspect_cluster

    with quiet_when_nobody_reads():
        emit(inspect_cluster(cluster), output, inspect_table, sys.stdout)
    return 0
