"""The report of an inspection: what runs where, and what is uneven."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.report.html.cluster_map import cluster_map
from planner.report.html.names import Index
from planner.report.html.section_order import in_order
from planner.report.html.spread_charts import situation, spread_section
from planner.report.html.story import Story
from planner.report.html.view import Badge, Fact, Page, Row, Section, TableSection, TextSection
from planner.report.html.words import sentence, words
from planner.report.tables import inspect_table
from planner.report.text.blocks import plain_text
from planner.report.text.commands import NOTHING, Given, pasteable
from planner_models.inspection import Inspection

HEADER = ("Namespace", "Kind", "Name", "Running", "Pending", "Budgets")


def inspect_page(cluster: Cluster, inspection: Inspection, given: Given = NOTHING) -> Page:
    """The cluster as it is."""
    story, index = Story(cluster), Index(cluster)
    even = not inspection.spread.excess
    return Page(
        command="planner inspect",
        badge=Badge("Even", "good") if even else Badge("Uneven", "bad"),
        headline=sentence(inspect_table.headline(inspection)),
        lead=tuple(text for text in (situation(story),) if text),
        facts=tuple(_facts(inspection)),
        sections=in_order(_sections(story, inspection, given)),
        names=index.names,
        words=words("over the limit", "maxSkew", "domain", "budget"),
        notices=tuple(notice.text for notice in inspection.notices),
    )


def _facts(inspection: Inspection) -> Iterator[Fact]:
    pending, excess = inspection.pods.pending, inspection.spread.excess
    yield Fact(f"{inspection.nodes.total:,}", "nodes")
    yield Fact(f"{inspection.pods.running:,}", "pods run")
    yield Fact(f"{pending:,}", "pods wait", "bad" if pending else "good")
    yield Fact(f"{excess:,}", "over the limit", "bad" if excess else "good")


def _sections(story: Story, inspection: Inspection, given: Given) -> Iterator[Section]:
    yield cluster_map(story)
    charts = spread_section(story)
    if charts is not None:
        yield charts
    rows = tuple(
        Row((w.namespace, w.kind, w.name, str(w.running), str(w.pending), ", ".join(w.budgets)))
        for w in inspection.workloads
    )
    if rows:
        yield TableSection("Workloads", "", HEADER, rows, frozenset({3, 4}))
    text = plain_text(pasteable(inspect_table.blocks(inspection, wide=True), given))
    yield TextSection("The same as text", (text,), code=True, folded=True)
