"""`InstanceTypes`: a table of machines that could be had, where, and for which price.

A NodePool of Karpenter names requirements alone; the table says which machines meet them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Document
from planner_models.labels import Labels, LabelValue
from planner_models.quantity import NonNegativeResourceList


class InstanceOffering(Document):
    """Where a machine can be had, and for how much."""

    capacity_type: LabelValue = "on-demand"
    zones: tuple[LabelValue, ...] = ()
    """Without any: the zones that the NodePool requires, or else those of the cluster."""
    price: str | float | int | None = None
    """Of one machine, per hour."""


class InstanceType(Document):
    """A machine: what it has, what is left for pods, and the labels of its nodes."""

    name: LabelValue
    labels: Labels = Field(default_factory=dict)
    capacity: NonNegativeResourceList = Field(default_factory=dict)
    allocatable: NonNegativeResourceList = Field(default_factory=dict)
    """Without it: what nodes of this type report, or else the capacity."""
    offerings: tuple[InstanceOffering, ...] = (InstanceOffering(),)


class InstanceTypes(Document):
    """The table, as a file of its own."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["InstanceTypes"] = "InstanceTypes"
    sample_prices: bool = False
    """The prices are examples, and answers that use them say so."""
    types: tuple[InstanceType, ...]
