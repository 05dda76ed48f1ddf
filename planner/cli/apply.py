"""`planner apply`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import planner
from planner.cli.live_options import live_given
from planner.cli.options import IgnoredPlugins, SchedulerConfig, Verbose, limit, named
from planner.cli.output import quiet_when_nobody_reads
from planner.cli.session import session_of
from planner.errors import UsageError
from planner.exit_codes import DONE, FAILURE, INTERRUPTED, NEGATIVE
from planner.interrupts import asked_to_end

if TYPE_CHECKING:
    from planner_models.apply_report import ApplyEntry, ApplyReport, ApplyStart


class Format(StrEnum):
    """How the result is written."""

    TABLE = "table"
    JSON = "json"


PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN.json", help="What evict, drain or solve wrote with -o json.")
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Don't ask; needed where there is no terminal.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Look whether it holds, ask the API server, and end.")
]
LastWave = Annotated[int | None, limit("--wave", "Stop after this wave.", 1)]
WaveTimeout = Annotated[
    str, named("--wave-timeout", "How long a wave may take, such as 10m. [default: 10m]", "TIME")
]
Replan = Annotated[
    bool,
    typer.Option(
        "--replan",
        help="If it no longer holds, plan again for the same goals, within the approved evictions.",
    ),
]
JournalFile = Annotated[
    str | None,
    named("--journal", "Where to note what was done. [default: PLAN.json.journal]", "FILE"),
]
Undo = Annotated[
    bool,
    typer.Option("--undo", help="Lift the cordons of this plan. Evictions can't be undone."),
]
NoLock = Annotated[
    bool,
    typer.Option("--no-lock", help="Without the Lease kube-system/planner that keeps others off."),
]
LockHolder = Annotated[
    str | None,
    named("--lock-holder", "This holder of the Lease has it already, as planner run does.", "NAME"),
]
NoEvents = Annotated[
    bool,
    typer.Option("--no-events", help="Tell owners of evicted pods nothing by Events."),
]
Output = Annotated[Format, typer.Option("--output", "-o", help="Text, or the report as JSON.")]


def apply(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    plan: PlanFile,
    yes: Yes = False,
    dry_run: DryRun = False,
    wave: LastWave = None,
    wave_timeout: WaveTimeout = "10m",
    replan: Replan = False,
    journal: JournalFile = None,
    undo: Undo = False,
    no_lock: NoLock = False,
    lock_holder: LockHolder = None,
    no_events: NoEvents = False,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    output: Output = Format.TABLE,
    verbose: Verbose = False,
) -> int:
    """Carry a plan out in the running cluster that it was made for.

    This evicts pods: beside run it is the only command that changes anything. It
    looks whether the plan still holds, asks the API server first, evicts wave by
    wave, waits until replacements are ready, and stops when something is not as
    promised. The same command again goes on where it ended.
    Exit code 3 if it stopped or the plan is refused, 1 if the network or rights failed.

    \b
    planner evict -o json > plan.json
    planner apply plan.json --dry-run
    planner apply plan.json
    planner apply plan.json --undo
    """
    from planner.report.text.apply_text import ApplyText, end_text

    if not (yes or dry_run or undo) and not sys.stdin.isatty():
        raise UsageError("without a terminal apply needs --yes")
    session = session_of(context)
    text = ApplyText()
    stream = sys.stderr if output is Format.JSON else sys.stdout
    cordoned: set[str] = set()

    def confirm(start: ApplyStart) -> bool:
        _say(text.start(start))
        return yes or dry_run or not start.waves or _agrees()

    def heard(entry: ApplyEntry) -> None:
        if entry.event == "cordoned" and entry.node:
            cordoned.add(entry.node)
        if entry.event == "lifted" and entry.node:
            cordoned.discard(entry.node)
        _say(text.entry(entry))

    def _say(words: str) -> None:
        stream.write(words)
        stream.flush()

    def _agrees() -> bool:
        _say("Type yes to evict them: ")
        agreed = sys.stdin.readline().strip() == "yes"
        _say("\n")
        return agreed

    with asked_to_end(lambda: _left(cordoned)) as interrupted, quiet_when_nobody_reads():
        report = planner.apply_plan(
            plan,
            confirm=confirm,
            live=live_given(context),
            wave=wave,
            wave_timeout=wave_timeout,
            replan=replan,
            dry_run=dry_run,
            undo=undo,
            journal=journal,
            lock=not no_lock,
            lock_holder=lock_holder,
            events=not no_events,
            scheduler=scheduler_config,
            ignored_plugins=ignored or (),
            progress=heard,
            interrupted=interrupted,
        )
        if output is Format.JSON:
            sys.stdout.write(report.to_json())
        else:
            _say(end_text(report, str(plan), session.program))
    return exit_code(report)


def _left(cordoned: set[str]) -> str:
    """What is said when Ctrl-C comes a second time."""
    names = ", ".join(sorted(cordoned))
    return f"Still cordoned: {names}; planner apply --undo lifts that.\n" if names else ""


def exit_code(report: ApplyReport) -> int:
    """0: all as promised."""
    match report.result:
        case "done" | "undone":
            return DONE
        case "dryRun":
            return NEGATIVE if report.reason else DONE
        case "interrupted":
            return INTERRUPTED
        case "failed":
            return FAILURE
        case "stopped":
            return NEGATIVE
