"""The report of `planner whatif`: what is lost, what comes back, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.report.html.failure_map import failure_map
from planner.report.html.view import (
    Badge,
    Card,
    CardSection,
    Fact,
    Names,
    Page,
    Row,
    Section,
    TableSection,
    TextSection,
)
from planner.report.html.words import sentence, words
from planner.report.tables import whatif_singles, whatif_table, whatif_why
from planner.report.tables.whatif_words import percent
from planner.report.text.blocks import NO_BREAK, Paragraph, Table, plain_text
from planner_models.whatif import WhatIf, WhatIfAnswer, WhatIfHelp

BADGES: Mapping[WhatIfAnswer, Badge] = {
    "same": Badge("Nothing gets worse", "good"),
    "worse": Badge("Worse", "bad"),
    "undecided": Badge("Depends on ties", "warn"),
}


def whatif_page(document: WhatIf) -> Page:
    """The worst first; then the workloads, why, and what helps."""
    text = plain_text(whatif_table.blocks(document, wide=True))
    return Page(
        command="planner whatif",
        badge=BADGES[document.answer],
        headline=sentence(whatif_table.headline(document), [text.partition(" ")[0]]),
        lead=tuple(_lead(document)),
        facts=tuple(_facts(document)),
        sections=(
            *_sections(document),
            TextSection("The same as text", (text,), code=True, folded=True),
        ),
        names=Names((), ()),
        words=words("maxSkew", "domain", "over the limit", "budget"),
        notices=tuple(notice.text for notice in document.notices),
    )


def _lead(document: WhatIf) -> Iterator[str]:
    if document.singles:
        told = whatif_singles.blocks(document, wide=False)
        yield from (
            each.text.replace(NO_BREAK, " ") for each in told if isinstance(each, Paragraph)
        )
        return
    for block in (*whatif_why.blocks(document), *whatif_table.end_blocks(document)):
        if isinstance(block, Paragraph):
            yield " ".join(block.text.split())


def _facts(document: WhatIf) -> Iterator[Fact]:
    if document.singles:
        bad = sum(whatif_singles.worst(each) > 0 for each in document.singles)
        yield Fact(f"{len(document.singles):,}", "failures tried")
        yield Fact(f"{bad:,}", "leave pods waiting", "bad" if bad else "good")
    for each in whatif_table.failures(document) or document.manners:
        missing = each.seeds.most
        label = "pods do not run" if each.manner == "only" else f"pods down, {each.manner}"
        yield Fact(f"{missing:,}", label, "bad" if missing else "good")
    yield Fact(percent(document.requested), "CPU requested now")


def _sections(document: WhatIf) -> Iterator[Section]:
    if document.singles:
        yield failure_map(document)
    told = whatif_singles.blocks if document.singles else whatif_table.workload_blocks
    for block in told(document, wide=True):
        if isinstance(block, Table):
            rows = tuple(
                Row(cells, tone="bad" if style == "red" else "")
                for cells, style in zip(block.rows, block.styles, strict=True)
            )
            domains = f"Pods by domain: {'/'.join(document.domains)}"
            title, note = ("Lines", "") if document.singles else ("Workloads", domains)
            yield TableSection(title, note, block.header, rows)
    if document.helps:
        cards = tuple(map(_card, document.helps))
        yield CardSection("What helps", "Each was tried on a copy.", cards)


def _card(each: WhatIfHelp) -> Card:
    then = f"{each.waiting_before} -> {each.waiting_after} pods waiting"
    price = ", ".join(
        (f"{each.when} it happens" if each.when == "before" else "during it", *each.notes)
    )
    return Card(each.text, then, price, each.command or "")
