"""`planner solve`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.errors import UsageError, quiet_when_nobody_reads
from planner.cli.input import input_paths, read_cluster, require_nodes
from planner.cli.options import (
    MAX_INPUT_TEXT,
    AllowJobs,
    AllowOwners,
    Example,
    Filenames,
    MaxInput,
    PlanFormat,
    ReportFile,
    SkipInvalid,
    Verbose,
)
from planner.cli.session import session_of
from planner.cli.simulate import IgnoredPlugins, SchedulerConfig
from planner.report.text.formats import Output, PlanOutput
from planner.solver.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.scheduler.profile import Profile
    from planner.solver.options import SolveOptions
    from planner_models.plan import Plan

NEGATIVE = 3
UNDECIDED = 4


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
MaxMoves = Annotated[
    int | None,
    typer.Option("--max-moves", min=0, metavar="N", help="Move no more.", show_default=False),
]
Cost = Annotated[
    MoveCost, typer.Option("--move-cost", help="Each move weighs 1, or more by priority.")
]
Movable = Annotated[
    str | None,
    typer.Option(
        "--movable",
        metavar="SELECTOR",
        help="Only these pods may move, such as app=web or 'tier in (a,b)'.",
        show_default=False,
    ),
]
Immovable = Annotated[
    str | None,
    typer.Option(
        "--immovable", metavar="SELECTOR", help="These pods may not move.", show_default=False
    ),
]
BarePods = Annotated[
    bool, typer.Option("--allow-bare-pods", help="Move pods that no controller brings back, too.")
]
LocalStorage = Annotated[
    bool, typer.Option("--allow-local-storage", help="Move pods with local storage, too.")
]
MaxUnavailable = Annotated[
    int | None,
    typer.Option(
        "--max-unavailable",
        min=1,
        metavar="N",
        help="Have no more pods down at once; budgets hold in any case.",
        show_default=False,
    ),
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
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = MAX_INPUT_TEXT,
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
    _check(rebalance=rebalance, time_limit=time_limit, max_moves=max_moves)
    if surge and output is PlanOutput.SCRIPT:
        raise UsageError(
            "--surge starts new pods first, and an eviction takes the old one away first",
            help="leave --surge out of the script; or scale up by one, wait, mark the old pod with "
            "controller.kubernetes.io/pod-deletion-cost, and scale down",
        )
    from planner.cli.selectors import parse_selector
    from planner.disruption.movability import MovePolicy
    from planner.solver.options import SolveOptions

    options = SolveOptions(
        rebalance=rebalance,
        relax=relax,
        preempt=preempt,
        prefer=prefer.value,
        max_moves=max_moves,
        move_cost=move_cost.value,
        policy=MovePolicy(
            bare_pods=allow_bare_pods,
            local_storage=allow_local_storage,
            jobs=allow_jobs,
            owners=frozenset(allow_owners or ()),
        ),
        movable=None if movable is None else parse_selector("--movable", movable),
        immovable=None if immovable is None else parse_selector("--immovable", immovable),
        max_unavailable=max_unavailable,
        surge=surge,
        hops=output is not PlanOutput.SCRIPT,
        time_limit=time_limit,
        seed=seed,
        workers=workers,
    )
    paths = input_paths(context.command_path, filenames, example, sys.stdin.isatty())
    cluster, plan = _plan(context, paths, options, scheduler_config, ignored or [])
    from planner.report.emit import Origin, emit
    from planner.report.tables import plan_table

    if report is not None:
        from planner.report.html.render import write_report
        from planner.report.html.solve_page import solve_page

        write_report(report, solve_page(cluster, plan))
    with quiet_when_nobody_reads():
        if output is PlanOutput.SCRIPT:
            from planner.report.scripts import plan_script

            sys.stdout.write(plan_script(plan))
        else:
            origin = Origin("planner solve", filenames or (), cluster)
            emit(plan, Output(output.value), plan_table, sys.stdout, origin)
    return exit_code(plan)


def exit_code(plan: Plan) -> int:
    """0: all is placed and steady; otherwise a code that says why not."""
    if plan.stopped == "interrupted":
        return INTERRUPTED
    if plan.status in ("feasible", "unknown"):
        return UNDECIDED
    if plan.status == "infeasible" or plan.unplaced or plan.violations or plan.broken:
        return NEGATIVE
    return 0


def _check(*, rebalance: bool, time_limit: float, max_moves: int | None) -> None:
    if not 0 < time_limit < float("inf"):
        raise UsageError(f"--time-limit is {time_limit:g}; it must be above 0")
    if max_moves is not None and not rebalance:
        raise UsageError(
            "--max-moves limits what --rebalance may move",
            help="without --rebalance running pods stay; leave --max-moves out",
        )


def _plan(
    context: typer.Context,
    paths: list[str],
    options: SolveOptions,
    scheduler_config: str | None,
    ignored: list[str],
) -> tuple[Cluster, Plan]:
    from planner.cli.progress import ProgressLine
    from planner.cli.scheduler_config import read_filtering_profiles
    from planner.documents.plan import make_plan

    inventory, cluster = read_cluster(context, paths)
    require_nodes(cluster)
    profile = default_profile_of(read_filtering_profiles(inventory, scheduler_config, ignored))
    with ProgressLine(sys.stderr) as progress:
        plan = make_plan(cluster, options, profile, progress)
    session_of(context).tell(f"planned {len(plan.placements)} placements and moves: {plan.status}")
    return cluster, plan


def default_profile_of(profiles: tuple[Profile, ...]) -> Profile:
    """The profile of pods that name no scheduler; pods of other schedulers are left aside."""
    from planner.sources.errors import SourceError
    from planner_models.pod import DEFAULT_SCHEDULER

    for profile in profiles:
        if profile.resolved.scheduler_name == DEFAULT_SCHEDULER:
            return profile
    names = ", ".join(profile.resolved.scheduler_name for profile in profiles)
    raise SourceError(
        f"the scheduler configuration has no profile {DEFAULT_SCHEDULER}",
        help=f"it has {names}; planner solve plans for {DEFAULT_SCHEDULER}",
    )
