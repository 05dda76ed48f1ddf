"""The `DrainPlan` of `--most` as text: which nodes can go, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.tables.drain_rounds import kept_in_domains
from planner.report.text.blocks import GAP, Block, Paragraph, Style, Table
from planner.words import count_of
from planner_models.drain import DrainPlan, SavedNodes, Waiting

NAMED = 12
"""So many nodes are named."""


def headline(document: DrainPlan) -> str:
    """`6 of 12 nodes can be emptied: a1 a2 b1 b4 c3 c4. Saves 1.21 of 2.42 per hour.`"""
    most = document.most
    assert most is not None
    number = len(document.nodes)
    if not number:
        return f"None of {count_of(most.of, 'node')} can be emptied."
    text = f"{number} of {count_of(most.of, 'node')} can be emptied"
    text += f": {named(document.nodes)}." if number <= NAMED else "."
    saved = document.savings
    if saved is not None:
        text += f" Saves {_money(saved.per_hour)} of {_money(saved.of)} per hour."
    return text


def named(nodes: tuple[str, ...]) -> str:
    """The names, as a shell takes them."""
    return " ".join(nodes[:NAMED]) + (" ..." if len(nodes) > NAMED else "")


def proof_block(document: DrainPlan) -> Paragraph:
    """Whether more could go."""
    most, number = document.most, len(document.nodes)
    assert most is not None
    if most.optimal:
        return Paragraph(_optimal(document))
    if document.savings is not None:
        saved = document.savings
        gap = (saved.bound - saved.per_hour) / saved.bound if saved.bound else 0
        bound = f"at most {_money(saved.bound)} per hour could be saved"
    else:
        gap = (most.bound - number) / most.bound if most.bound else 0
        bound = f"at most {most.bound} nodes could go"
    return Paragraph(f"Not proven the most: {bound} (gap {gap:.1%}).")


def _optimal(document: DrainPlan) -> str:
    most, number = document.most, len(document.nodes)
    assert most is not None
    if document.savings is not None and most.at_once is None:
        return "Optimal: no set of nodes saves more."
    text = f"Optimal: no {count_of(number + 1, 'node')} can"
    if most.at_once is not None and most.at_once.domains:
        return f"{text}: {kept_in_domains(most.at_once)}."
    if most.sets_tried > 1:
        return f"{text}: {count_of(most.sets_tried - 1, 'larger or equal set')} failed when tried."
    return f"{text}."


def summary_block(document: DrainPlan) -> Paragraph:
    """`24 evictions in 6 waves, within budgets. Afterwards 79% of the CPU is requested.`"""
    evictions = count_of(len(document.evictions), "eviction")
    waves = count_of(sum(len(each.waves) for each in document.rounds), "wave")
    text = f"{evictions} in {waves}, within budgets."
    if document.after is not None:
        text += f" Afterwards {document.after.requested:.0%} of the CPU is requested."
    return Paragraph(text)


def failure_blocks(document: DrainPlan) -> Iterator[Block]:
    """Sets to choose from, and how many pods wait after one more failure."""
    sets = document.after.sets if document.after is not None else ()
    if not sets:
        text = "What one more failure would leave waiting was not tried at this size; "
        yield Paragraph(f"{text}--survive zone does.", "dim")
        return
    if _falls(sets[-1]) and not _falls(sets[0]):
        text = "Before you do: the cluster would no longer stand a failure."
        yield Paragraph(text, "yellow")
    priced = document.savings is not None
    header = ("NODES LEFT", *(("SAVES/H",) if priced else ()), "ONE NODE LOST")
    header = (*header, "ONE ZONE LOST (removed)", "")
    rows = tuple(_row(each, priced=priced) for each in sets)
    yield Table(header, rows, tuple(_style(each) for each in sets))
    for each in sets:
        if each.survives != "none" and document.options.survive == "none":
            yield GAP
            evictions = count_of(each.evictions, "eviction")
            text = f"--survive {each.survives}: {named(each.nodes)} can go "
            text += f"({evictions} in {count_of(each.waves, 'wave')})."
            text += " Of larger sets one was tried for each number of nodes per zone; all failed."
            yield Paragraph(text)


def _row(each: SavedNodes, *, priced: bool) -> tuple[str, ...]:
    cells = [str(each.nodes_left).rjust(len("NODES LEFT"))]
    if priced:
        cells.append(_money(each.per_hour or 0).rjust(len("SAVES/H")))
    asked = f"--survive {each.survives}" if each.survives != "none" else ""
    return (*cells, waiting_text(each.node), waiting_text(each.zone), asked)


def waiting_text(found: Waiting | None) -> str:
    """`0 wait`, `9 or 10 wait`, `3 to 6 wait`."""
    if found is None:
        return "-"
    if found.least == found.most:
        return f"{found.most} wait"
    word = "or" if found.most == found.least + 1 else "to"
    return f"{found.least} {word} {found.most} wait"


def _falls(each: SavedNodes) -> bool:
    """Whether some single failure leaves pods waiting."""
    return any(found is not None and found.most > 0 for found in (each.node, each.zone))


def _style(each: SavedNodes) -> Style:
    return "red" if _falls(each) else "green"


def _money(value: float) -> str:
    return "0" if not value else f"{value:.2f}"
