"""ResourceQuotas and HorizontalPodAutoscalers: how many pods a namespace or a workload may have."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Count, KubeModel
from planner_models.meta import KubeObject
from planner_models.resources import Amounts

Scope = Literal[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
]


class ScopedSelectorRequirement(KubeModel):
    """One of `scopeSelector.matchExpressions`: a scope, and for PriorityClass its values."""

    scope_name: Scope
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = "Exists"
    values: tuple[str, ...] = ()


class ScopeSelector(KubeModel):
    """All of these have to hold for a pod to be counted."""

    match_expressions: tuple[ScopedSelectorRequirement, ...] = ()


class ResourceQuotaSpec(KubeModel):
    """What the pods of the namespace may ask for together; with scopes, some of them."""

    hard: Amounts = Field(default_factory=dict)
    scopes: tuple[Scope, ...] = ()
    scope_selector: ScopeSelector = ScopeSelector.defaults()


class ResourceQuotaStatus(KubeModel):
    """What the quota controller counted; absent in a manifest."""

    hard: Amounts = Field(default_factory=dict)
    used: Amounts = Field(default_factory=dict)


class ResourceQuota(KubeObject):
    """The API server refuses a pod that would take a namespace beyond it."""

    spec: ResourceQuotaSpec = ResourceQuotaSpec.defaults()
    status: ResourceQuotaStatus = ResourceQuotaStatus.defaults()


class ScaleTarget(KubeModel):
    """`scaleTargetRef`: the workload that is scaled."""

    kind: str
    name: str


class HorizontalPodAutoscalerSpec(KubeModel):
    """Between how many replicas the workload may be scaled."""

    scale_target_ref: ScaleTarget
    min_replicas: Count = 1
    max_replicas: Count


class HorizontalPodAutoscaler(KubeObject):
    """Changes a workload's replicas by what its pods use."""

    spec: HorizontalPodAutoscalerSpec
