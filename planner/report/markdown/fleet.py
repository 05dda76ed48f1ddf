"""A `FleetDecision` as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.report.markdown.mermaid import fleet_graph
from planner.report.markdown.render import Diagram, Fold, Heading, Part, Where
from planner.report.tables import fleet_table
from planner.report.text.blocks import Paragraph, Table
from planner.report.text.notices import notice_blocks
from planner_models.fleet_decision import FleetDecision


def fleet_parts(
    document: FleetDecision, members: Mapping[str, Mapping[str, str]]
) -> Iterator[Part]:
    """What is picked, why no more, and what helps."""
    yield Heading(document.headline)
    if document.verdict != "fulfilled":
        yield Where(f"{document.placement_kind}/{document.placement}")
    yield from map(Paragraph, document.narrative)
    yield from fleet_table.dropped_blocks(document)
    repairs = fleet_table.shown_repairs(document, wide=False)
    if repairs:
        rows = tuple((str(i), each.text, each.effect) for i, each in enumerate(repairs, start=1))
        yield Paragraph("What helps, smallest change first (each tried on a copy):")
        yield Table(("", "change", "effect"), rows)
    yield from fleet_table.best_blocks(document, wide=False)
    yield Fold("Round by round", list(fleet_table.round_blocks(document, wide=False)))
    yield from fleet_table.filtered_blocks(document, wide=False)
    graph = fleet_graph(document, members)
    if graph is not None:
        yield Fold("The fleet, with what is picked", (Diagram(graph),))
    if document.verdict != "fulfilled":
        said = (Paragraph(document.condition.message), *fleet_table.proof_blocks(document))
        yield Fold("What Fleet says, and what is proven", said)
    yield from notice_blocks(document.notices, wide=False)
