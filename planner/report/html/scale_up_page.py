"""The report of `planner scale-up`: the nodes, and what else was tried."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.html.map_view import Tone
from planner.report.html.view import (
    Badge,
    Fact,
    Names,
    Page,
    Row,
    Section,
    TableSection,
    TextSection,
)
from planner.report.html.words import sentence, words
from planner.report.tables import scale_up_table
from planner.report.tables.scale_up_moves import eviction_blocks
from planner.report.tables.scale_up_paper import on_paper
from planner.report.tables.scale_up_words import cost_of
from planner.report.text.blocks import Table, plain_text
from planner_models.node_plan import NodePlan, NodePlanStatus

BADGES: dict[NodePlanStatus, tuple[str, Tone]] = {
    "optimal": ("Optimal", "good"),
    "feasible": ("Feasible", "warn"),
    "impossible": ("Impossible", "bad"),
    "undecided": ("Undecided", "warn"),
}


def scale_up_page(document: NodePlan) -> Page:
    """The answer, its numbers, and everything as text."""
    text = plain_text(scale_up_table.blocks(document, wide=True))
    badge = Badge("Not for all", "bad") if document.never else Badge(*BADGES[document.status])
    return Page(
        command="planner scale-up",
        badge=badge,
        headline=sentence(scale_up_table.headline(document)),
        lead=(*scale_up_table.remarks(document), *on_paper(document)),
        facts=tuple(_facts(document)),
        sections=(
            *_sections(document),
            TextSection("The same as text", (text,), code=True, folded=True),
        ),
        names=Names((), ()),
        words=words("domain"),
        notices=tuple(notice.text for notice in document.notices),
    )


def _facts(document: NodePlan) -> Iterator[Fact]:
    yield Fact(f"{document.pending:,}", "pending pods")
    yield Fact(f"{sum(each.nodes for each in document.adds):,}", "nodes to add")
    yield Fact(f"{document.cost:.10g}", cost_of(document, 0).partition(" ")[2])
    if document.moves is not None:
        yield Fact(f"{len(document.moves.evictions):,}", "pods to evict")


def _sections(document: NodePlan) -> Iterator[Section]:
    if document.adds or document.there:
        table = scale_up_table.adds_table(document)
        yield TableSection("Add", "", table.header, tuple(map(Row, table.rows)), frozenset((0,)))
    for block in eviction_blocks(document, wide=True):
        if isinstance(block, Table):
            about = "Once the new nodes are there, wave by wave."
            yield TableSection(
                "Evict", about, block.header, tuple(map(Row, block.rows)), frozenset()
            )
    if document.baselines:
        table = scale_up_table.baselines_table(document)
        rows = tuple(map(Row, table.rows))
        about = "By their published rules; not their own answers."
        yield TableSection("Autoscalers", about, table.header, rows, frozenset((1, 2, 3, 4)))
    if document.alternatives:
        rows = tuple(map(Row, scale_up_table.alternatives(document)))
        header = ("nodes", "what is wrong")
        yield TableSection("Not as good, each tried", "", header, rows, frozenset())
