"""What `planner apply` says: before it begins, step by step, and in the end."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from planner.report.text.blocks import visible
from planner.words import capitalised, conjoined, count_of, duration
from planner_models.apply_report import ApplyEntry, ApplyReport, ApplyStart

WIDTH = 80
AGAIN = 30
"""Seconds after which it is said again what is waited for."""
MADE_BY = {"evict": "evict", "drain": "drain", "solve": "solve --rebalance"}
MEASURED = {"evict": "excess", "drain": "pods to leave", "solve": "excess"}
"""What a plan brings down."""


class ApplyText:
    """The lines of one run; names stand below each other."""

    def __init__(self) -> None:
        self._pod = self._node = 0
        self._measured = "excess"
        self._told: dict[str, int] = {}
        self._elsewhere: list[str] = []
        """What is said of pods that landed elsewhere, once the wave is over."""

    def start(self, start: ApplyStart) -> str:
        """What will happen, and whether the plan still holds."""
        pods = [pod for wave in start.waves for pod in wave.pods]
        nodes = [node for wave in start.waves for node in wave.pods.values()]
        self._measured = MEASURED[start.command]
        self._pod = max(map(len, pods), default=0)
        self._node = max(map(len, nodes), default=0)
        lines = [*_head(start), "", *_waves(start)] if start.waves else [*_head(start)]
        return "".join(f"{visible(line)}\n" for line in lines)

    def entry(self, entry: ApplyEntry) -> str:
        """A line for what has just happened, or nothing."""
        lines = list(self._lines(entry))
        return "".join(f"{visible(line)}\n" for line in lines)

    def _lines(self, entry: ApplyEntry) -> Iterator[str]:
        name = (entry.pod or "").partition("/")[2]
        match entry.event:
            case "asked":
                yield f"wave {entry.wave} of {entry.waves}: the API server would accept " + (
                    f"{entry.accepted} of {entry.of}"
                )
            case "waits" if self._worth_telling(name, entry.seconds or 0):
                yield from self._waits(name, entry)
            case "landed" | "elsewhere":
                place = f"  - {name:<{self._pod}}  {entry.node:<{self._node}}  + {entry.to}"
                yield f"{place:<{self._pod + 2 * self._node + 10}}  ready after {entry.seconds} s"
                if entry.event == "elsewhere":
                    self._elsewhere.append(_elsewhere(entry))
            case "goesOn":
                yield f"  The rest still holds ({entry.accepted} of {entry.of} seeds): going on."
            case "refused":
                yield f"  - {name:<{self._pod}}  {entry.node:<{self._node}}  {entry.text}"
            case "waveDone":
                left = f"{self._measured} {entry.excess_before} -> {entry.excess_after}."
                yield f"  {entry.landed} of {entry.of} landed as promised. {capitalised(left)}"
                yield from self._elsewhere
                self._elsewhere.clear()
            case "replanned" if entry.of is not None:
                yield f"Planned anew: {count_of(entry.of, 'eviction')}; {entry.text}"
            case _:
                return

    def _worth_telling(self, name: str, seconds: int) -> bool:
        """At once, and then every half minute."""
        if name in self._told and seconds - self._told[name] < AGAIN:
            return False
        self._told[name] = seconds
        return True

    def _waits(self, name: str, entry: ApplyEntry) -> Iterator[str]:
        head = f"  ~ {name:<{self._pod}}  {entry.node or '':<{self._node}}  " if name else "  ~ "
        text = f"waits: {entry.text}; asked again every 5 s"
        text += f" ({entry.seconds} s)" if entry.seconds else ""
        yield from textwrap.wrap(
            head + text, WIDTH, subsequent_indent=" " * len(head), break_on_hyphens=False
        )


def _elsewhere(entry: ApplyEntry) -> str:
    expected = f", expected {' '.join(entry.expected)}" if entry.expected else ""
    return f"Landed elsewhere: {entry.text} is on {entry.to}{expected}."


def _head(start: ApplyStart) -> Iterator[str]:
    made = "" if start.age is None else f" {duration(start.age)} ago"
    waves = count_of(len(start.waves), "wave")
    pods = count_of(start.evictions, "pod")
    if start.resuming is not None:
        yield from textwrap.wrap(f"Resuming plan {start.plan_id}: {start.resuming}.", WIDTH)
        if not start.waves:
            return
    yield (
        f"Plan {start.plan_id}: evict {pods} in {waves}, {MEASURED[start.command]} "
        f"{start.excess_before} -> {start.excess_after}; made{made} by {MADE_BY[start.command]}."
    )
    who = f" You are {start.who}." if start.who else ""
    yield (
        f"Cluster {start.place}, {count_of(start.nodes, 'node')}, "
        f"{count_of(start.pods, 'pod')}.{who}"
    )
    since = f"Since then {conjoined(start.since)}. " if start.since else ""
    held = "still holds" if start.holds == start.seeds else "no longer holds"
    yield from textwrap.wrap(
        f"{since}The plan {held}: {start.holds} of {start.seeds} seeds.", WIDTH
    )


def _waves(start: ApplyStart) -> Iterator[str]:
    rows = [("WAVE", "EVICT", "OF", "CORDON")]
    for wave in start.waves:
        of = ", ".join(f"{name} {count}" for name, count in wave.of.items())
        stays = tuple(f"{node} (stays so)" for node in wave.drain)
        cordon = ", ".join((*stays, *wave.cordon)) or "-"
        rows.append((str(wave.number), str(len(wave.pods)), of or "-", cordon))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)]
        yield "  ".join([*cells, row[3]]).rstrip()


def end_text(report: ApplyReport, file: str, program: str = "planner") -> str:
    """How it ended, what is left to know, and what to do next."""
    lines = list(_end(report, file, program))
    return "".join(f"{visible(line)}\n" for line in lines)


def _end(report: ApplyReport, file: str, program: str) -> Iterator[str]:
    match report.result:
        case "done":
            yield from _done(report)
        case "dryRun":
            yield from _asked_only(report)
        case "undone":
            lifted = f"Cordons lifted: {', '.join(report.lifted)}." if report.lifted else (
                "No node carries a cordon of this plan."
            )  # fmt: skip
            yield f"{lifted} Evictions can't be undone."
            return
        case "interrupted":
            yield from _interrupted(report, file, program)
            return
        case "stopped" | "failed":
            yield from _stopped(report, file, program)
    if report.journal:
        yield f"Journal: {report.journal}"


def _done(report: ApplyReport) -> Iterator[str]:
    left = sum(each.outcome == "left" for each in report.evictions)
    word = f"Done up to wave {report.wave}" if left else "Done"
    told = f"{word}: {report.evicted} evicted, {report.landed} landed as promised"
    told += f", {report.elsewhere} elsewhere" if report.elsewhere else ""
    brought_down = capitalised(MEASURED[report.command])
    numbers = f"{brought_down} {report.excess_before} -> {report.excess_after}"
    yield from textwrap.wrap(f"{told}. {numbers}, read from the cluster.", WIDTH)
    if report.waiting:
        yield f"Without a node, as promised: {', '.join(report.waiting)}."
    if report.cordoned:
        yield f"Still cordoned: {', '.join(report.cordoned)}."
    if left:
        yield f"{count_of(left, 'eviction')} left: the same command goes on."


def _asked_only(report: ApplyReport) -> Iterator[str]:
    asked = len(report.evictions)
    yield f"Dry run: the API server would accept {asked - len(report.reason)} of {asked} now."
    yield from (f"  {line}" for line in report.reason)
    yield "Nothing was evicted or cordoned."


def _stopped(report: ApplyReport, file: str, program: str) -> Iterator[str]:
    head, *more = report.reason or ("",)
    where = ""
    if report.wave is not None:
        where = f" {'before' if report.before else 'in'} wave {report.wave} of {report.waves}"
    yield from textwrap.wrap(f"Stopped{where}: {head}", WIDTH, break_on_hyphens=False)
    for line in more:
        yield from textwrap.wrap(
            line, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
    yield from textwrap.wrap(_state(report), WIDTH, break_on_hyphens=False)
    if report.waiting:
        yield f"Next: {program} explain pod/{report.waiting[0]}"
    elif report.result == "failed":
        yield f"Next: {program} apply {file} goes on where it ended"
    elif report.reason[:1] != ("nothing was evicted.",):
        yield f"Next: {program} evict -o json > plan2.json && {program} apply plan2.json"


def _state(report: ApplyReport) -> str:
    came = report.landed + report.elsewhere
    landed = "all landed" if came == report.evicted else f"{came} landed"
    if report.waiting:
        landed += f", {len(report.waiting)} {'waits' if len(report.waiting) == 1 else 'wait'}"
    unwanted = report.evicted - came - len(report.waiting)
    if report.before and unwanted > 0:
        landed += f", {unwanted} no longer wanted"
    told = f"{report.evicted} of {len(report.evictions)} evicted"
    told += f", {landed}." if report.evicted else "."
    cordons = f"Cordons lifted: {', '.join(report.lifted)}." if report.lifted else ""
    if report.cordoned:
        cordons += f" Still cordoned: {', '.join(report.cordoned)} (planner apply --undo)."
    if not cordons:
        cordons = "Nothing is cordoned, nothing waits." if not report.waiting else (
            "Nothing is cordoned."
        )  # fmt: skip
    return f"{told} {cordons.strip()}"


def _interrupted(report: ApplyReport, file: str, program: str) -> Iterator[str]:
    word = "Cordon" if len(report.lifted) == 1 else "Cordons"
    lifted = f" {word} lifted: {', '.join(report.lifted)}." if report.lifted else ""
    mine = [each for each in report.evictions if each.wave == report.wave]
    gone = sum(each.outcome == "evicted" for each in mine)
    who = "is evicted and will be replaced by its controller."
    if gone > 1:
        who = "are evicted and will be replaced by their controllers."
    wave = f" {gone} of {len(mine)} of wave {report.wave} {who}"
    text = f"No further evictions.{lifted}{wave if gone else ''} Resume: {program} apply {file}"
    yield from textwrap.wrap(text, WIDTH, break_on_hyphens=False)
