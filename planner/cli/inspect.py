"""`planner inspect`."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    AllNamespaces,
    Cache,
    Example,
    Filenames,
    MaxInput,
    Namespace,
    OutputFormat,
    ReportFile,
    Selector,
    SkipInvalid,
    Targets,
    Verbose,
)
from planner.cli.output import show
from planner.errors import UsageError
from planner.exit_codes import DONE
from planner.report.text.formats import Output

DRAWN = (Output.TABLE, Output.WIDE)

Map = Annotated[
    bool,
    typer.Option("--map", help="Draw the cluster: zones, nodes, a letter per pod."),
]


def inspect(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = None,
    cache: Cache = False,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = None,
    drawn: Map = False,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Show what was loaded: nodes, workloads, utilisation, spread.

    \b
    planner inspect
    kinds=nodes,pods,deploy,rs,sts,ds,jobs,cronjobs,rc,svc,pdb,pv,pvc,sc,pc,ns
    kinds=$kinds,limits,quota,hpa,csinodes,csidrivers,csistoragecapacities,volumeattachments
    kubectl get $kinds -A -o json > cluster.json
    planner inspect -f cluster.json -o wide
    planner inspect --example zone-outage --map
    """
    if drawn and output not in DRAWN:
        raise UsageError(
            f"--map is drawn as text, and -o {output} is none",
            help="-o markdown has a graph of its own; -o json holds what is counted",
        )
    cluster = read_cluster(context, filenames, example)
    found = cluster.inspect(
        *(targets or ()),
        namespace=namespace,
        all_namespaces=all_namespaces,
        selector=selector,
    )
    show(context, found.as_map() if drawn else found, output, report)
    return DONE
