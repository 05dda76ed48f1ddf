"""`planner simulate`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.errors import quiet_when_nobody_reads, warn_of_skipped
from planner.cli.input import input_paths, read_cluster, require_nodes
from planner.cli.options import (
    MAX_INPUT_TEXT,
    Example,
    Filenames,
    MaxInput,
    OutputFormat,
    ReportFile,
    SkipInvalid,
    Verbose,
)
from planner.cli.session import session_of
from planner.report.text.formats import Output

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.sources.read import Document

NEGATIVE = 3
DETAILED = (Output.JSON, Output.YAML, Output.WIDE)


class Ties(StrEnum):
    """Which of the nodes with the highest score are named."""

    SOME = "some"
    ALL = "all"


Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="POD|WORKLOAD",
        help="web-1, pod/web-1, deploy/web; without any, all pending pods.",
        show_default=False,
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="Of the pods and workloads named.", show_default=False),
]
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
SchedulerConfig = Annotated[
    str | None,
    typer.Option(
        "--scheduler-config",
        metavar="FILE",
        help="A KubeSchedulerConfiguration; one in the input counts, too.",
        show_default=False,
    ),
]
IgnoredPlugins = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore-plugin",
        metavar="NAME",
        help="Go on without a plugin that planner can't model. Repeatable.",
        show_default=False,
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
    typer.Option(
        "--explain-node",
        metavar="NODE",
        help="Show verdict and scores of this node for every pod.",
        show_default=False,
    ),
]
Details = Annotated[
    bool,
    typer.Option(
        "--details/--no-details", help="Every verdict and score in json and yaml, or only results."
    ),
]
OutFile = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the resulting cluster, as JSON for the next command.",
        show_default=False,
    ),
]


def simulate(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = MAX_INPUT_TEXT,
    namespace: Namespace = None,
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
    planner simulate -f cluster.json
    planner simulate -f cluster.json -f scaled.yaml -o wide
    planner simulate --example docs-conflicting-constraints pod/mypod
    """
    from planner.cli.scheduler_config import read_profiles
    from planner.cli.targets import find_pods
    from planner.cluster import build_cluster
    from planner.documents.simulation import SimulationOptions, simulation_of
    from planner.report.cluster_file import write_cluster
    from planner.report.emit import Origin, emit
    from planner.report.tables import simulation_table
    from planner.sources.load import load_documents
    from planner.sources.read import RawDocument, read_paths

    paths = input_paths(context.command_path, filenames, example, sys.stdin.isatty())
    session = session_of(context)
    documents: list[Document] = []
    if out is None:
        inventory, cluster = read_cluster(context, paths)
    else:
        documents.extend(read_paths(paths, sys.stdin.buffer, session.reading))
        inventory = load_documents(documents, session.reading)
        warn_of_skipped(inventory.notices)
        cluster = build_cluster(inventory)
    require_nodes(cluster)
    profiles = read_profiles(inventory, scheduler_config, ignored or ())
    pods = find_pods(cluster, targets, namespace, "simulate") if targets else None
    options = SimulationOptions(
        seed=seed,
        preempt=preempt,
        sampling=sampling,
        details=details and (output in DETAILED or explain_node is not None),
        all_ties=ties is Ties.ALL,
        node=None if explain_node is None else _node(cluster, explain_node),
    )
    document, final = simulation_of(cluster, profiles, options, pods)
    session.tell(f"tried {document.summary.pods} pods")
    if out is not None:
        kept = [each for each in documents if isinstance(each, RawDocument)]
        write_cluster(out, kept, final)
    if report is not None:
        from planner.report.html.render import write_report
        from planner.report.html.simulate_page import simulate_page

        write_report(report, simulate_page(cluster, document))
    with quiet_when_nobody_reads():
        origin = Origin("planner simulate", filenames or (), cluster)
        emit(document, output, simulation_table, sys.stdout, origin)
    return NEGATIVE if document.summary.unschedulable else 0


def _node(cluster: Cluster, name: str) -> int:
    from difflib import get_close_matches

    from planner.sources.errors import SourceError

    index = cluster.node_index.get(name)
    if index is None:
        close = get_close_matches(name, cluster.node_index, n=1)
        help_text = f"did you mean {close[0]}?" if close else None
        raise SourceError(f"there is no node {name}", help=help_text)
    return index
