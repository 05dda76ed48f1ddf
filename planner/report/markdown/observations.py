"""An `Inspection` and a `Simulation` as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.snapshot import Cluster
from planner.report.markdown.pictures import before_and_after, picture
from planner.report.markdown.render import Fold, Heading, Part
from planner.report.tables import inspect_table, simulation_table
from planner.report.text.blocks import Paragraph
from planner.report.text.notices import notice_blocks
from planner.words import count_of
from planner_models.inspection import Inspection
from planner_models.simulation import Simulation


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
