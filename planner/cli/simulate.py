"""`planner simulate`."""

from __future__ import annotations

from enum import StrEnum
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
    OutputFormat,
    ReportFile,
    SchedulerConfig,
    Selector,
    SkipInvalid,
    Targets,
    Verbose,
    named,
)
from planner.cli.output import show
from planner.cli.session import session_of
from planner.exit_codes import DONE, NEGATIVE
from planner.report.text.formats import Output

DETAILED = (Output.JSON, Output.YAML, Output.WIDE)


class Ties(StrEnum):
    """Which of the nodes with the highest score are named."""

    SOME = "some"
    ALL = "all"


Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        help="How ties are broken: 0 takes the first node by name, any other number draws one "
        "as kube-scheduler does.",
    ),
]
WhichTies = Annotated[
    Ties, typer.Option("--ties", help="Name every node that kube-scheduler could have chosen.")
]
Preempt = Annotated[
    bool,
    typer.Option(
        "--preempt", help="Carry preemption out: victims leave, nominated pods are tried again."
    ),
]
Sampling = Annotated[
    bool,
    typer.Option(
        "--sampling", help="Look at a part of the nodes, as kube-scheduler does above 100 nodes."
    ),
]
ExplainedNode = Annotated[
    str | None,
    named("--explain-node", "Show verdict and scores of this node for every pod.", "NODE"),
]
Details = Annotated[
    bool,
    typer.Option(
        "--details/--no-details", help="Every verdict and score in json and yaml, or only results."
    ),
]
OutFile = Annotated[
    str | None,
    named("--out", "Write the resulting cluster, as JSON for the next command.", "FILE"),
]


def simulate(  # noqa: PLR0913, PLR0917 - the options of the command
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
    seed: Seed = 0,
    ties: WhichTies = Ties.SOME,
    preempt: Preempt = False,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    sampling: Sampling = False,
    explain_node: ExplainedNode = None,
    details: Details = True,
    out: OutFile = None,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Show what kube-scheduler would do with the pending pods, and why.

    Exit code 3 if a pod stays unschedulable.

    \b
    planner simulate --live -f web.yaml
    planner simulate -f cluster.json
    planner simulate -f cluster.json -f scaled.yaml -o wide
    planner simulate --example docs-conflicting-constraints pod/mypod
    """
    cluster = read_cluster(context, filenames, example, keep_objects=out is not None)
    found = cluster.simulate(
        *(targets or ()),
        namespace=namespace,
        all_namespaces=all_namespaces,
        selector=selector,
        seed=seed,
        preempt=preempt,
        sampling=sampling,
        node=explain_node,
        details=details and (output in DETAILED or explain_node is not None),
        all_ties=ties is Ties.ALL,
        scheduler=scheduler_config,
        ignored_plugins=ignored or (),
    )
    session_of(context).tell(f"tried {found.summary.pods} pods")
    if out is not None:
        found.after.write(out)
    show(context, found, output, report)
    return NEGATIVE if found.summary.unschedulable else DONE
