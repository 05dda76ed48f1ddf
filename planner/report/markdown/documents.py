"""Each kind of document as Markdown: the answer, a short table, the rest on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.cluster.snapshot import Cluster
from planner.report.markdown.diagnosis import diagnosis_parts
from planner.report.markdown.fleet import fleet_parts
from planner.report.markdown.observations import inspection_parts, simulation_parts
from planner.report.markdown.plans import eviction_parts, plan_parts
from planner.report.markdown.render import Part
from planner_models.base import Document
from planner_models.diagnosis import Diagnosis
from planner_models.evictions import EvictionPlan
from planner_models.fleet_decision import FleetDecision, FleetDecisionList
from planner_models.inspection import Inspection
from planner_models.plan import Plan
from planner_models.simulation import Simulation


def parts_of(
    document: Document, cluster: Cluster | None, members: Mapping[str, Mapping[str, str]]
) -> Iterator[Part]:
    """The parts of any document; pictures need the cluster, or the labels of a fleet's members."""
    match document:
        case Diagnosis():
            return diagnosis_parts(document, cluster)
        case Plan():
            return plan_parts(document, cluster)
        case EvictionPlan():
            return eviction_parts(document, cluster)
        case Inspection():
            return inspection_parts(document, cluster)
        case Simulation():
            return simulation_parts(document, cluster)
        case FleetDecision():
            return fleet_parts(document, members)
        case FleetDecisionList():
            return (part for each in document.items for part in fleet_parts(each, members))
        case _:
            raise TypeError(f"{type(document).__name__} has no Markdown")
