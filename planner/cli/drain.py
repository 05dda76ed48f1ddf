"""`planner drain`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    AllowOwners,
    Cache,
    Example,
    Filenames,
    IgnoredPlugins,
    MaxInput,
    MaxUnavailable,
    PlanFormat,
    ReportFile,
    SchedulerConfig,
    Seeds,
    SkipInvalid,
    Verbose,
    WaveNumber,
    limit,
    named,
)
from planner.cli.output import show, write_page
from planner.cli.progress import ProgressLine
from planner.cli.workers import Dask, Jobs, chosen_workers
from planner.exit_codes import DONE, INTERRUPTED, NEGATIVE, UNDECIDED
from planner.report.text.formats import PlanOutput


class Failure(StrEnum):
    """Single failures that the rest of a cluster may have to stand."""

    ZONE = "zone"
    NODE = "node"
    NONE = "none"


if TYPE_CHECKING:
    from planner_models.drain import DrainPlan

Nodes = Annotated[
    list[str] | None,
    typer.Argument(metavar="NODE", help="The nodes to empty.", show_default=False),
]
NodeSelector = Annotated[
    str | None,
    typer.Option(
        "--selector",
        "-l",
        metavar="SELECTOR",
        help="Nodes with these labels, such as pool=blue.",
        show_default=False,
    ),
]
Zone = Annotated[str | None, named("--zone", "All nodes of this zone.", "ZONE")]
All = Annotated[bool, typer.Option("--all", help="All nodes.", show_default=False)]
Rolling = Annotated[
    bool,
    typer.Option(
        "--rolling",
        help="In rounds: nodes come back, upgraded and empty, before the next round.",
    ),
]
NodesAtOnce = Annotated[
    int | None, limit("--nodes-at-once", "With --rolling: so many nodes in a round.", 1)
]
ExtraNodes = Annotated[
    int, limit("--extra-nodes", "With --rolling: so many nodes are added first.", 0)
]
RoundNumber = Annotated[
    int | None, limit("--round", "With --rolling: plan and show this round only.", 1)
]
MostNodes = Annotated[
    bool, typer.Option("--most", help="Choose the nodes: as many, or as costly ones, as can go.")
]
Keep = Annotated[
    str | None, named("--keep", "With --most: nodes with these labels stay.", "SELECTOR")
]
SurviveFailure = Annotated[
    Failure,
    typer.Option(
        "--survive", help="With --most: which single failure must leave no pod waiting then."
    ),
]
Price = Annotated[
    str | None,
    named(
        "--price",
        "With --most: what a node costs per hour, or a file with prices by instance type.",
        "N|FILE",
    ),
]
PodSelector = Annotated[
    str | None,
    named("--pod-selector", "Only pods with these labels have to leave.", "SELECTOR"),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Evict pods without a controller, too; nobody makes them anew."),
]
EmptyDir = Annotated[
    bool,
    typer.Option(
        "--delete-emptydir-data", help="Evict pods with emptyDir volumes, too; their data is lost."
    ),
]
Helps = Annotated[
    bool | None,
    typer.Option(
        "--helps/--no-helps",
        help="Where it is impossible, try changes on copies; by default up to 20,000 pods.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", metavar="SECONDS", help="When to stop looking for a way."),
]


def drain(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    nodes: Nodes = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = None,
    cache: Cache = False,
    selector: NodeSelector = None,
    zone: Zone = None,
    every: All = False,
    rolling: Rolling = False,
    nodes_at_once: NodesAtOnce = None,
    extra_nodes: ExtraNodes = 0,
    round_number: RoundNumber = None,
    most: MostNodes = False,
    keep: Keep = None,
    survive: SurviveFailure = Failure.NONE,
    price: Price = None,
    pod_selector: PodSelector = None,
    force: Force = False,
    delete_emptydir_data: EmptyDir = False,
    allow_owners: AllowOwners = None,
    max_unavailable: MaxUnavailable = None,
    helps: Helps = None,
    seeds: Seeds = None,
    wave: WaveNumber = None,
    time_limit: TimeLimit = 60.0,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    jobs: Jobs = None,
    dask: Dask = None,
    output: PlanFormat = PlanOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Empty nodes within budgets: in which waves, or what stands in the way and what helps.

    As kubectl drain --ignore-daemonsets, but it looks where pods go before anything is evicted.
    Nothing is changed: -o script writes a shell script that does it.
    Exit code 3 if it is impossible, or not sure whatever ties kube-scheduler draws, 4 if nothing
    was found and nothing is proven.

    \b
    planner drain node-7
    planner drain -f cluster.json node-7
    planner drain -f cluster.json -l pool=blue -o script
    planner drain --example zone-outage-before --zone eu-1a
    planner drain --example zone-outage-before --all --rolling
    planner drain --example zone-outage-before --most --price 0.2016
    """
    cluster = read_cluster(context, filenames, example)
    with (
        chosen_workers(context, jobs, dask) as workers,
        ProgressLine(sys.stderr, time_limit) as progress,
    ):
        plan = cluster.drain(
            *(nodes or ()),
            selector=selector,
            zone=zone,
            all_nodes=every,
            rolling=rolling,
            nodes_at_once=nodes_at_once,
            extra_nodes=extra_nodes,
            round_number=round_number,
            most=most,
            keep=keep,
            survive=survive.value,
            price=price,
            pod_selector=pod_selector,
            force=force,
            delete_emptydir_data=delete_emptydir_data,
            allow_owners=allow_owners or (),
            max_unavailable=max_unavailable,
            helps=helps,
            seeds=seeds,
            time_limit=time_limit,
            scheduler=scheduler_config,
            ignored_plugins=ignored or (),
            jobs=workers,
            progress=progress,
        )
    write_page(context, plan, report)
    if round_number is not None:
        plan = plan.only_round(round_number)
    show(context, plan if wave is None else plan.only_wave(wave), output)
    return exit_code(plan)


def exit_code(document: DrainPlan) -> int:
    """0: the nodes are empty in the end whatever ties kube-scheduler draws."""
    if document.stopped == "interrupted":
        return INTERRUPTED
    if document.status == "undecided":
        return UNDECIDED
    return DONE if document.status == "possible" and document.converges else NEGATIVE
