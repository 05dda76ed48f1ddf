"""`planner fleet`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import read_fleet
from planner.cli.options import (
    Cache,
    Example,
    Filenames,
    MaxInput,
    OutputFormat,
    ReportFile,
    SkipInvalid,
    Verbose,
    named,
)
from planner.cli.output import show
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED
from planner.report.text.formats import Output

if TYPE_CHECKING:
    from planner_models.fleet_decision import FleetDecision

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
    named(
        "--now",
        "When heartbeats are judged, such as 2026-05-01T12:00:00Z; else when the newest came.",
        "TIME",
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
    max_input: MaxInput = None,
    cache: Cache = False,
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
    found = read_fleet(context, filenames, example).decide(
        *(targets or ()), namespace=namespace, now=now, time_limit=time_limit
    )
    show(context, found.decisions[0] if len(found.items) == 1 else found, output, report)
    return _exit_code(found.items)


def _exit_code(decisions: Sequence[FleetDecision]) -> int:
    if any(_negative(decision) for decision in decisions):
        return NEGATIVE
    proven = all(each.optimal is None or each.optimal.status == "optimal" for each in decisions)
    return DONE if proven else UNDECIDED


def _negative(decision: FleetDecision) -> bool:
    """Fewer clusters than wanted, or a hard constraint that does not hold."""
    return decision.verdict in ("deadlock", "impossible") or not all(
        constraint.holds or constraint.when_unsatisfiable == "ScheduleAnyway"
        for constraint in decision.constraints
    )
