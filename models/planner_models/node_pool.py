"""Karpenter's NodePool: which nodes Karpenter may make, as requirements about their labels."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from planner_models.base import Count, Int32, KubeModel
from planner_models.labels import LabelKey, Labels, LabelValue
from planner_models.meta import KubeObject
from planner_models.quantity import NonNegativeResourceList
from planner_models.taints import Taint

RequirementOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]
NODE_POOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"


class NodePoolRequirement(KubeModel):
    """A node selector requirement; `operator` precedes `values`, which it governs."""

    key: LabelKey
    operator: RequirementOperator
    values: tuple[LabelValue, ...] = Field(default=(), validate_default=True)
    min_values: Int32 | None = None

    @field_validator("values")
    @classmethod
    def _fit_the_operator(cls, values: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        operator = info.data.get("operator")
        if operator == "In" and not values:
            raise ValueError("must not be empty with operator In")
        if operator in ("Gt", "Lt", "Gte", "Lte") and (
            len(values) != 1 or not (values[0].isascii() and values[0].isdecimal())
        ):
            raise ValueError(f"must be one whole number with operator {operator}")
        return values

    def matches(self, value: str | None) -> bool:
        """Whether a node whose label has this value, or that lacks it, meets the requirement."""
        if value is None:
            return self.operator in ("NotIn", "DoesNotExist")
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return True
            case "DoesNotExist":
                return False
            case "Gt" | "Lt" | "Gte" | "Lte":
                return self._compares(value)

    def _compares(self, value: str) -> bool:
        if not (value.isascii() and value.isdecimal()):
            return False
        number, bound = int(value), int(self.values[0])
        return {
            "Gt": number > bound,
            "Lt": number < bound,
            "Gte": number >= bound,
            "Lte": number <= bound,
        }[self.operator]

    def __str__(self) -> str:
        values = f" [{', '.join(self.values)}]" if self.values else ""
        return f"{self.key} {self.operator}{values}"


class NodeClaimMeta(KubeModel):
    """What its nodes are labelled with."""

    labels: Labels = Field(default_factory=dict)


class NodeClaimSpec(KubeModel):
    """What its nodes are like; startup taints are gone when a node is ready."""

    requirements: tuple[NodePoolRequirement, ...] = ()
    taints: tuple[Taint, ...] = ()
    kubelet: dict[str, object] | None = None


class NodeClaimTemplate(KubeModel):
    """The template of its nodes."""

    metadata: NodeClaimMeta = NodeClaimMeta.defaults()
    spec: NodeClaimSpec = NodeClaimSpec.defaults()


class NodePoolSpec(KubeModel):
    """Its template, and what all of its nodes may add up to."""

    template: NodeClaimTemplate = NodeClaimTemplate.defaults()
    limits: NonNegativeResourceList = Field(default_factory=dict)
    weight: Int32 | None = None
    replicas: Count | None = None


class NodePool(KubeObject):
    """Nodes of several instance types, chosen by Karpenter."""

    spec: NodePoolSpec = NodePoolSpec.defaults()
