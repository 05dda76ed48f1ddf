"""The report of `planner capacity`: how many more pods fit, and the curve of moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.html.view import (
    Badge,
    CurveSection,
    Dot,
    Fact,
    Names,
    Page,
    Row,
    Section,
    TableSection,
    TextSection,
)
from planner.report.html.words import sentence, words
from planner.report.tables import capacity_table
from planner.report.text.blocks import Table, plain_text
from planner.words import count_of
from planner_models.capacity import Capacity, CurvePoint


def capacity_page(document: Capacity) -> Page:
    """The answer, its numbers, and everything as text."""
    fits = all(line.now.count for line in document.lines)
    text = plain_text(capacity_table.blocks(document, wide=True))
    return Page(
        command="planner capacity",
        badge=Badge("Room", "good") if fits else Badge("No room", "bad"),
        headline=sentence(capacity_table.headline(document)),
        lead=tuple(remark for line in document.lines for remark in line.remarks),
        facts=tuple(_facts(document)),
        sections=(
            *_sections(document),
            TextSection("The same as text", (text,), code=True, folded=True),
        ),
        names=Names((), ()),
        words=words("budget", "domain"),
        notices=tuple(notice.text for notice in document.notices),
    )


def _facts(document: Capacity) -> Iterator[Fact]:
    yield Fact(f"{document.nodes:,}", "nodes")
    if len(document.lines) == 1:
        line = document.lines[0]
        yield Fact(f"{line.now.count:,}", "more fit now", "good" if line.now.count else "bad")
        if line.bound is not None:
            yield Fact(f"{line.bound.count:,}", "at most, by the sum of what is free")
        if line.survive is not None:
            yield Fact(f"{line.survive.count:,}", f"and survive a {line.survive.kind} loss")


def _sections(document: Capacity) -> Iterator[Section]:
    for line in document.lines:
        if len(line.curve) > 1:
            yield _curve(line.curve)
    for block in capacity_table.blocks(document, wide=True):
        if isinstance(block, Table):
            title = "The same in numbers" if block.header[0] == "MORE PODS" else "How many more"
            rows = tuple(Row(row) for row in block.rows)
            yield TableSection(title, "", block.header, rows, _numeric(block))


WIDTH, HEIGHT, MARGIN = 560, 200, 24


def _curve(points: Sequence[CurvePoint]) -> CurveSection:
    """Moves of other pods, upwards, against more pods, to the right."""
    first, most = points[0].count, max(point.moves for point in points)
    wide = max(1, points[-1].count - first)
    dots = (
        Dot(
            x=MARGIN + (WIDTH - 2 * MARGIN) * (point.count - first) // wide,
            y=HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * point.moves // max(1, most),
            label=str(point.moves),
            text=f"{count_of(point.count, 'more pod')} with {count_of(point.moves, 'move')}"
            + ("" if point.status == "proven" else f", at least {point.at_least}"),
            proven=point.status == "proven",
        )
        for point in points
    )
    note = "To the right: more pods. Upwards: moves of others; hollow where fewer might do."
    return CurveSection("Moves for more pods", note, WIDTH, HEIGHT, tuple(dots))


def _numeric(table: Table) -> frozenset[int]:
    """Columns that hold numbers alone."""
    return frozenset(
        i
        for i in range(len(table.header))
        if table.rows and all(row[i].isdigit() for row in table.rows)
    )
