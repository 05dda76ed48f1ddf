"""`planner explain`."""

from __future__ import annotations

import sys
from dataclasses import replace
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
    OutputFormat,
    ReportFile,
    SkipInvalid,
    Verbose,
)
from planner.cli.simulate import IgnoredPlugins, Namespace, SchedulerConfig
from planner.report.text.formats import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.cluster import Cluster
    from planner.scheduler.profile import Profile
    from planner_models.diagnosis import Diagnosis, RepairKind

NEGATIVE = 3
MOST_COST = 1_000_000
UNDECIDED = 4

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="POD|WORKLOAD",
        help="web-1, pod/web-1, deploy/web; several are judged together.",
        show_default=False,
    ),
]
AllPending = Annotated[
    bool,
    typer.Option("--all-pending", help="A line per workload with pending pods, the worst first."),
]
BarePods = Annotated[
    bool,
    typer.Option("--allow-bare-pods", help="Pods without a controller may be evicted, too."),
]
Costs = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="KIND=N",
        help="What a kind of change costs, such as addNode=5: cheaper ones come first. Repeatable; "
        "the kinds and their costs are listed above.",
        show_default=False,
    ),
]
States = Annotated[
    int,
    typer.Option("--states", min=1, help="States that the search for evictions may look at."),
]
Cells = Annotated[
    int,
    typer.Option(
        "--cells",
        min=1,
        help="Pairs of workload and node up to which the solver is asked about evictions.",
    ),
]


def explain(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = MAX_INPUT_TEXT,
    namespace: Namespace = None,
    all_pending: AllPending = False,
    allow_bare_pods: BarePods = False,
    allow_jobs: AllowJobs = False,
    allow_owners: AllowOwners = None,
    cost: Costs = None,
    states: States = 60_000,
    cells: Cells = 20_000,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Say why pods can't run, and the cheapest changes that let them.

    Exit code 3 if a pod is stuck or impossible, 4 if that is undecided.

    \b
    planner explain --example docs-conflicting-constraints pod/mypod
    planner explain -f cluster.json deploy/web -o wide
    planner explain -f cluster.json --all-pending

    What helps is sorted by cost: an act that restarts nothing is cheapest, then a
    number in a rule, then giving up a rule; what loses data comes last.

    \b
    labelNode 10          raiseMaxSkew 70      dropHostPort 98
    uncordon 15           addToleration 75     relaxAffinity 100
    movePods 20 each      deletePod 80         relaxAntiAffinity 105
    freeCapacity 30       scheduleAnyway 90    recreateVolume 1000
    preemptionPolicy 35   addNodeAffinity 92   combined: the sum and 5
    scale 40              addNode 95
    lowerMinDomains 50    lowerRequest 60
    nodeTaintsPolicy 55   nodeAffinityPolicy 58
    """
    paths = input_paths(context.command_path, filenames, example, sys.stdin.isatty())
    from planner.cli.scheduler_config import read_filtering_profiles
    from planner.cli.targets import find_pods
    from planner.disruption.movability import MovePolicy
    from planner.explain.diagnose import ExplainOptions
    from planner.explain.many import explain_pods, explain_workloads
    from planner.explain.room.rearrange import Limits
    from planner.report.emit import Origin, emit
    from planner.report.tables import explain_table

    costs = _costs(cost or ())
    inventory, cluster = read_cluster(context, paths)
    require_nodes(cluster)
    profiles = read_filtering_profiles(inventory, scheduler_config, ignored or ())
    policy = MovePolicy(
        bare_pods=allow_bare_pods, jobs=allow_jobs, owners=frozenset(allow_owners or ())
    )
    options = ExplainOptions(Limits(states=states, cells=cells, policy=policy), costs)
    if all_pending or not targets:
        if targets:
            raise UsageError("--all-pending goes without names")
        rows = replace(options, brief=report is None and output in (Output.TABLE, Output.NAME))
        found = explain_workloads(cluster, cluster.pending.tolist(), profiles[0], rows)
    else:
        pods = find_pods(cluster, targets, namespace, "explain")
        found = explain_pods(cluster, pods, _profile_of(cluster, pods, profiles), options)
    if report is not None:
        from planner.report.html.explain_page import explain_page
        from planner.report.html.render import write_report

        write_report(report, explain_page(cluster, found))
    with quiet_when_nobody_reads():
        origin = Origin("planner explain", filenames or (), cluster)
        emit(found, output, explain_table, sys.stdout, origin)
    return _exit_code(found)


def _profile_of(cluster: Cluster, pods: Sequence[int], profiles: Sequence[Profile]) -> Profile:
    """The one that the pods name as their scheduler, or the first."""
    names = {cluster.pods[pod].spec.scheduler_name for pod in pods}
    return next((p for p in profiles if p.resolved.scheduler_name in names), profiles[0])


def _exit_code(found: Diagnosis) -> int:
    """The worst answer counts; gated pods wait for their owner."""
    verdicts = {found.verdict, *(part.verdict for part in found.parts)}
    if verdicts & {"stuck", "impossible"}:
        return NEGATIVE
    return UNDECIDED if "undecided" in verdicts else 0


def _costs(given: Sequence[str]) -> dict[RepairKind, int]:
    """The documented costs with the user's own put in."""
    from difflib import get_close_matches

    from planner.explain.repairs import COSTS

    costs: dict[RepairKind, int] = dict(COSTS)
    for text in given:
        kind, _, number = text.partition("=")
        known = [each for each in costs if each == kind]
        if not known:
            near = get_close_matches(kind, costs, 1, 0.6)
            meant = f"did you mean {near[0]}?" if near else f"kinds: {', '.join(sorted(costs))}"
            raise UsageError(f'--cost "{text}": there is no kind of change "{kind}"', help=meant)
        if not (number.isascii() and number.isdigit()) or int(number) > MOST_COST:
            raise UsageError(
                f'--cost "{text}": N is a whole number from 0 to {MOST_COST}',
                help=f"such as --cost {kind}={costs[known[0]]}, which is the default",
            )
        costs[known[0]] = int(number)
    return costs
