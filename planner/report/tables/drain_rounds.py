"""A rolling `DrainPlan` as text: the choices, or the rounds of one of them."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.text.blocks import Block, Paragraph, Style, Table
from planner.words import conjoined, count_of, named_or_counted, short_key
from planner_models.drain import AtOnce, DrainChoice, DrainPlan
from planner_models.resources import CPU

ROUNDS = 20
"""So many rounds have a line of their own."""


def headline(document: DrainPlan) -> str:
    """`12 nodes in 2 rounds at least; more nodes at once can't be empty together.`"""
    nodes = count_of(len(document.nodes), "node")
    if document.choices and document.status == "possible":
        least = document.bounds.rounds
        first = document.choices[0]
        if least is not None and least == first.rounds:
            return f"{nodes} in {count_of(least, 'round')} at least; {_more(document, first)}."
        return f"{nodes} in {count_of(first.rounds or 0, 'round')}; {_least(least)}."
    if document.round is not None:
        return _round_headline(document, document.round)
    number = _all_rounds(document)
    evictions = count_of(len(document.evictions), "eviction")
    waves = count_of(sum(len(each.waves) for each in document.rounds), "wave")
    planned = ", the first " + str(len(document.rounds)) if document.later else ""
    text = f"{nodes} in {count_of(number, 'round')}{planned}: {evictions} in {waves}"
    extra = document.rounds[0].extra_nodes if document.rounds else ()
    if extra:
        text += f", with {count_of(len(extra), 'extra node')}"
    return f"{text}; every pod finds a place."


def _all_rounds(document: DrainPlan) -> int:
    return len(document.rounds) + (document.later.rounds if document.later else 0)


def _round_headline(document: DrainPlan, number: int) -> str:
    """`Round 2 of 4, a2, b4 and c3: 18 evictions in 4 waves; every pod finds a place.`"""
    each = document.rounds[number - 1]
    nodes = named_or_counted(each.nodes, "node")
    evictions = count_of(len(document.evictions), "eviction")
    waves = count_of(len(each.waves), "wave")
    head = f"Round {number} of {_all_rounds(document)}, {nodes}"
    return f"{head}: {evictions} in {waves}; every pod finds a place."


def _more(document: DrainPlan, first: DrainChoice) -> str:
    most = document.at_once.most if document.at_once is not None else 0
    if most == first.nodes_at_once:
        return "more nodes at once can't be empty together"
    return "all ways to take them in fewer were tried"


def _least(least: int | None) -> str:
    return "how few would do is not known" if least is None else f"at least {least} are needed"


def choice_blocks(document: DrainPlan) -> Iterator[Block]:
    """The choices that none beats, and why fewer rounds can't be."""
    rows = [_row(each, document) for each in document.choices]
    styles: list[Style] = ["" if c.status == "possible" else "dim" for c in document.choices]
    header = ("ROUNDS", "NODES AT ONCE", "EXTRA NODES", "EVICTIONS", "WAVES", "")
    yield Table(_right(header, rows), tuple(_right(row, rows) for row in rows), tuple(styles))


def _row(each: DrainChoice, document: DrainPlan) -> tuple[str, ...]:
    note = ""
    if each.status != "possible":
        note = each.status
    elif each.extra_nodes and each.evictions == document.bounds.evictions:
        note = "each pod moves once"
    size = str(each.nodes_at_once)
    if each.topology_key is not None:
        size += f" (a {short_key(each.topology_key)} at once)"
    elif each.per_domain is not None:
        size += f" ({each.per_domain} per {_domain(document)})"
    numbers = (_number(each.evictions), _number(each.waves))
    return (_number(each.rounds), size, str(each.extra_nodes), *numbers, note)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _domain(document: DrainPlan) -> str:
    keys = [each.topology_key for each in document.choices if each.topology_key is not None]
    return short_key(keys[0]) if keys else "domain"


def _right(row: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Numbers stand under the end of their header."""
    header = ("ROUNDS", "", "EXTRA NODES", "EVICTIONS", "WAVES", "")
    widths = [max(len(h), *(len(r[i]) for r in rows)) for i, h in enumerate(header)]
    return tuple(cell.rjust(widths[i]) if i in (0, 2, 3, 4) else cell for i, cell in enumerate(row))


def bound_blocks(document: DrainPlan) -> Iterator[Block]:
    """What no plan beats, and why."""
    bounds = document.bounds
    text = f"At least {count_of(bounds.evictions or 0, 'eviction')} (all pods)"
    if bounds.waves is not None:
        text += f" and {count_of(bounds.waves, 'wave')}"
    if bounds.tightest is not None:
        tight = bounds.tightest
        name = tight.budget.rpartition("/")[2]
        text += f" ({name}: {count_of(tight.pods, 'pod')}, {tight.at_once} at a time)"
    yield Paragraph(f"{text}.")
    why = why_at_once(document.at_once, document.bounds.rounds) or _at_most(document)
    moves = ""
    if any(each.extra_nodes for each in document.choices):
        moves = "With extra nodes the old ones are cordoned first, all of them; without, some "
        moves += "pods move twice."
    told = " ".join(part for part in (why, moves) if part)
    if told:
        yield Paragraph(told)


def _at_most(document: DrainPlan) -> str:
    """`No more than 3316 nodes can be empty together, as long as hard rules hold: at least ...`"""
    rounds, found = document.bounds.rounds, document.at_once
    if document.choices or rounds is None or found is None:
        return ""
    text = f"No more than {count_of(found.most, 'node')} can be empty together while rules hold"
    return f"{text}: at least {count_of(rounds, 'round')} without extra nodes."


def why_at_once(found: AtOnce | None, rounds: int | None) -> str:
    """`2 rounds is the least: each zone has to hold 4.35 CPU of spread pods, so 2 of its 4 ...`"""
    if found is None or rounds is None or not found.domains:
        return ""
    return f"{count_of(rounds, 'round')} is the least: {kept_in_domains(found)}."


def kept_in_domains(found: AtOnce) -> str:
    """What hard spread keeps in each domain, in words."""
    kinds = {(d.keeps, d.nodes, d.requested.get(CPU, 0)) for d in found.domains}
    key = short_key(found.domains[0].topology_key)
    if len(kinds) == 1:
        keeps, nodes, cpu = kinds.pop()
        hold = f"each {key} has to hold {cpu / 1000:g} CPU of spread pods"
        return f"{hold}, so {keeps} of its {nodes} nodes {'have' if keeps > 1 else 'has'} to stay"
    said = [f"{d.domain} {d.keeps} of {d.nodes} nodes" for d in found.domains]
    return f"what hard spread keeps in each {key} needs {conjoined(said)}"


def round_blocks(document: DrainPlan) -> Iterator[Block]:
    """A line for each round."""
    rows = []
    for number, each in enumerate(document.rounds, start=1):
        if document.round in (None, number):
            evictions = sum(len(wave.evictions) for wave in each.waves)
            names = named_or_counted(each.nodes, "node")
            rows.append((str(number), names, str(evictions), str(len(each.waves))))
    yield Table(("ROUND", "NODES", "EVICTIONS", "WAVES"), tuple(rows[:ROUNDS]))
    if len(rows) > ROUNDS:
        yield Paragraph(f"... ({len(rows) - ROUNDS} more; -o json has all)", "dim")
    later = document.later
    if later is not None and document.round is None:
        rest = f"{count_of(later.rounds, 'more round')} of {count_of(later.nodes, 'node')}"
        pods = count_of(later.evictions, "pod")
        text = f"Then {rest}, not planned here: {pods} are on them by now. --round N plans it."
        yield Paragraph(text)


def next_block(document: DrainPlan) -> Iterator[Block]:
    """How to see one of the choices."""
    possible = [each for each in document.choices if each.status == "possible"]
    if possible:
        best = min(possible, key=lambda each: (each.evictions or 0, each.extra_nodes))
        options = f"--nodes-at-once {best.nodes_at_once}"
        if best.extra_nodes:
            options += f" --extra-nodes {best.extra_nodes}"
        yield Paragraph(f"Next: {options} shows that plan; -o script runs it.")
