"""A `Diagnosis` as text: the answer first, why, what helps, and kube-scheduler's word last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from planner.report.tables.explain_repairs import repair_lines
from planner.report.tables.scale_up_words import in_short
from planner.report.text.blocks import GAP, NO_BREAK, Block, Paragraph, Style, Table
from planner.report.text.commands import about
from planner.report.text.notices import notice_blocks
from planner.words import conjoined, count_of
from planner_models.diagnosis import (
    Diagnosis,
    NodeClass,
    Rearrangement,
    RearrangementStep,
    RepairKind,
    Verdict,
)

STYLES: dict[Verdict, Style] = {
    "impossible": "red",
    "stuck": "yellow",
    "schedulable": "green",
    "undecided": "yellow",
    "gated": "cyan",
}
ORDER: tuple[Verdict, ...] = ("impossible", "undecided", "stuck", "schedulable", "gated")
_NEVER: frozenset[RepairKind] = frozenset(("movePods",))
_INSTEAD: frozenset[RepairKind] = frozenset(("movePods", "freeCapacity", "scale", "deletePod"))
"""What the evictions do already."""
SHOWN_MOVES = 3
"""Evictions that a line about several workloads names."""
_TOLD = {
    "minDomains": "fewer than minDomains",
    "volumeAgainstSpread": "count all the same",
    "aboveAnyNode": "even when empty",
    "bypassedNodes": "bypassed",
}
"""Hints that a derivation tells in its own words, and how to see that it did."""
_NUMBERED = re.compile(r"\b(maxSkew|minDomains|priority) (\d)")


def blocks(document: Diagnosis, *, wide: bool) -> Sequence[Block]:
    """One explanation, or a summary of several and the way to each."""
    found = _summary(document, wide=wide) if document.parts else _explanation(document, wide=wide)
    return [*found, *_nodes_to_add(document), *notice_blocks(document.notices, wide=wide)]


def _nodes_to_add(document: Diagnosis) -> Iterator[Block]:
    """Which nodes of the pools, where, for how many of the pods that wait, at which price."""
    nodes = document.nodes_to_add
    if nodes is None:
        return
    yield GAP
    if not nodes.pods:
        yield Paragraph("No node has to be added: no pod waits.")
        return
    running = nodes.pods - nodes.waiting
    them = count_of(nodes.pods, "waiting pod")
    told = f"{running} of {them} {'runs' if running == 1 else 'run'} then"
    yield Paragraph(
        f"Of the pools: {in_short(nodes)}; {told}."
        if nodes.adds
        else "Of the pools: no node helps."
    )


def names(document: Diagnosis) -> Iterable[str]:
    """The workloads that were asked about: their pods may be of planner's own making."""
    asked = document.parts or (document,)
    return dict.fromkeys(workload for part in asked for workload in part.workloads)


def _explanation(document: Diagnosis, *, wide: bool) -> Iterator[Block]:
    yield Paragraph(f"{document.verdict}: {document.headline}", STYLES[document.verdict], indent=2)
    if document.where:
        yield Paragraph(f"  --> {'; '.join(document.where)}", "cyan", indent=6)
    if document.grid:
        yield GAP
        yield from (Paragraph(f"  {line}".replace(" ", NO_BREAK)) for line in document.grid)
    for group in (document.narrative, document.rearranging):
        if group:
            yield GAP
            yield from (Paragraph(f"  {_kept(text)}", indent=2) for text in group)
    if document.displacing:
        yield GAP
        yield Paragraph(f"  {_kept(document.displacing)}", indent=2)
    if len(document.first_reasons) > 1:
        yield GAP
        yield _classes(document.first_reasons)
    if document.shares:
        yield GAP
        yield _shares(document)
    if document.rearrangement is not None:
        yield GAP
        yield from _rearrangement(document.rearrangement, document.targets)
    yield from _repairs(document, wide=wide)
    yield from _hints(document)
    yield from _sources(document, wide=wide)


def _kept(text: str) -> str:
    """A field and its number stay on one line."""
    return _NUMBERED.sub(rf"\1{NO_BREAK}\2", text)


def _classes(classes: Sequence[NodeClass]) -> Table:
    width = max(5, *(len(str(c.nodes)) for c in classes))
    rows = tuple((f"{c.nodes:>{width}}", c.which, c.first) for c in classes)
    return Table(("NODES", "WHICH", "BLOCKED BY"), rows)


def _all_rules(classes: Sequence[NodeClass]) -> Table:
    """Every class with every rule that refuses it, not only the first."""
    width = max(5, *(len(str(c.nodes)) for c in classes))
    rows = tuple((f"{c.nodes:>{width}}", c.which, " + ".join(c.blocked_by)) for c in classes)
    return Table(("NODES", "WHICH", "BLOCKED BY ALL OF"), rows)


def _shares(document: Diagnosis) -> Table:
    others = [share.workload for share in document.shares]
    header = (
        "WORKLOAD",
        "PENDING",
        "PRIORITY",
        "ALONE",
        *(f"IF {name.rpartition('/')[2].upper()} IS FIRST" for name in others),
    )
    rows = tuple(
        (
            share.workload,
            str(share.pending),
            str(share.priority),
            f"{share.alone} of {share.pending}",
            *(str(share.if_first.get(name, "")) for name in others),
        )
        for share in document.shares
    )
    return Table(header, rows)


def _rearrangement(found: Rearrangement, targets: Sequence[str]) -> Iterator[Block]:
    yield Paragraph(_evictions(found), "bold")
    evicted = {step.pod for step in found.steps if step.action == "evict"}
    rows: list[tuple[str, str, str, str, Style]] = []
    for step in found.steps:
        name = (step.pod or "").partition("/")[2]
        if step.action == "evict":
            rows.append(("- evict", name, step.node, step.note, "red"))
        elif step.pod in evicted:
            where = _any_of(step)
            rows.append(("~ back", step.returns_as or name, where, "", "yellow"))
        elif step.action == "place":
            rows.append(("+ place", name, step.node, "", "green"))
        else:
            rows.append((step.action, step.node, "", step.note, ""))
    name_width = max(len(row[1]) for row in rows)
    node_width = max((len(row[2]) for row in rows if row[3]), default=0)
    for action, name, node, note, style in rows:
        if not node:
            yield Paragraph(f"  {action:<8} {name}")
            if note:
                yield Paragraph(f"{' ' * 11}{note}", indent=11)
            continue
        text = f"  {action:<8} {name:<{name_width}}  {node:<{node_width}}  {note}".rstrip()
        yield Paragraph(text, style, indent=11)
    if found.checked:
        yield Paragraph(f"  {found.checked}", indent=2)
    if found.beyond_budgets:
        names = conjoined(found.beyond_budgets)
        yield Paragraph(f"  The budget {names} allows fewer disruptions at once.", indent=2)


def _evictions(found: Rearrangement) -> str:
    if found.fewest:
        return f"The fewest evictions: {found.evictions} (proven)"
    least = {0: "fewer may do", 1: "at least 1 is needed"}
    bound = least.get(found.at_least, f"at least {found.at_least} are needed")
    return f"Evictions that make room: {found.evictions} ({bound})"


def _any_of(step: RearrangementStep) -> str:
    """`a1 or a2`: kube-scheduler chooses where an evicted pod comes back."""
    names = step.any_of.split(" ")
    if not step.any_of or "nodes" in names or step.any_of == "any node":
        return step.any_of or step.node
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else step.node


def _repairs(document: Diagnosis, *, wide: bool) -> Iterator[Block]:
    stuck = document.verdict == "stuck"
    hidden = _INSTEAD if stuck and not wide else _NEVER
    shown = [repair for repair in document.repairs if repair.kind not in hidden]
    if not shown:
        return
    yield GAP
    head = "Or change a rule" if stuck else "What helps, smallest change first"
    yield Paragraph(f"{head} (each tried on a copy):", "bold")
    for line in repair_lines(shown, wide=wide):
        yield Paragraph(line, indent=5)
    yield from (Paragraph(f"  {text}", indent=2) for text in document.not_listed)


def _hints(document: Diagnosis) -> Iterator[Block]:
    """Those that the derivation has not told already."""
    told = " ".join((*document.narrative, document.headline))
    found = [
        hint
        for hint in document.hints
        if hint.text not in told and _TOLD.get(hint.code, hint.text) not in told
    ]
    if found:
        yield GAP
        yield from (Paragraph(f"hint: {hint.text}", "yellow", indent=6) for hint in found)


def _sources(document: Diagnosis, *, wide: bool) -> Iterator[Block]:
    if wide and document.node_classes and not document.nodes_table:
        yield GAP
        yield _all_rules(document.node_classes)
    if wide and document.nodes_table:
        yield GAP
        yield Table(document.nodes_table[0], document.nodes_table[1:])
        yield Paragraph(
            "All rules are judged on every node; kube-scheduler stops at the first that fails.",
            "dim",
        )
    if wide and document.conflicts:
        listed = [
            "{"
            + ", ".join(fact.name for fact in conflict.constraints)
            + "}"
            # What was not confirmed on copies is not called minimal without saying so.
            + ("" if conflict.minimal else " (not proven)")
            for conflict in document.conflicts
        ]
        more = " and more" if document.more_conflicts else ""
        number = len(document.conflicts)
        yield Paragraph(f"Minimal conflicts ({number}{more}): {', '.join(listed)}", indent=2)
    if document.message:
        yield GAP
        yield Paragraph(f"kube-scheduler says: {_message(document, wide=wide)}", "dim", indent=2)
    if document.proof:
        yield Paragraph(f"Proven: {'; '.join(document.proof)}.", "dim", indent=2)


def _message(document: Diagnosis, *, wide: bool) -> str:
    """The event in full where it says more than that there are no victims."""
    telling = "not eligible" in document.event
    return document.event if (wide or telling) and document.event else document.message


def _summary(document: Diagnosis, *, wide: bool) -> list[Block]:
    """All pending pods: a line per workload, the worst first."""
    counts = dict.fromkeys(ORDER, 0)
    for part in document.parts:
        left = _without_node(part)
        counts[part.verdict] += left
        counts["schedulable"] += len(part.targets) - left
    shown: tuple[Verdict, ...] = ("schedulable", "stuck", "impossible", "undecided", "gated")
    listed = ", ".join(f"{counts[v]} {v}" for v in shown if counts[v])
    pods = count_of(len(document.targets), "pending pod")
    workloads = count_of(len(document.parts), "workload")
    found: list[Block] = [Paragraph(f"{pods} of {workloads}: {listed}", "bold"), GAP]
    parts = sorted(document.parts, key=lambda p: (ORDER.index(p.verdict), p.workloads))
    rows = tuple(
        (
            part.verdict,
            part.workloads[0],
            pods_judged(part),
            _cut(part.short, 34),
            _cut(part.remedy, 24),
        )
        for part in parts
    )
    styles = tuple(STYLES[part.verdict] for part in parts)
    found.append(Table(("VERDICT", "WORKLOAD", "PODS", "WHY", "WHAT HELPS"), rows, styles))
    notes = [text for part in parts for text in _note(part)]
    if notes:
        found.append(GAP)
        found.extend(Paragraph(text) for text in notes)
    bad = [part for part in parts if part.verdict not in ("schedulable", "gated")]
    if bad:
        namespace = bad[0].targets[0].partition("/")[0]
        one = about("explain", namespace, bad[0].workloads[0])
        found.extend((GAP, Paragraph(f"For one of them: {one}")))
    if wide:
        for part in bad:
            found.append(GAP)
            found.extend(_explanation(part, wide=True))
    return found


def _without_node(part: Diagnosis) -> int:
    """The pods that the verdict is about; the others of the workload find a node."""
    if part.verdict == "schedulable" or part.without_node is None:
        return len(part.targets)
    return part.without_node


def pods_judged(part: Diagnosis) -> str:
    """`2 of 3`: so many of the pods the verdict is about."""
    left, number = _without_node(part), len(part.targets)
    return str(number) if left == number else f"{left} of {number}"


def _note(part: Diagnosis) -> list[str]:
    found = part.rearrangement
    if found is None or part.verdict != "stuck":
        told = [hint.text for hint in part.hints if hint.code == "moreRoomWouldNotHelp"]
        return [f"{part.workloads[0]}: {text}." for text in told]
    named = [f"{m.pod.partition('/')[2]} on {m.from_}" for m in found.moves[:SHOWN_MOVES]]
    more = found.evictions - len(named)
    moves = conjoined([*named, f"{more} more"] if more else named)
    number = count_of(found.evictions, "eviction")
    verb = "lets" if found.evictions == 1 else "let"
    pods = len(part.targets)
    name = part.workloads[0].rpartition("/")[2]
    who = {1: f"the {name} pod run", 2: f"both {name} pods run"}.get(
        pods, f"{pods} {name} pods run"
    )
    return [f"{number} ({moves}) {verb} {who}."]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3].rstrip()}..."
