"""`planner solve`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    AllNamespaces,
    AllowJobs,
    AllowOwners,
    Cache,
    Example,
    Filenames,
    IgnoredPlugins,
    MaxInput,
    MaxUnavailable,
    Namespace,
    PlanFormat,
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
from planner.cli.progress import ProgressLine
from planner.cli.session import session_of
from planner.errors import UsageError
from planner.exit_codes import DONE, INTERRUPTED, NEGATIVE, UNDECIDED
from planner.report.text.formats import PlanOutput

if TYPE_CHECKING:
    from planner_models.plan import Plan


class Prefer(StrEnum):
    """What decides between plans that are equally good otherwise."""

    BALANCE = "balance"
    PACK = "pack"
    NONE = "none"


class MoveCost(StrEnum):
    """What a move weighs."""

    COUNT = "count"
    PRIORITY = "priority"


Rebalance = Annotated[
    bool, typer.Option("--rebalance", help="Running pods may move, as few as possible.")
]
Relax = Annotated[
    bool,
    typer.Option(
        "--relax", help="Break hard spread and inter-pod rules, as little as places everything."
    ),
]
Preempt = Annotated[
    bool, typer.Option("--preempt", help="Pods of lower priority may lose their place.")
]
Preferred = Annotated[
    Prefer,
    typer.Option("--prefer", help="Last of all: even utilisation, or fewest nodes in use."),
]
MaxMoves = Annotated[int | None, limit("--max-moves", "Move no more.")]
Cost = Annotated[
    MoveCost, typer.Option("--move-cost", help="Each move weighs 1, or more by priority.")
]
Movable = Annotated[
    str | None,
    named("--movable", "Only these pods may move, such as app=web or 'tier in (a,b)'.", "SELECTOR"),
]
Immovable = Annotated[str | None, named("--immovable", "These pods may not move.", "SELECTOR")]
BarePods = Annotated[
    bool, typer.Option("--allow-bare-pods", help="Move pods that no controller brings back, too.")
]
LocalStorage = Annotated[
    bool, typer.Option("--allow-local-storage", help="Move pods with local storage, too.")
]
Surge = Annotated[
    bool,
    typer.Option(
        "--surge", help="Controllers that can start the new pod first do so: nothing is down."
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="When to stop looking for something better or a proof.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of the search.")]
Workers = Annotated[
    int,
    typer.Option("--workers", min=1, max=1024, help="Threads of the search; 1 repeats exactly."),
]


def solve(  # noqa: PLR0913, PLR0917 - the options of the command
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
    rebalance: Rebalance = False,
    relax: Relax = False,
    preempt: Preempt = False,
    prefer: Preferred = Prefer.NONE,
    max_moves: MaxMoves = None,
    move_cost: Cost = MoveCost.COUNT,
    movable: Movable = None,
    immovable: Immovable = None,
    allow_bare_pods: BarePods = False,
    allow_local_storage: LocalStorage = False,
    allow_jobs: AllowJobs = False,
    allow_owners: AllowOwners = None,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    workers: Workers = 1,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    max_unavailable: MaxUnavailable = None,
    surge: Surge = False,
    output: PlanFormat = PlanOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Find where pods should go, all rules taken together.

    Exit code 3 if a pod stays unplaced or a rule broken, 4 without a proof.

    \b
    planner solve -f cluster.json
    planner solve -f cluster.json --rebalance -o json
    planner solve --example zone-outage --rebalance --report plan.html
    """
    if surge and output is PlanOutput.SCRIPT:
        raise UsageError(
            "--surge starts new pods first, and an eviction takes the old one away first",
            help="leave --surge out of the script; or scale up by one, wait, mark the old pod with "
            "controller.kubernetes.io/pod-deletion-cost, and scale down",
        )
    cluster = read_cluster(context, filenames, example)
    with ProgressLine(sys.stderr, time_limit) as progress:
        plan = cluster.solve(
            *(targets or ()),
            namespace=namespace,
            all_namespaces=all_namespaces,
            selector=selector,
            rebalance=rebalance,
            relax=relax,
            preempt=preempt,
            prefer=prefer.value,
            max_moves=max_moves,
            move_cost=move_cost.value,
            movable=movable,
            immovable=immovable,
            allow_bare_pods=allow_bare_pods,
            allow_local_storage=allow_local_storage,
            allow_jobs=allow_jobs,
            allow_owners=allow_owners or (),
            max_unavailable=max_unavailable,
            surge=surge,
            hops=output is not PlanOutput.SCRIPT,
            time_limit=time_limit,
            seed=seed,
            workers=workers,
            scheduler=scheduler_config,
            ignored_plugins=ignored or (),
            progress=progress,
        )
    session_of(context).tell(f"planned {len(plan.placements)} placements and moves: {plan.status}")
    show(context, plan, output, report)
    return exit_code(plan)


def exit_code(plan: Plan) -> int:
    """0: all is placed and steady; otherwise a code that says why not."""
    if plan.stopped == "interrupted":
        return INTERRUPTED
    if plan.status in ("feasible", "unknown"):
        return UNDECIDED
    if plan.status == "infeasible" or plan.unplaced or plan.violations or plan.broken:
        return NEGATIVE
    return DONE
