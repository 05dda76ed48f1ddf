"""The report of `planner sweep`: clusters worst first, or growth by failure as a heat map."""

from __future__ import annotations

from collections.abc import Iterator

from planner.exit_codes import DONE, NEGATIVE
from planner.report.html.failure_map import LEVELS
from planner.report.html.view import (
    Badge,
    Fact,
    FailureCell,
    FailureGroup,
    FailureMap,
    Names,
    Page,
    Row,
    Section,
    TableSection,
    TextSection,
)
from planner.report.html.words import sentence, words
from planner.report.tables import sweep_table
from planner.report.text.blocks import Table, plain_text
from planner.words import count_of
from planner_models.sweep import Sweep


def sweep_page(document: Sweep) -> Page:
    """The headline, the numbers, and every line."""
    blocks = sweep_table.blocks(document, wide=False)
    bad = any(row.exit_code != DONE for row in document.rows) or any(
        cell.waiting for cell in document.cells
    )
    return Page(
        command="planner sweep",
        badge=Badge("Look at the first lines", "bad") if bad else Badge("Nothing is wrong", "good"),
        headline=sentence(sweep_table.headline(document)),
        lead=(),
        facts=tuple(_facts(document)),
        sections=(
            *_heat_map(document),
            *(_table(document, block) for block in blocks if isinstance(block, Table)),
            TextSection("The same as text", (plain_text(blocks),), code=True, folded=True),
        ),
        names=Names((), ()),
        words=words("domain"),
        notices=(),
    )


def _facts(document: Sweep) -> Iterator[Fact]:
    if document.growth:
        bad = sum(cell.waiting > 0 for cell in document.cells)
        yield Fact(f"{len(document.cells):,}", "cells")
        yield Fact(f"{bad:,}", "leave pods waiting", "bad" if bad else "good")
        return
    codes = [row.exit_code for row in document.rows]
    failed = sum(code not in sweep_table.RAN for code in codes)
    yield Fact(f"{len(codes):,}", "clusters")
    yield Fact(f"{codes.count(NEGATIVE):,}", "negative answers", "bad" if NEGATIVE in codes else "")
    yield Fact(f"{failed:,}", "failed", "bad" if failed else "")


def _heat_map(document: Sweep) -> Iterator[Section]:
    """A row of cells for each growth, as the report of single failures has one for each kind."""
    if not document.growth:
        return
    most = max((cell.waiting for cell in document.cells), default=0)
    groups = []
    for growth in document.growth:
        same = [cell for cell in document.cells if cell.growth == growth]
        bad = sum(cell.waiting > 0 for cell in same)
        cells = tuple(
            FailureCell(
                -(-LEVELS * cell.waiting // most) if cell.waiting else 0,
                f"{growth}, {cell.failure}: {count_of(cell.waiting, 'pod')} waiting",
            )
            for cell in same
        )
        groups.append(FailureGroup(growth, f"{bad} of {len(same)} leave pods waiting", cells))
    note = "A cell for each failure, in the order of the columns below."
    yield FailureMap("Growth and failures", note, tuple(groups), count_of(most, "pod"))


def _table(document: Sweep, table: Table) -> TableSection:
    rows = tuple(
        Row(cells, tone="bad" if style == "red" else "")
        for cells, style in zip(table.rows, table.styles, strict=True)
    )
    title = "Growth and failures as numbers" if document.growth else "Clusters"
    return TableSection(title, "", table.header, rows)
