"""`planner drain`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    AllowOwners,
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
    named,
)
from planner.cli.output import show, write_page
from planner.cli.progress import ProgressLine
from planner.exit_codes import DONE, INTERRUPTED, NEGATIVE, UNDECIDED
from planner.report.text.formats import PlanOutput

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
    selector: NodeSelector = None,
    zone: Zone = None,
    every: All = False,
    pod_selector: PodSelector = None,
    force: Force = False,
    delete_emptydir_data: EmptyDir = False,
    allow_owners: AllowOwners = None,
    max_unavailable: MaxUnavailable = None,
    seeds: Seeds = None,
    wave: WaveNumber = None,
    time_limit: TimeLimit = 60.0,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    output: PlanFormat = PlanOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Empty nodes within budgets: in which waves, or what stands in the way and what helps.

    As kubectl drain --ignore-daemonsets, but it looks where pods go before anything is evicted.
    Nothing is changed: -o script writes a shell script that does it.
    Exit code 3 if it is impossible, or not sure whatever ties kube-scheduler draws, 4 if nothing
    was found and nothing is proven.

    \\b
    planner drain node-7
    planner drain -f cluster.json node-7
    planner drain -f cluster.json -l pool=blue -o script
    planner drain --example zone-outage-before --zone eu-1a
    """
    cluster = read_cluster(context, filenames, example)
    with ProgressLine(sys.stderr, time_limit) as progress:
        plan = cluster.drain(
            *(nodes or ()),
            selector=selector,
            zone=zone,
            all_nodes=every,
            pod_selector=pod_selector,
            force=force,
            delete_emptydir_data=delete_emptydir_data,
            allow_owners=allow_owners or (),
            max_unavailable=max_unavailable,
            seeds=seeds,
            time_limit=time_limit,
            scheduler=scheduler_config,
            ignored_plugins=ignored or (),
            progress=progress,
        )
    write_page(context, plan, report)
    show(context, plan if wave is None else plan.only_wave(wave), output)
    return exit_code(plan)


def exit_code(document: DrainPlan) -> int:
    """0: the nodes are empty in the end whatever ties kube-scheduler draws."""
    if document.stopped == "interrupted":
        return INTERRUPTED
    if document.status == "undecided":
        return UNDECIDED
    return DONE if document.status == "possible" and document.converges else NEGATIVE
