"""Repairs as lines: what to change, what then happens, what it costs; equal ones united."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.text.blocks import NO_BREAK
from planner.words import count_of
from planner_models.diagnosis import Repair

SHOWN = 5
"""So many are shown; `wide` shows all."""
WIDTH = 80
INDENT = 5
LONG = 43
"""A longer change gets lines of its own."""
SHORT = 20
"""A longer remark goes below."""


def repair_lines(repairs: Sequence[Repair], *, wide: bool) -> Iterator[str]:
    """Numbered, cheapest first; `wide` adds the commands."""
    groups = united(repairs)
    shown = groups if wide else _first(groups)
    said = [texts(group) for group in shown]
    first = min(max((len(text) for text, _, _ in said if len(text) <= LONG), default=0), LONG)
    second = max((len(then) for _, then, notes in said if len(notes) <= SHORT), default=0)
    second = min(second, WIDTH - INDENT - first - 4 - max(map(len, _short_notes(said)), default=0))
    for number, (group, (text, then, notes)) in enumerate(zip(shown, said, strict=True), 1):
        yield from _lines(f"  {number}. ", (text, then, notes), first, second)
        if wide:
            commands = [repair.command for repair in group if repair.command]
            # A command is never broken: it is there to be copied.
            lines = (command.replace(" ", NO_BREAK) for command in commands[:3])
            yield from (f"{NO_BREAK * INDENT}${NO_BREAK}{line}" for line in lines)
            diffs = [repair.diff for repair in group if repair.diff and not repair.command]
            yield from (
                f"{NO_BREAK * INDENT}{line.replace(' ', NO_BREAK)}"
                for diff in diffs[:1]
                for line in diff.splitlines()
            )
    hidden = [group for group in groups if group not in shown]
    if hidden:
        yield f"  {_hidden(hidden)} (-o wide shows all)."


def _short_notes(texts: Sequence[tuple[str, str, str]]) -> list[str]:
    return [notes for _, _, notes in texts if len(notes) <= SHORT]


def _first(groups: Sequence[list[Repair]]) -> list[list[Repair]]:
    """The cheapest; deletions get one line, which is enough to see that they are a way."""
    found: list[list[Repair]] = []
    for group in groups:
        deletes = group[0].kind == "deletePod"
        if deletes and any(other[0].kind == "deletePod" for other in found):
            continue
        found.append(group)
    return found[:SHOWN]


def _hidden(groups: Sequence[list[Repair]]) -> str:
    if all(group[0].kind == "deletePod" for group in groups):
        names = sorted(repair.object.partition("/")[2] for group in groups for repair in group)
        listed = _or(names) if len(names) <= 4 else f"one of {len(names)} other pods"
        return f"Deleting {listed} works too"
    more = count_of(len(groups), "more change")
    return f"{more} {'works' if len(groups) == 1 else 'work'} too"


def _lines(head: str, texts: tuple[str, str, str], first: int, second: int) -> Iterator[str]:
    """On one line if it fits, else the effect and the price below each other."""
    text, then, notes = texts
    line = f"{head}{text:<{first}}  {then:<{second}}  {notes}".rstrip()
    if len(line) <= WIDTH and len(text) <= first:
        yield line
        return
    line = f"{head}{text:<{first}}  {then}".rstrip()
    if len(line) <= WIDTH and len(text) <= first:
        yield line
        if notes:
            below = f"{' ' * INDENT}{'':<{first}}  {notes}"
            yield below if len(below) <= WIDTH else f"{' ' * INDENT}{notes}"
        return
    yield f"{head}{text}"
    rest = "; ".join(part for part in (then, notes) if part)
    if rest:
        yield f"{' ' * INDENT}{rest}"


def united(repairs: Sequence[Repair]) -> list[list[Repair]]:
    """Changes of one kind that differ only in their object, with the same effect or price."""
    groups: dict[tuple[object, ...], list[Repair]] = {}
    for repair in repairs:
        groups.setdefault(_likeness(repair), []).append(repair)
    return sorted(groups.values(), key=_rank)


def _rank(group: Sequence[Repair]) -> tuple[object, ...]:
    """Of equal cost the one with the most ways to do it, then with the fewest nodes."""
    first = group[0]
    return first.data_loss, first.cost, -len(group), len(first.then_nodes)


def _likeness(repair: Repair) -> tuple[object, ...]:
    if repair.kind == "scheduleAnyway":
        return repair.kind, repair.cost
    if repair.kind == "deletePod":
        return repair.kind, repair.then_nodes
    if repair.kind == "uncordon":
        return repair.kind, repair.cost
    if repair.kind == "scale" and repair.change is not None and repair.change.to is not None:
        return repair.kind, repair.cost, repair.then, repair.change.to
    return repair.kind, repair.object, repair.field, repair.text


def texts(group: Sequence[Repair]) -> tuple[str, str, str]:
    """What to change, what then happens, and what it costs."""
    first = group[0]
    notes = "; ".join(first.notes)
    if len(group) == 1:
        return first.text, first.then, notes
    if first.kind == "scheduleAnyway":
        keys = [repair.text.partition(":")[0] for repair in group]
        thens = list(dict.fromkeys(repair.then.removeprefix("then ") for repair in group))
        thens = [then.removesuffix(" takes it") for then in thens]
        return f"{_or(keys)}: ScheduleAnyway", f"then {', or '.join(thens)}", notes
    if first.kind == "scale" and first.change is not None:
        workloads = sorted(repair.object.partition("/")[2] for repair in group)
        return f"scale {_or(workloads)} to {first.change.to}", first.then, notes
    if first.kind == "uncordon":
        names = [repair.object.partition("/")[2] for repair in group]
        return f"kubectl uncordon {_or(names[:4])}", "then that node", notes
    names = [repair.object.partition("/")[2] for repair in group]
    listed = _or(names) if len(names) <= 3 else f"{names[0]} or {len(names) - 1} others"
    return f"delete {listed}", first.then, notes


def _or(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} or {names[-1]}"
