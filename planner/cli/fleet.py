"""`planner fleet`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.errors import UsageError, quiet_when_nobody_reads, warn_of_skipped
from planner.cli.input import input_paths
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
    from collections.abc import Sequence

    from planner_models.fleet_decision import FleetDecision

NEGATIVE = 3
UNDECIDED = 4

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PLACEMENT",
        help="A ClusterResourcePlacement such as web or crp/web, or rp/web; without any, all.",
        show_default=False,
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="Of a ResourcePlacement.", show_default=False),
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="When heartbeats are judged, such as 2026-05-01T12:00:00Z; else when the newest came.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", min=0.1, metavar="SECONDS", help="For each optimum.")
]


def fleet(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = MAX_INPUT_TEXT,
    namespace: Namespace = None,
    now: Now = None,
    time_limit: TimeLimit = 60.0,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Show which member clusters Fleet picks, round by round, and the best choice.

    Exit code 3 if a placement gets fewer clusters than it wants or breaks a
    constraint, 4 if the optimum is not proven.

    \b
    planner fleet --example fleet-walkthrough
    kubectl get memberclusters,crp,crb,csps -o json | planner fleet
    planner fleet -f fleet.yaml crp/web -o wide
    """
    paths = input_paths(
        context.command_path, filenames, example, sys.stdin.isatty(), "fleet-walkthrough"
    )
    from planner import api
    from planner.cli.placements import find_placements, require_fleet
    from planner.report.emit import Origin, emit
    from planner.report.tables import fleet_table
    from planner_models.fleet_decision import FleetDecisionList

    at = _seconds(now)
    session = session_of(context)
    inventory = api.load_fleet(paths, options=session.reading)
    warn_of_skipped(inventory.notices)
    session.tell(f"read {len(inventory.member_clusters)} member clusters")
    require_fleet(inventory)
    chosen = find_placements(inventory, targets or (), namespace)
    decisions = api.fleet(inventory, chosen, now=at, time_limit=time_limit)
    if report is not None:
        from planner.report.html.fleet_page import fleet_page
        from planner.report.html.render import write_report

        write_report(report, fleet_page(inventory.member_clusters, decisions))
    with quiet_when_nobody_reads():
        members = {each.name: each.labels for each in inventory.member_clusters}
        origin = Origin("planner fleet", filenames or (), members=members)
        if len(decisions) == 1:
            emit(decisions[0], output, fleet_table, sys.stdout, origin)
        else:
            emit(FleetDecisionList(items=decisions), output, fleet_table, sys.stdout, origin)
    return _exit_code(decisions)


def _seconds(text: str | None) -> int | None:
    from planner_models.meta import parse_time

    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise UsageError(f"--now: {error}") from error


def _exit_code(decisions: Sequence[FleetDecision]) -> int:
    if any(_negative(decision) for decision in decisions):
        return NEGATIVE
    proven = all(each.optimal is None or each.optimal.status == "optimal" for each in decisions)
    return 0 if proven else UNDECIDED


def _negative(decision: FleetDecision) -> bool:
    """Fewer clusters than wanted, or a hard constraint that does not hold."""
    return decision.verdict in ("deadlock", "impossible") or not all(
        constraint.holds or constraint.when_unsatisfiable == "ScheduleAnyway"
        for constraint in decision.constraints
    )
