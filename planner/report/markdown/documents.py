"""Each kind of document as Markdown: the answer, a short table, the rest on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.cluster.snapshot import Cluster
from planner.report.markdown.mermaid import before_and_after, fleet_graph, picture
from planner.report.markdown.render import Diagram, Fold, Heading, Part, Where
from planner.report.tables import (
    capacity_table,
    check_table,
    drain_blocked,
    drain_table,
    evict_table,
    explain_table,
    fleet_table,
    inspect_table,
    plan_table,
    scale_up_table,
    simulation_table,
    sweep_table,
    whatif_table,
)
from planner.report.tables.explain_repairs import texts, united
from planner.report.tables.plan_checks import checks
from planner.report.tables.plan_next import hints
from planner.report.tables.plan_proof import proof
from planner.report.tables.plan_steps import Steps
from planner.report.text.blocks import GAP, Block, Paragraph, Table
from planner.report.text.notices import notice_blocks
from planner.words import count_of
from planner_models.base import Document
from planner_models.capacity import Capacity
from planner_models.check import Check
from planner_models.diagnosis import Diagnosis
from planner_models.drain import DrainPlan
from planner_models.evictions import EvictionPlan
from planner_models.fleet_decision import FleetDecision, FleetDecisionList
from planner_models.inspection import Inspection
from planner_models.node_plan import NodePlan
from planner_models.plan import Plan
from planner_models.simulation import Simulation
from planner_models.sweep import Sweep
from planner_models.whatif import WhatIf

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


def plan_parts(document: Plan, cluster: Cluster | None) -> Iterator[Part]:
    """What is reached, and by which steps."""
    yield Heading(plan_table.headline(document))
    yield proof(document)
    yield from plan_table.workload_blocks(document, wide=False)
    steps, *unplaced = Steps(document, wide=False).parts()
    if unplaced:
        number = count_of(sum(len(wave.steps) for wave in document.waves), "step")
        yield Fold(f"{number} in {count_of(len(document.waves), 'wave')}", steps)
        yield from unplaced[0]
    else:
        yield from steps
    yield from plan_table.broken_blocks(document, wide=False)
    yield from plan_table.remaining_blocks(document, wide=False)
    placement = {each.pod: each.node for each in document.placements}
    gone = dict.fromkeys((each.pod for each in document.displaced), None)
    yield from before_and_after(cluster, {**gone, **placement})
    yield Fold("What was checked", list(checks(document)))
    yield from hints(document)
    yield from notice_blocks(document.notices, wide=False)


def eviction_parts(document: EvictionPlan, cluster: Cluster | None) -> Iterator[Part]:
    """What to evict, how sure the outcome is, and what others would do."""
    if document.like_descheduler is not None:
        first, *rest = evict_table.blocks(document, wide=False)
        yield Heading(_text(first))
        yield from rest
        return
    yield Heading(evict_table.headline(document))
    yield from evict_table.certainty(document)
    evictions = list(evict_table.eviction_blocks(document, wide=False))
    if evictions:
        number = count_of(len(document.evictions), "eviction")
        yield Fold(f"{number} in {count_of(len(document.waves), 'wave')}", evictions)
    yield from evict_table.remaining_blocks(document, wide=False)
    evicted = [each.pod for each in document.evictions]
    if evicted:
        yield from picture("The cluster now, with the pods to evict", cluster, evicted)
    yield Fold("Beside the descheduler", list(evict_table.comparison(document)))
    yield from notice_blocks(document.notices, wide=False)


def drain_parts(document: DrainPlan, cluster: Cluster | None) -> Iterator[Part]:
    """Whether the nodes can be emptied, how, and what helps."""
    yield Heading(drain_table.headline(document))
    yield from map(Where, drain_blocked.named_places(document))
    yield from drain_blocked.blocked_blocks(document, wide=False)
    evictions = list(drain_table.eviction_blocks(document, wide=False))
    if evictions:
        yield Fold(count_of(len(document.evictions), "eviction"), evictions)
    if document.helps:
        rows = tuple((str(n), *texts([each])) for n, each in enumerate(document.helps, start=1))
        yield Paragraph("What helps, smallest change first (each carried out on a copy):")
        yield Table(("", "change", "effect", "price"), rows)
    yield from drain_table.certainty(document)
    leaving = [each.pod for each in document.evictions] + [each.pod for each in document.blocked]
    if leaving:
        yield from picture("The cluster now, with the pods that have to leave", cluster, leaving)
    yield from notice_blocks(document.notices, wide=False)


def _text(block: Block) -> str:
    return " ".join(" ".join(block.lines(fit=False)).split()) if block != GAP else ""


def check_parts(document: Check) -> Iterator[Part]:
    """Every finding, folded to its title."""
    yield Heading(f"{check_table.subject(document.checked)}: {check_table.counts(document)}")
    for finding in document.findings:
        title = f"{finding.severity}: {finding.title} ({finding.rule})"
        yield Fold(title, list(check_table.finding_blocks(finding))[1:])
    yield from notice_blocks(document.notices, wide=False)


def capacity_parts(document: Capacity) -> Iterator[Part]:
    """The counts, and the curve of moves."""
    yield Heading(capacity_table.headline(document))
    shown = capacity_table.blocks(document, wide=False)
    yield from (block for block in shown if isinstance(block, Table))
    yield from notice_blocks(document.notices, wide=False)


def node_plan_parts(document: NodePlan) -> Iterator[Part]:
    """The nodes, and what is known about them."""
    yield Heading(scale_up_table.headline(document))
    yield from scale_up_table.blocks(document, wide=False)


def sweep_parts(document: Sweep) -> Iterator[Part]:
    """The table under its headline."""
    yield Heading(sweep_table.headline(document))
    shown = sweep_table.blocks(document, wide=False)
    yield from (block for block in shown if isinstance(block, Table))


def whatif_parts(document: WhatIf) -> Iterator[Part]:
    """The worst as the heading; then everything that the table has."""
    first, *rest = whatif_table.blocks(document, wide=False)
    yield Heading(_text(first))
    yield from (block for block in rest if block is not GAP)


def inspection_parts(document: Inspection, cluster: Cluster | None) -> Iterator[Part]:
    """What there is, and what is uneven."""
    yield Heading(inspect_table.headline(document))
    if document.nodes.total:
        yield Paragraph(f"Requested: {inspect_table.requested_text(document.utilisation)}")
    yield inspect_table.steadiness(document)
    yield from inspect_table.bars(document, wide=False)
    if document.nodes.zones:
        yield inspect_table.zone_table(document.nodes.zones, wide=False)
    if document.workloads:
        number = count_of(len(document.workloads), "workload")
        yield Fold(number, list(inspect_table.workload_blocks(document, wide=False)))
    yield from picture("The cluster now", cluster, ())
    yield from notice_blocks(document.notices, wide=False)


def simulation_parts(document: Simulation, cluster: Cluster | None) -> Iterator[Part]:
    """What kube-scheduler does with the pods."""
    yield Heading(simulation_table.headline(document))
    if document.pods:
        yield from simulation_table.pod_blocks(document, wide=False)
    yield Fold("Nodes that were left out", list(simulation_table.refused_blocks(document.refused)))
    yield Fold("What kube-scheduler says", list(simulation_table.failure_blocks(document.pods)))
    yield from simulation_table.remarks(document)
    scheduled = {pod.pod: pod.node for pod in document.pods if pod.node is not None}
    gone = dict.fromkeys(document.preempted, None)
    yield from before_and_after(cluster, {**gone, **scheduled})


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
        said = [Paragraph(document.condition.message)] if document.condition else []
        proven = fleet_table.proof_blocks(document)
        yield Fold("What Fleet says, and what is proven", (*said, *proven))
    yield from notice_blocks(document.notices, wide=False)


_WITH_A_PICTURE: Mapping[type[Document], Callable[[Any, Cluster | None], Iterator[Part]]] = {
    Diagnosis: diagnosis_parts,
    Plan: plan_parts,
    EvictionPlan: eviction_parts,
    DrainPlan: drain_parts,
    Inspection: inspection_parts,
    Simulation: simulation_parts,
}


def parts_of(
    document: Document, cluster: Cluster | None, members: Mapping[str, Mapping[str, str]]
) -> Iterator[Part]:
    """The parts of any document; pictures need the cluster, or the labels of a fleet's members."""
    match document:
        case Check():
            return check_parts(document)
        case Capacity():
            return capacity_parts(document)
        case NodePlan():
            return node_plan_parts(document)
        case WhatIf():
            return whatif_parts(document)
        case Sweep():
            return sweep_parts(document)
        case FleetDecision():
            return fleet_parts(document, members)
        case FleetDecisionList():
            return (part for each in document.items for part in fleet_parts(each, members))
        case _:
            return _WITH_A_PICTURE[type(document)](document, cluster)
