"""The report of `planner evict`: what to evict, where kube-scheduler then puts it, how sure."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.report.html.cluster_map import cluster_map
from planner.report.html.left_alone import not_evictable
from planner.report.html.map_view import Tone
from planner.report.html.names import Index
from planner.report.html.section_order import in_order
from planner.report.html.spread_charts import situation, spread_section, uneven_workloads
from planner.report.html.story import Story, descheduler_story, eviction_story
from planner.report.html.view import Badge, Fact, Page, Row, Section, TableSection, TextSection
from planner.report.html.words import words
from planner.report.tables import evict_table
from planner.report.text.blocks import Paragraph, Table, plain_text
from planner.report.text.wording import name_some
from planner.words import count_of
from planner_models.evictions import EvictionPlan, LikeDescheduler


def evict_page(cluster: Cluster, document: EvictionPlan) -> Page:
    """The evictions over the cluster that they are for."""
    like = document.like_descheduler
    story = eviction_story(cluster, document) if like is None else descheduler_story(cluster, like)
    index = Index(cluster)
    uneven, left = uneven_workloads(story)
    text = [
        each.text
        for each in evict_table.blocks(document, wide=False)
        if isinstance(each, Paragraph)
    ]
    return Page(
        command="planner evict",
        badge=_badge(document),
        headline=text[0],
        lead=tuple(said for said in (*_situation(story, document), *text[1:2]) if said),
        facts=tuple(_facts(document, uneven, left)),
        sections=in_order(_sections(story, document, index)),
        names=index.names,
        words=words("evict", "over the limit", "wave", "converges", "maxSkew", "domain"),
        notices=tuple(notice.text for notice in document.notices),
    )


def _situation(story: Story, document: EvictionPlan) -> Iterator[str]:
    """What is wrong now; nothing is, if nodes are only to be emptied."""
    if not evict_table.only_drains(document):
        yield situation(story)


def _badge(document: EvictionPlan) -> Badge:
    if document.like_descheduler is not None:
        return Badge("What the descheduler would do", "")
    if evict_table.only_drains(document) and document.after.excess:
        return Badge(f"{count_of(document.after.excess, 'pod')} can't leave", "bad")
    if evict_table.only_drains(document) and document.converges:
        leave = count_of(document.before.excess, "pod leaves", "pods leave")
        return Badge(f"{leave} {name_some(document.options.nodes)}", "good")
    if not document.evictions:
        return Badge("Nothing to evict", "warn" if document.after.excess else "good")
    if document.converges:
        return Badge("Converges, tried in every tie seed", "good")
    return Badge("Depends on ties", "warn")


def _facts(document: EvictionPlan, uneven: int, left: int) -> Iterator[Fact]:
    like = document.like_descheduler
    if like is None:
        yield Fact(f"{len(document.evictions):,}", f"of {document.pods:,} pods are evicted")
        yield Fact(str(len(document.waves)), "wave" if len(document.waves) == 1 else "waves")
    else:
        evicted = sum(len(each.evictions) for each in like.rounds)
        yield Fact(str(evicted), "evictions")
        yield Fact(str(len(like.rounds)), "rounds")
    drains = evict_table.only_drains(document)
    if (uneven or left) and not drains:
        yield Fact(f"{uneven:,} → {left:,}", "workloads are uneven", "bad" if left else "good")
    before, after = document.before, document.after
    if before.excess or after.excess:
        tone: Tone = "bad" if after.excess else "good"
        what = f"pods on {name_some(document.options.nodes)}" if drains else "over the limit"
        yield Fact(f"{before.excess:,} → {after.excess:,}", what, tone)
    if before.pending or after.pending:
        tone = "bad" if after.pending else "good"
        yield Fact(f"{before.pending} → {after.pending}", "pods pending", tone)
    if document.evictions and like is None:
        seen, seeds = document.convergence, document.checked_seeds
        well = min(seen.gone, seen.terminating)
        yield Fact(f"{well} of {seeds}", "tie seeds end well", "good" if well == seeds else "warn")


def _sections(story: Story, document: EvictionPlan, index: Index) -> Iterator[Section]:
    note = (
        "Where kube-scheduler puts the new pods if it breaks ties by name." if story.stages else ""
    )
    nodes = document.options.nodes
    if nodes:
        stays = "is to be emptied and stays" if len(nodes) == 1 else "are to be emptied and stay"
        note = f"{name_some(nodes)} {stays} cordoned. {note}".strip()
    yield cluster_map(story, note, frozenset(nodes))
    charts = spread_section(story)
    if charts is not None:
        yield charts
    if document.like_descheduler is not None:
        yield _rounds(document.like_descheduler, index)
    elif document.evictions:
        yield _evictions(document, index)
    yield from not_evictable(document.protected, document.left_alone, index)
    yield from _comparison(document)
    text = plain_text(evict_table.blocks(document, wide=True))
    yield TextSection("The same as text", (text,), code=True, folded=True)


def _evictions(document: EvictionPlan, index: Index) -> TableSection:
    rows = []
    for wave in document.waves:
        for why, nodes in (
            ("is to be emptied, stays cordoned", wave.drain),
            ("cordoned for this wave", wave.cordon),
        ):
            for node in nodes:
                cells = (str(wave.number), "(cordon)", node, "", why)
                rows.append(Row(cells, None, index.nodes([node]), "", wave.number))
        for each in document.evictions:
            if each.wave == wave.number:
                expected = name_some(each.expected_nodes) or "waits"
                cells = (str(each.wave), index.pod(each.pod), each.node, expected, each.reason)
                nodes = (each.node, *each.expected_nodes)
                rows.append(index.row(cells, each.pod, nodes, step=each.wave))
    header = ("Wave", "Evict", "From", "Expected on", "Why")
    note = "kube-scheduler chooses: every node that it may take is named."
    return TableSection("The evictions", note, header, tuple(rows), frozenset({0}))


def _rounds(like: LikeDescheduler, index: Index) -> TableSection:
    rows = []
    for each in like.rounds:
        for eviction in each.evictions:
            back = eviction.target or ("waits" if eviction.comes_back else "does not come back")
            pod = index.pod(eviction.pod)
            cells = (str(each.number), pod, eviction.from_, back, eviction.strategy)
            nodes = (eviction.from_, eviction.target)
            rows.append(index.row(cells, eviction.pod, nodes, step=each.number))
    header = ("Round", "Evicts", "From", "Comes back on", "Strategy")
    return TableSection("The descheduler's rounds", "", header, tuple(rows), frozenset({0}))


def _comparison(document: EvictionPlan) -> Iterator[Section]:
    """Beside the descheduler's strategies, as the text has it."""
    if not document.baselines:
        return
    blocks = evict_table.comparison(document)
    for block in blocks:
        if isinstance(block, Table):
            header = tuple(name.capitalize() for name in block.header)
            rows = tuple(
                Row(tuple(cell.strip() for cell in row), tone="bad" if style == "red" else "")
                for row, style in zip(block.rows, block.styles, strict=True)
            )
            said = [each.text for each in blocks if isinstance(each, Paragraph)]
            note = f"On the same cluster, {count_of(len(rows), 'way')} compared. " + " ".join(said)
            yield TableSection("Beside the descheduler", note, header, rows, frozenset({1, 2, 3}))
