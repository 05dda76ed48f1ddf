"""The report of `planner drain`: the nodes that are emptied, wave by wave, or what blocks them."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.report.html.cluster_map import cluster_map
from planner.report.html.map_view import Tone
from planner.report.html.names import Index
from planner.report.html.section_order import in_order
from planner.report.html.story import drain_story
from planner.report.html.view import Badge, Fact, Page, Row, Section, TableSection, TextSection
from planner.report.html.words import words
from planner.report.tables import drain_blocked, drain_table
from planner.report.tables.drain_kubectl import kubectl_text
from planner.report.tables.explain_repairs import texts
from planner.report.text.blocks import Paragraph, plain_text
from planner.report.text.wording import name_some
from planner.words import count_of
from planner_models.drain import DrainPlan


def drain_page(cluster: Cluster, document: DrainPlan) -> Page:
    """The drain over the cluster that it is for."""
    index = Index(cluster)
    said = [
        block.text.strip()
        for block in drain_blocked.blocked_blocks(document, wide=False)
        if isinstance(block, Paragraph)
    ]
    return Page(
        command="planner drain",
        badge=_badge(document),
        headline=drain_table.headline(document),
        lead=tuple(said) or (kubectl_text(document),),
        facts=tuple(_facts(document)),
        sections=in_order(_sections(cluster, document, index)),
        names=index.names,
        words=words("evict", "wave", "converges", "maxSkew", "domain"),
        notices=tuple(notice.text for notice in document.notices),
    )


def _badge(document: DrainPlan) -> Badge:
    if document.status == "impossible":
        return Badge(f"{count_of(len(document.blocked), 'pod')} can't leave", "bad")
    if document.status == "undecided":
        return Badge("Undecided", "warn")
    if not document.converges:
        return Badge("Depends on ties", "warn")
    return Badge(f"{name_some(document.nodes)} can be emptied", "good")


def _facts(document: DrainPlan) -> Iterator[Fact]:
    left = len(document.evictions)
    tone: Tone = "good" if left == document.leaving else "bad"
    yield Fact(f"{left:,} of {document.leaving:,}", "pods leave", tone)
    waves = sum(len(each.waves) for each in document.rounds)
    yield Fact(str(waves), "wave" if waves == 1 else "waves")
    if len(document.rounds) > 1:
        yield Fact(str(len(document.rounds)), "rounds")
    seen, seeds = document.convergence, document.checked_seeds
    if document.evictions and seen is not None:
        well = min(seen.gone, seen.terminating)
        yield Fact(f"{well} of {seeds}", "tie seeds end well", "good" if well == seeds else "warn")


def _sections(cluster: Cluster, document: DrainPlan, index: Index) -> Iterator[Section]:
    stays = "is" if len(document.nodes) == 1 else "are"
    note = f"{name_some(document.nodes)} {stays} cordoned. "
    note += "Where kube-scheduler puts the new pods if it breaks ties by name."
    yield cluster_map(drain_story(cluster, document), note, frozenset(document.nodes))
    if document.blocked:
        rows = (
            index.row((index.pod(each.pod), each.node, each.text), each.pod, [each.node])
            for each in document.blocked
        )
        yield TableSection("What can't leave", "", ("Pod", "Node", "Why"), tuple(rows))
    if document.helps:
        rows = (
            Row((str(number), *texts([each])))
            for number, each in enumerate(document.helps, start=1)
        )
        note = "Smallest change first; each was carried out on a copy of the cluster."
        yield TableSection("What helps", note, ("", "Change", "Effect", "Price"), tuple(rows))
    if document.evictions:
        yield _evictions(document, index)
    text = plain_text(drain_table.blocks(document, wide=True))
    yield TextSection("The same as text", (text,), code=True, folded=True)


def _evictions(document: DrainPlan, index: Index) -> TableSection:
    several = len(document.rounds) > 1
    rows, step = [], 0
    for number, each in enumerate(document.rounds, start=1):
        for wave in each.waves:
            step += 1
            label = f"{number}.{wave.number}" if several else str(wave.number)
            for node in wave.cordon:
                cells = (label, "(cordon)", node, "cordoned for this wave")
                rows.append(Row(cells, None, index.nodes([node]), "", step))
            for eviction in document.evictions:
                if (eviction.round, eviction.wave) == (number, wave.number):
                    lost = "does not come back" if eviction.lost else "waits"
                    back = name_some(eviction.expected_nodes) or lost
                    cells = (label, index.pod(eviction.pod), eviction.node, back)
                    nodes = (eviction.node, *eviction.expected_nodes)
                    rows.append(index.row(cells, eviction.pod, nodes, step=step))
    header = ("Wave", "Evict", "From", "Expected on")
    note = "kube-scheduler chooses: every node that it may take is named."
    return TableSection("The evictions", note, header, tuple(rows), frozenset({0}))
