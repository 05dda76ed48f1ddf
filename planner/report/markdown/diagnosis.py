"""A `Diagnosis` as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.snapshot import Cluster
from planner.report.markdown.pictures import picture
from planner.report.markdown.render import Fold, Heading, Part, Where
from planner.report.tables import explain_table
from planner.report.tables.explain_repairs import texts, united
from planner.report.text.blocks import Paragraph, Table
from planner.words import count_of
from planner_models.diagnosis import Diagnosis

GOOD = ("schedulable", "gated")
REPAIRS = 8


def diagnosis_parts(document: Diagnosis, cluster: Cluster | None) -> Iterator[Part]:
    """One explanation; of several workloads a table, and each explanation on request."""
    if not document.parts:
        yield Heading(f"{document.verdict}: {document.headline}")
        yield from _explanation(document)
        marked = document.targets
        if document.rearrangement is not None:
            marked += tuple(move.pod for move in document.rearrangement.moves)
        yield from picture("The cluster now", cluster, marked)
        return
    summary = explain_table.blocks(document, wide=False)
    yield Heading(f"{document.verdict}: {document.headline}")
    yield from (block for block in summary if isinstance(block, Table))
    for part in document.parts:
        if part.verdict not in GOOD:
            inside = list(_explanation(part))
            yield Fold(f"{part.workloads[0]}: {part.verdict}, {part.headline}", inside)
    yield from picture("The cluster now", cluster, document.targets)


def _explanation(document: Diagnosis) -> Iterator[Part]:
    yield from map(Where, document.where)
    yield from map(Paragraph, (*document.narrative, *document.rearranging))
    if document.displacing:
        yield Paragraph(document.displacing)
    if document.rearrangement is not None:
        found = document.rearrangement
        rows = tuple((step.action, step.pod or "", step.node, step.note) for step in found.steps)
        number = count_of(found.evictions, "eviction makes", "evictions make")
        yield Paragraph(f"{number} room:")
        yield Table(("step", "pod", "node", "note"), rows)
    repairs = _repair_rows(document)
    if repairs:
        yield Paragraph("What helps, smallest change first (each tried on a copy):")
        yield Table(("", "change", "effect", "price"), repairs)
    yield from (Paragraph(f"hint: {hint.text}") for hint in document.hints)
    if document.nodes_table:
        table = Table(document.nodes_table[0], document.nodes_table[1:])
        yield Fold("Every node, every rule", (table,))
    yield from _word(document)


def _repair_rows(document: Diagnosis) -> tuple[tuple[str, ...], ...]:
    """Evictions stand above already."""
    groups = united([repair for repair in document.repairs if repair.kind != "movePods"])
    return tuple((str(n), *texts(group)) for n, group in enumerate(groups[:REPAIRS], start=1))


def _word(document: Diagnosis) -> Iterator[Part]:
    if document.message or document.proof:
        told = [Paragraph(document.message)] if document.message else []
        proven = [Paragraph(f"Proven: {'; '.join(document.proof)}.")] if document.proof else []
        yield Fold("What kube-scheduler says, and what is proven", (*told, *proven))
