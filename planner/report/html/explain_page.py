"""The report of `planner explain`: why a pod can't run, and what lets it."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.report.html.cluster_map import cluster_map
from planner.report.html.conflict_view import conflict_view
from planner.report.html.map_view import Tone
from planner.report.html.names import Index
from planner.report.html.repair_cards import repair_cards, ways
from planner.report.html.spread_charts import spread_section
from planner.report.html.story import diagnosis_story
from planner.report.html.view import (
    Badge,
    Fact,
    Group,
    Page,
    Row,
    Section,
    TableSection,
    TextSection,
)
from planner.report.html.words import sentence, words
from planner.report.tables import explain_table
from planner.report.text.blocks import plain_text
from planner.report.text.commands import NOTHING, Given, pasteable
from planner.words import count_of
from planner_models.diagnosis import Diagnosis, Rearrangement

TONES: dict[str, Tone] = {
    "impossible": "bad",
    "stuck": "warn",
    "undecided": "warn",
    "schedulable": "good",
    "gated": "",
}
OPEN = 3
"""So many workloads are shown unfolded."""


def explain_page(cluster: Cluster, diagnosis: Diagnosis, given: Given = NOTHING) -> Page:
    """One explanation, or a summary of several with each of them below."""
    if len(diagnosis.parts) == 1:
        return explain_page(cluster, diagnosis.parts[0], given)
    index = Index(cluster)
    sections = _parts(diagnosis, index) if diagnosis.parts else _one(diagnosis, index)
    text = plain_text(pasteable(explain_table.blocks(diagnosis, wide=True), given))
    return Page(
        command="planner explain",
        badge=_badge(diagnosis),
        headline=_headline(cluster, diagnosis),
        lead=() if diagnosis.parts else _lead(diagnosis),
        facts=tuple(_facts(cluster, diagnosis)),
        sections=(
            *sections,
            TextSection("The same as text", (text,), code=True, folded=True),
        ),
        names=index.names,
        words=words("impossible", "stuck", "maxSkew", "domain", "gated"),
        notices=tuple(notice.text for notice in (*diagnosis.hints, *diagnosis.notices)),
    )


def _badge(diagnosis: Diagnosis) -> Badge:
    text = diagnosis.verdict.capitalize()
    return Badge(f"{text}, on paper only" if diagnosis.on_paper_only else text, _tone(diagnosis))


def _tone(diagnosis: Diagnosis) -> Tone:
    return TONES[diagnosis.verdict]


def _named(diagnosis: Diagnosis, cluster: Cluster) -> set[str]:
    """What a headline may begin with: workloads, their pods, and nodes."""
    owners = {name.rpartition("/")[2] for name in (*diagnosis.workloads, *diagnosis.targets)}
    return owners | set(diagnosis.workloads) | set(cluster.node_index)


def _headline(cluster: Cluster, diagnosis: Diagnosis) -> str:
    if not diagnosis.parts:
        return sentence(diagnosis.headline, _named(diagnosis, cluster))
    pods = count_of(len(diagnosis.targets), "pod")
    bad = [part for part in diagnosis.parts if part.verdict not in ("schedulable", "gated")]
    held = sum(len(part.targets) for part in bad)
    if not bad:
        return f"{pods} of {count_of(len(diagnosis.parts), 'workload')}: all can run."
    return f"{held} of {pods} can't run as things are, in {count_of(len(bad), 'workload')}."


def _lead(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The derivation and whether moving pods helps: what the text says below the headline."""
    more = (diagnosis.displacing,) if diagnosis.displacing else ()
    where = (f"Where: {'; '.join(diagnosis.where)}",) if diagnosis.where else ()
    return (*where, *diagnosis.narrative, *diagnosis.rearranging, *more)


def _facts(cluster: Cluster, diagnosis: Diagnosis) -> Iterator[Fact]:
    parts = diagnosis.parts or (diagnosis,)
    yield Fact(str(len(diagnosis.targets)), "pod" if len(diagnosis.targets) == 1 else "pods")
    if not diagnosis.parts:
        takes, total = len(diagnosis.feasible_nodes), len(cluster.nodes)
        tone: Tone = "good" if takes else "bad"
        yield Fact(f"{takes:,} of {total:,}", "nodes would take it now", tone)
    if diagnosis.conflicts:
        rules = len(diagnosis.conflicts[0].constraints)
        minimal = " (none can be spared)" if diagnosis.conflicts[0].minimal and rules > 1 else ""
        noun = "rule stands" if rules == 1 else "rules stand"
        yield Fact(str(rules), f"{noun} in the way{minimal}")
    evictions = sum(part.rearrangement.evictions for part in parts if part.rearrangement)
    if evictions:
        verb = "eviction makes" if evictions == 1 else "evictions make"
        yield Fact(str(evictions), f"{verb} room", "warn")
    repairs = sum(len(ways(part)) for part in parts)
    if repairs:
        yield Fact(str(repairs), "change helps" if repairs == 1 else "changes help", "good")


def _one(diagnosis: Diagnosis, index: Index) -> Iterator[Section]:
    story = diagnosis_story(index.cluster, diagnosis)
    yield from _core(diagnosis, index)
    yield cluster_map(story)
    groups = _groups(diagnosis, index)
    charts = spread_section(story, groups)
    if charts is not None:
        yield charts
    yield from _said(diagnosis)


def _core(diagnosis: Diagnosis, index: Index) -> Iterator[Section]:
    """The diagram, the evictions that make room, and the repairs."""
    conflict = conflict_view(diagnosis, index)
    if conflict is not None:
        yield conflict
    if diagnosis.rearrangement is not None:
        yield _evictions(diagnosis.rearrangement, index)
    cards = repair_cards(diagnosis)
    if cards is not None:
        yield cards


def _groups(diagnosis: Diagnosis, index: Index) -> frozenset[int]:
    cluster = index.cluster
    pods = (cluster.pod_index.get(target) for target in diagnosis.targets)
    return frozenset(int(cluster.group_of[pod]) for pod in pods if pod is not None)


def _evictions(found: Rearrangement, index: Index) -> TableSection:
    proven = "fewer can't do (proven)" if found.fewest else "fewer may do"
    rows = [
        index.row(
            (
                str(number),
                step.action,
                index.pod(step.pod or ""),
                step.node,
                step.any_of,
                step.note,
            ),
            step.pod or "",
            [step.node],
        )
        for number, step in enumerate(found.steps, start=1)
    ]
    budgets = (
        f" Budgets allow fewer at once: {', '.join(found.beyond_budgets)}."
        if found.beyond_budgets
        else ""
    )
    return TableSection(
        f"{count_of(found.evictions, 'eviction')} that make room"
        if found.evictions != 1
        else "1 eviction that makes room",
        f"{sentence(proven)} {found.checked}{budgets}",
        ("", "Step", "Pod", "Node", "Any of", "Note"),
        tuple(rows),
        frozenset({0}),
    )


def _said(diagnosis: Diagnosis) -> Iterator[Section]:
    said = [f"Proven: {'; '.join(diagnosis.proof)}."] if diagnosis.proof else []
    message = diagnosis.event or diagnosis.message
    if message:
        said.append(f"kube-scheduler says: {message}")
    if said:
        yield TextSection("How sure this is, and what kube-scheduler says", tuple(said))


def _parts(diagnosis: Diagnosis, index: Index) -> Iterator[Section]:
    """A line per workload, then each of them by itself."""
    order = sorted(
        diagnosis.parts, key=lambda part: (explain_table.ORDER.index(part.verdict), part.workloads)
    )
    rows = tuple(
        Row(
            (
                part.verdict,
                part.workloads[0],
                explain_table.pods_judged(part),
                part.short,
                part.remedy,
            ),
            index.workload_of(part.targets[0]) if part.targets else None,
            tone=_tone(part),
        )
        for part in order
    )
    header = ("Verdict", "Workload", "Pods", "Why", "What helps")
    yield TableSection("Workload by workload, the worst first", "", header, rows, frozenset({2}))
    for number, part in enumerate(order):
        if part.verdict in ("schedulable", "gated"):
            continue
        yield Group(
            title=f"{part.workloads[0]}: {part.headline}",
            badge=_badge(part),
            lead=_lead(part),
            sections=tuple(_core(part, index)),
            folded=number >= OPEN,
        )
    story = diagnosis_story(index.cluster, diagnosis)
    yield cluster_map(story)
