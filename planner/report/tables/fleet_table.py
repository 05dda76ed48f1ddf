"""A `FleetDecision` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.tables.fleet_rounds import round_table
from planner.report.text.blocks import GAP, NO_BREAK, Block, Listing, Paragraph, Style, Table
from planner.report.text.notices import notice_blocks
from planner.report.text.wording import name_some
from planner.words import count_of, short_key
from planner_models.fleet_decision import (
    FleetConstraint,
    FleetDecision,
    FleetDecisionList,
    FleetRepair,
)

REPAIRS = 5
LONG = 40
"""A longer change gets a line of its own."""

FILTERED = 10

VERDICT_STYLES: dict[str, Style] = {
    "fulfilled": "bold",
    "deadlock": "yellow",
    "impossible": "red",
    "undecided": "yellow",
}
OBJECTIVES = {
    "excess": "excess (DoNotSchedule)",
    "clusters": "clusters picked",
    "softExcess": "excess (ScheduleAnyway)",
    "affinity": "affinity score",
    "changes": "clusters given up",
    "skew": "skew",
}


def blocks(document: FleetDecision | FleetDecisionList, *, wide: bool) -> Sequence[Block]:
    """One placement after the other."""
    found: list[Block] = []
    for decision in _decisions(document):
        found.extend((GAP,) if found else ())
        found.extend(_decision(decision, wide=wide))
    return found


def names(document: FleetDecision | FleetDecisionList) -> Iterable[str]:
    """Every picked cluster."""
    return [f"membercluster/{name}" for each in _decisions(document) for name in each.picked]


def _decisions(document: FleetDecision | FleetDecisionList) -> tuple[FleetDecision, ...]:
    return document.items if isinstance(document, FleetDecisionList) else (document,)


def _decision(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    """Headline, where, why, rounds, filtered, the optimum, what helps, what Fleet says."""
    yield Paragraph(document.headline, VERDICT_STYLES[document.verdict])
    if document.verdict != "fulfilled" or document.narrative:
        yield Paragraph(f"  --> {_place(document)}", "cyan", indent=6)
    if document.narrative:
        yield GAP
        yield from (Paragraph(f"  {text}", indent=2) for text in document.narrative)
    yield from round_blocks(document, wide=wide)
    yield from dropped_blocks(document)
    yield from filtered_blocks(document, wide=wide)
    yield from _constraints(document, wide=wide)
    yield from best_blocks(document, wide=wide)
    yield from _repairs(document, wide=wide)
    if document.verdict != "fulfilled":
        yield GAP
        if document.condition is not None:
            yield Paragraph(f"Fleet says: {document.condition.message}.", "dim", indent=2)
        yield from proof_blocks(document)
    if document.notices:
        yield GAP
        yield from notice_blocks(document.notices, wide=wide)


def _place(document: FleetDecision) -> str:
    return f"{document.placement_kind}/{document.placement} {', '.join(fields(document))}"


def fields(document: FleetDecision) -> list[str]:
    """The fields that decide: of the conflict, or of what does not hold, or of the policy."""
    found = [fact.field for each in document.conflicts for fact in each.facts if fact.field]
    if not found:
        found = [each.field for each in document.constraints if not each.holds]
    if not found:
        found = _field_of_type(document)
    return list(dict.fromkeys(found))


def _field_of_type(document: FleetDecision) -> list[str]:
    hard = [
        each.field for each in document.constraints if each.when_unsatisfiable == "DoNotSchedule"
    ]
    match document.placement_type:
        case "PickFixed":
            return ["spec.policy.clusterNames"]
        case "PickN" if hard:
            return hard
        case _:
            return ["spec.policy"]


def round_blocks(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    """A dead-lock at the very first round has said it all in words."""
    told = document.verdict == "deadlock" and len(document.rounds) == 1
    if document.rounds and (wide or not told) and any(r.candidates for r in document.rounds):
        yield GAP
        yield from round_table(document, wide=wide)


def dropped_blocks(document: FleetDecision) -> Iterator[Block]:
    """Clusters that lose what was placed on them."""
    if document.dropped:
        yield GAP
        red: Style = "red"
        yield Listing(
            tuple(("-", each.cluster, each.text) for each in document.dropped),
            (red,) * len(document.dropped),
        )


def filtered_blocks(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    """Clusters that no round could pick; those that spread refuses stand in the rounds."""
    plugins = document.failing_plugins
    found = [
        (name, reasons)
        for name, reasons in document.filtered.items()
        if wide or plugins[name] != ("TopologySpreadConstraints",)
    ]
    if not found or document.placement_type == "PickFixed":
        return
    yield GAP
    yield Paragraph(f"Filtered: {count_of(len(found), 'cluster')}", "bold")
    shown = found if wide else found[:FILTERED]
    yield Listing(tuple(("!", name, _reasons(document, name, reasons)) for name, reasons in shown))
    if len(shown) < len(found):
        hidden = count_of(len(found) - len(shown), "more cluster")
        yield Paragraph(f"  and {hidden}; -o wide shows all", "dim")


def _reasons(document: FleetDecision, name: str, reasons: Sequence[str]) -> str:
    """Fleet's words, and behind those about affinity what the cluster lacks."""
    terms = document.lacking.get(name, ())
    said = "; or ".join(terms)
    return "; ".join(
        f"{reason} ({said})" if said and place == 0 else reason
        for place, reason in enumerate(reasons)
    )


def _constraints(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    if not wide or not document.constraints:
        return
    rows = [
        (
            short_key(each.topology_key),
            domain.domain,
            str(domain.clusters),
            str(domain.pickable),
            str(domain.before),
            str(domain.picked),
            "-" if domain.optimal is None else str(domain.optimal),
        )
        for each in document.constraints
        for domain in each.domains
    ]
    header = ("LABEL", "DOMAIN", "CLUSTERS", "PICKABLE", "BEFORE", "FLEET", "OPTIMUM")
    yield GAP
    yield Table(header, tuple(rows))


def best_blocks(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    """The skew that could be had, and the optimum where it is better."""
    splitting = [each for each in document.constraints if len(each.domains) > 1]
    if document.verdict == "fulfilled" and splitting and document.picked:
        yield Paragraph(_skew_text(document, splitting))
    if document.kube_scheduler_accepts and document.verdict != "deadlock":
        names = name_some(document.kube_scheduler_accepts)
        yield Paragraph(
            f"kube-scheduler would accept {names}: it looks only at the domain that receives, "
            "Fleet at the whole spread."
        )
    optimal = document.optimal
    if optimal is None or not (document.differs or wide):
        return
    rows = [
        (OBJECTIVES[each.name], str(each.fleet), str(each.value))
        for each in optimal.objectives
        if wide or each.fleet != each.value
    ]
    proven = "proven" if optimal.status == "optimal" else "not proven to be the best"
    listed = ", ".join(optimal.picked) if wide else name_some(optimal.picked)
    yield GAP
    yield Paragraph(f"Optimum ({proven}): {listed}", "green", indent=2)
    if optimal.dropped:
        lost = ", ".join(optimal.dropped) if wide else name_some(optimal.dropped)
        yield Paragraph(f"  It gives up {lost}.", indent=2)
    if rows:
        yield Table(("", "FLEET", "OPTIMUM"), tuple(rows))


def _skew_text(document: FleetDecision, splitting: Sequence[FleetConstraint]) -> str:
    number = count_of(len(document.picked), "cluster")
    reached = all(each.skew == each.least_skew for each in splitting)
    verdict = "Fleet reaches it." if reached else f"Fleet reaches {_skews(splitting, best=False)}."
    alone = ", each by itself" if len(splitting) > 1 else ""
    best = _skews(splitting, best=True)
    return f"Best possible skew with {number}: {best} (proven{alone}). {verdict}"


def _skews(splitting: Sequence[FleetConstraint], *, best: bool) -> str:
    values = [each.least_skew if best else each.skew for each in splitting]
    if len(values) == 1:
        return str(values[0])
    keys = [short_key(each.topology_key) for each in splitting]
    return ", ".join(f"{key} {value}" for key, value in zip(keys, values, strict=True))


def _repairs(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    if not document.repairs:
        return
    shown = shown_repairs(document, wide=wide)
    yield GAP
    yield Paragraph("What helps, smallest change first (each tried on a copy):", "bold")
    yield from _repair_lines(shown)
    if len(shown) < len(document.repairs):
        number = len(document.repairs) - len(shown)
        work = "works" if number == 1 else "work"
        hidden = count_of(number, "more change")
        yield Paragraph(f"  {hidden} {work} too (-o wide shows all).", "dim")
    if any(each.kind in ("raiseMaxSkew", "scheduleAnyway") for each in shown) and document.kept:
        yield Paragraph(
            "  A changed policy makes Fleet pick anew; it prefers its old clusters only where "
            "all else is equal.",
            "dim",
            indent=2,
        )


def _repair_lines(repairs: Sequence[FleetRepair]) -> Iterator[Block]:
    """Numbered; what has the same effect as the line above says so."""
    width = min(max(len(each.text) for each in repairs), LONG)
    for number, each in enumerate(repairs, start=1):
        effect = each.effect
        before = repairs[number - 2] if number > 1 else None
        if before is not None and each.picks and (each.picks, each.drops) == _result(before):
            effect = f"picks the same{'; then back' if each.undoable else ''}"
        head = f"  {number}. {each.text:<{width}}  "
        if len(each.text) > width:
            yield Paragraph(head.rstrip())
            yield Paragraph(f"     {effect}", indent=5)
        else:
            yield Paragraph(head.replace(" ", NO_BREAK) + effect, indent=len(head))


def _result(repair: FleetRepair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return repair.picks, repair.drops


def shown_repairs(document: FleetDecision, *, wide: bool) -> Sequence[FleetRepair]:
    """The first of each kind, then more of them up to the limit, in the order given."""
    repairs = document.repairs
    if wide:
        return repairs
    first = {each.kind: index for index, each in reversed(list(enumerate(repairs)))}
    chosen = sorted(first.values())
    more = [index for index in range(len(repairs)) if index not in chosen]
    chosen.extend(more[: max(0, REPAIRS - len(chosen))])
    return [repairs[index] for index in sorted(chosen)]


def proof_blocks(document: FleetDecision) -> Iterator[Block]:
    """What is proven about a placement that gets too little."""
    text = None
    if document.other_order:
        text = "Proven: another order of picks reaches the wanted number."
    elif document.every_order_tried:
        text = "Proven: every order of picks was tried."
    elif document.every_order_tried is False:
        text = "Proven: the optimum. Not every order of picks was tried."
    if document.conflicts:
        minimal = all(each.minimal for each in document.conflicts)
        text = "Proven: the conflict is minimal." if minimal else "Not proven to be minimal."
    if text:
        yield Paragraph(text, "dim")
