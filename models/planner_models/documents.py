"""The documents that planner writes, by kind: one line here gives a kind its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from planner_models.apply_report import ApplyReport
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
from planner_models.run_policy import RunPolicy
from planner_models.run_state import RunStatus
from planner_models.simulation import Simulation
from planner_models.sweep import Sweep
from planner_models.sweep_grid import SweepGrid
from planner_models.whatif import WhatIf

DOCUMENTS: Mapping[str, type[Document]] = MappingProxyType(
    {
        model.__name__: model
        for model in (
            Inspection,
            Simulation,
            Plan,
            Diagnosis,
            EvictionPlan,
            Check,
            Capacity,
            NodePlan,
            DrainPlan,
            WhatIf,
            Sweep,
            ApplyReport,
            RunStatus,
            FleetDecision,
            FleetDecisionList,
        )
    }
)

SETTINGS: Mapping[str, type[BaseModel]] = MappingProxyType(
    {"RunPolicy": RunPolicy, "SweepGrid": SweepGrid}
)
"""What users write for planner, by kind; these have a JSON Schema, too."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind; raises KeyError for a kind that has none."""
    schema = (
        SETTINGS[kind].model_json_schema(by_alias=True, mode="serialization")
        if kind in SETTINGS  # the defaults as users write them
        else DOCUMENTS[kind].model_json_schema(by_alias=True)
    )
    return {"$schema": _DIALECT, **schema}
