"""`planner scale-up`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    MOST_SEEDS,
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
    limit,
    named,
)
from planner.cli.output import show
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED
from planner.report.text.formats import Output

if TYPE_CHECKING:
    from planner_models.node_plan import NodePlan

MOST_BATCHES = 4
Pools = Annotated[
    list[str] | None,
    named(
        "--pools",
        "Nodes that could be added: Node objects as templates (annotations planner/price, "
        "planner/zones, planner/min, planner/max), cluster-api MachineDeployments, Karpenter "
        "NodePools with a table of InstanceTypes (sample-instance-types is planner's own). "
        "Repeatable.",
        "FILE|DIR",
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="price|nodes|cpu",
        help="What to save; the price if pools have one, else CPU.",
        show_default=False,
    ),
]
KeepRollouts = Annotated[
    bool,
    typer.Option(
        "--keep-rollouts/--no-keep-rollouts",
        help="Take no nodes with which a rollout gets stuck that completes today.",
    ),
]
Survive = Annotated[
    str,
    typer.Option(
        "--survive",
        metavar="zone|node|none",
        help="Enough nodes that nobody waits if any single one of these fails and is removed.",
    ),
]
Zones = Annotated[
    str,
    typer.Option(
        "--zones",
        metavar="given|used",
        help="Whether every zone of the pools gets a node: spread counts only zones with one.",
    ),
]
Moves = Annotated[
    int | None,
    limit(
        "--moves",
        "Up to so many running pods may move, too, if that saves nodes; without it the answer "
        "says if a few would, 0 looks for none.",
    ),
]
Batches = Annotated[
    int,
    limit(
        "--batches",
        "Nodes may come in up to so many batches, each when the one before is full, if that costs "
        "less than all at once.",
        1,
        MOST_BATCHES,
    ),
]
Compare = Annotated[
    bool,
    typer.Option(
        "--compare/--no-compare",
        help="Show what Karpenter and cluster-autoscaler would add, by their published rules.",
    ),
]
Seeds = Annotated[
    int, limit("--seeds", "Tie seeds under which the nodes must be filled.", 1, MOST_SEEDS)
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", metavar="SECONDS", help="When to stop looking for a proof."),
]


def scale_up(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    pools: Pools = None,
    objective: Objective = None,
    keep_rollouts: KeepRollouts = True,
    survive: Survive = "none",
    zones: Zones = "used",
    moves: Moves = None,
    batches: Batches = 1,
    seeds: Seeds = 6,
    compare: Compare = True,
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
    """Find the cheapest nodes to add for the pods that wait.

    Only nodes count that kube-scheduler then fills by itself, whatever ties it draws.
    Nothing is changed: -o yaml writes the nodes as Node objects.
    Exit code 3 if a pod can't run with any of these nodes, 4 if the nodes are not proven the
    cheapest.

    \b
    planner scale-up --pools pools.yaml
    planner scale-up -f cluster.json --pools pools.yaml
    planner scale-up -f cluster.json --pools pools.yaml deploy/api
    planner scale-up -f cluster.json --pools pools.yaml --moves 5
    planner scale-up -f cluster.json --pools pools.yaml --batches 2
    """
    cluster = read_cluster(context, filenames, example)
    plan = cluster.scale_up(
        *(targets or ()),
        pools=pools or (),
        objective=objective,
        keep_rollouts=keep_rollouts,
        survive=survive,
        zones=zones,
        moves=moves,
        batches=batches,
        seeds=seeds,
        compare=compare,
        time_limit=time_limit,
        namespace=namespace,
        all_namespaces=all_namespaces,
        selector=selector,
        scheduler=scheduler,
        ignored_plugins=ignored_plugins or (),
    )
    show(context, plan, output, report)
    return exit_code(plan)


def exit_code(document: NodePlan) -> int:
    """0: everybody runs, and no cheaper nodes do."""
    if document.never or document.status == "impossible":
        return NEGATIVE
    return DONE if document.status == "optimal" else UNDECIDED
