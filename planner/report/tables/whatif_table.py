"""A `WhatIf` as text: the worst in one sentence, a table by workload, why, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.tables import whatif_deletion, whatif_singles, whatif_why
from planner.report.tables.whatif_words import (
    fails,
    hurt,
    nodes_gone,
    number,
    percent,
    short,
)
from planner.report.text.blocks import GAP, Block, Listing, Paragraph, Table
from planner.report.text.notices import notice_blocks
from planner.words import NAMED, conjoined, count_of, joined_sentences, short_key
from planner_models.whatif import (
    WhatIf,
    WhatIfHelp,
    WhatIfManner,
    WhatIfWorkload,
)

ROWS = 50
"""How many workloads a table shows; `wide` shows all."""
COUNTS = frozenset(("LOST", "WAITING"))
TITLES = {"unreachable": "UNREACHABLE", "removed": "REMOVED", "only": "THEN"}


def blocks(document: WhatIf, *, wide: bool) -> Sequence[Block]:
    """Everything that is worth saying, the answer first."""
    found: list[Block] = [Paragraph(headline(document), "bold")]
    parts: list[Iterator[Block]] = []
    if document.singles:
        parts = [whatif_singles.blocks(document, wide=wide)]
    elif _only_scaled_down(document):
        parts = [deletion_blocks(document), whatif_why.blocks(document)]
    for part in parts or (
        workload_blocks(document, wide=wide),
        deletion_blocks(document),
        whatif_why.blocks(document),
        help_blocks(document),
        end_blocks(document),
    ):
        told = list(part)
        if told:
            found.extend((GAP, *told))
    if document.notices:
        found.extend((GAP, *notice_blocks(document.notices, wide=wide)))
    return found


def _only_scaled_down(document: WhatIf) -> bool:
    alone = document.loss is None and len(document.changes) == 1
    return alone and len(document.deletions) == 1


def names(document: WhatIf) -> Iterable[str]:
    """Workloads with pods that do not run then."""
    if document.singles:
        bad = (each for each in document.singles if whatif_singles.worst(each))
        return [f"{each.kind}/{each.domain}" for each in bad]
    found = (each for manner in document.manners for each in manner.workloads if hurt(each))
    return dict.fromkeys(each.workload for each in found)


def headline(document: WhatIf) -> str:
    """The worst, in a sentence or two."""
    if document.singles:
        return whatif_singles.headline(document)
    if _only_scaled_down(document):
        return whatif_deletion.headline(document.deletions[0])
    if document.loss is None:
        return _changed(document)
    first = failures(document)[0]
    lost = f"{fails(document.loss)}: {first.lost} of {count_of(document.pods, 'pod')}"
    lost += " goes down." if first.lost == 1 else " go down."
    return joined_sentences((lost, _come_back(document) if first.lost else ""))


def failures(document: WhatIf) -> list[WhatIfManner]:
    """The manners of a failure."""
    return [each for each in document.manners if each.manner != "only"]


def _come_back(document: WhatIf) -> str:
    """`12 of them can't come back until its nodes are removed; then all do.`"""
    assert document.loss is not None
    by_manner = {each.manner: each for each in failures(document)}
    silent, removed = by_manner.get("unreachable"), by_manner.get("removed")
    only = silent or removed
    assert only is not None
    gone, one = nodes_gone(document.loss), only.lost == 1
    some = "It" if one else f"{number(only.seeds)} of them"
    elsewhere = "It runs elsewhere" if one else "All of them run elsewhere"
    if silent is None or removed is None:
        text = f"{some} can't come back" if only.seeds.most else elsewhere
    elif not silent.seeds.most and not removed.seeds.most:
        text = elsewhere
    elif not removed.seeds.most:
        then = "it does" if one else "all do"
        text = f"{some} can't come back until {gone} removed; then {then}"
    elif number(silent.seeds) == number(removed.seeds):
        text = f"{some} can't come back, whether {gone} removed or not"
    else:
        text = f"{some} can't come back, and {number(removed.seeds)} if {gone} removed"
    return f"{text}{_compared(document, only)}."


def _compared(document: WhatIf, manner: WhatIfManner) -> str:
    if manner.without_changes is None:
        return ""
    return f" (without {conjoined(document.applied) or 'the manifests'}: {manner.without_changes})"


def _changed(document: WhatIf) -> str:
    """`api 12 -> 70: 50 of 58 new pods run (62 in all: 21/20/21), 8 wait.`"""
    (only,) = document.manners
    text = "; ".join(each.text for each in document.changes)
    if len(document.changes) == 1 and document.changes[0].kind == "scale":
        target = document.changes[0].objects[0]
        scaled = next((w for w in only.workloads if short(w.workload) == target), None)
        if scaled is not None and sum(scaled.after) + scaled.waiting > sum(scaled.before):
            return f"{text.partition('/')[2]}: {_new_pods(document, scaled)}"
    waits = number(only.seeds)
    then = f"{waits} pods do not run then" if only.seeds.most else "everything runs then"
    return f"{text}: {then}."


def _new_pods(document: WhatIf, each: WhatIfWorkload) -> str:
    run = sum(each.after) - sum(each.before)
    new = run + each.waiting - each.waited
    where = f": {by_domain(each.after)}" if 1 < len(document.domains) <= NAMED else ""
    wait = f", {each.waiting} wait" if each.waiting else ""
    return f"{run} of {new} new pods run ({sum(each.after)} in all{where}){wait}."


def workload_blocks(document: WhatIf, *, wide: bool) -> Iterator[Block]:
    """A row for each workload that something happens to."""
    manners = failures(document) or document.manners
    rows = [row for row in zip(*(each.workloads for each in manners), strict=True) if _told(row)]
    rows.sort(key=lambda row: not any(map(hurt, row)) if len(rows) > ROWS else 0)
    shown = rows if wide else rows[:ROWS]
    if shown:
        keeps = [_left_domains(document, each) for each in manners]
        if 1 < len(document.domains) <= NAMED:
            key = short_key(document.topology_key)
            yield Paragraph(f"Pods by {key}: {'/'.join(document.domains)}")
        yield Table(
            tuple(_header(manners)),
            tuple(tuple(_row(document, row, manners, keeps)) for row in shown),
            tuple("red" if any(map(hurt, row)) else "" for row in shown),
            right=frozenset(i for i, name in enumerate(_header(manners)) if name in COUNTS),
        )
        if len(shown) < len(rows):
            yield Paragraph(f"{len(rows) - len(shown)} more with -o wide")
    now = document.requested
    then = manners[-1]
    if (then.requested.used, then.requested.allocatable) != (now.used, now.allocatable):
        what = "" if document.loss is None else f" with {document.loss.name} {_how(then)}"
        left = " of what is left" if document.loss is not None else ""
        yield Paragraph(
            f"CPU requested: now {percent(now)},{what or ' then'} {percent(then.requested)}{left}."
        )


def _how(manner: WhatIfManner) -> str:
    return "removed" if manner.manner == "removed" else "unreachable"


def _told(row: Sequence[WhatIfWorkload]) -> bool:
    return any(each.lost or each.before != each.after or each.waiting for each in row)


def _header(manners: Sequence[WhatIfManner]) -> Iterator[str]:
    yield from ("  WORKLOAD", "NOW", "LOST")
    for each in manners:
        yield TITLES[each.manner]
        if _waits(each):
            yield "WAITING"


def _waits(manner: WhatIfManner) -> bool:
    return any(map(hurt, manner.workloads))


def _row(
    document: WhatIf,
    row: Sequence[WhatIfWorkload],
    manners: Sequence[WhatIfManner],
    keeps: Sequence[Sequence[int]],
) -> Iterator[str]:
    few = len(document.domains) <= NAMED
    first = row[0]
    yield f"{'!' if any(map(hurt, row)) else ' '} {short(first.workload)}"
    every = range(len(document.domains) + 1)
    yield by_domain(first.before, every) if few else str(sum(first.before))
    yield str(first.lost)
    for each, manner, kept in zip(row, manners, keeps, strict=True):
        yield by_domain(each.after, kept) if few else str(sum(each.after))
        if _waits(manner):
            yield str(each.missing)


def _left_domains(document: WhatIf, manner: WhatIfManner) -> list[int]:
    """Domains that still exist: a removed zone is none."""
    last = len(document.domains)
    gone = set()
    if manner.manner == "removed" and document.loss is not None:
        gone = {i for i, name in enumerate(document.domains) if name in document.loss.domains}
    return [i for i in range(last + 1) if i not in gone]


def by_domain(counts: Sequence[int], kept: Iterable[int] | None = None) -> str:
    """`4/4/4`; pods on nodes without the label come last, if there are any."""
    last = len(counts) - 1
    chosen = range(last + 1) if kept is None else kept
    return "/".join(str(counts[i]) for i in chosen if i != last or counts[i] or last == 0)


def deletion_blocks(document: WhatIf) -> Iterator[Block]:
    """What is left to chance where workloads are scaled down."""
    for each in document.deletions:
        told = whatif_deletion.headline(each)
        if told != headline(document):
            yield Paragraph(told)
        yield from whatif_deletion.blocks(each)


def help_blocks(document: WhatIf) -> Iterator[Block]:
    """Changes before it happens, and what can be done while it lasts."""
    before = [each for each in document.helps if each.when == "before"]
    if before:
        yield Paragraph("What helps, before it happens (each tried on a copy):")
        yield Listing(
            tuple((f"{i}.", each.text, _effect(each)) for i, each in enumerate(before, start=1))
        )
    if document.helps_not_tried:
        others = count_of(document.helps_not_tried, "other change was", "other changes were")
        yield Paragraph(f"{others} not tried.")
    if document.helps_too_large:
        yield Paragraph("No change was tried: in a cluster of this size each takes too long.")
    for each in document.helps:
        if each.when == "during":
            yield Listing((("During it:", _nodes_short(each), _effect(each)),))


def _nodes_short(each: WhatIfHelp) -> str:
    nodes = each.object.split(", ")
    return each.text if len(nodes) <= NAMED else f"kubectl delete node, all {len(nodes)} of them"


def _effect(each: WhatIfHelp) -> str:
    return ", ".join((f"{each.waiting_before} -> {each.waiting_after} waiting", *each.notes))


def end_blocks(document: WhatIf) -> Iterator[Block]:
    """What is left when nodes come back, and how sure all this is."""
    back = document.comes_back
    if back is not None and document.loss is not None:
        moves = ""
        if back.moves:
            moves = f"; planner solve --rebalance then moves {count_of(back.moves, 'pod')}"
        where = count_of(back.workloads, "workload")
        yield Paragraph(
            f"When {document.loss.name} comes back empty nothing moves by itself: "
            f"{back.excess} over the limit in {where}{moves}."
        )
    manners = failures(document) or document.manners
    if all(each.seeds.agree == each.seeds.tried for each in manners):
        tried = min(each.seeds.tried for each in manners)
        yield Paragraph(f"Checked: kube-scheduler's own choices in {tried} of {tried} tie seeds.")
        return
    for each in manners:
        yield Paragraph(_ties(each), "" if each.seeds.agree == each.seeds.tried else "yellow")


def _ties(manner: WhatIfManner) -> str:
    seeds = manner.seeds
    what = "" if manner.manner == "only" else f" ({manner.manner})"
    if seeds.agree == seeds.tried:
        return f"Checked{what}: kube-scheduler's own choices in all {seeds.tried} tie seeds."
    told = f"{number(seeds)} pods do not run"
    return f"Ties matter{what}: {told} over {seeds.tried} tie seeds; {seeds.agree} are like this."
