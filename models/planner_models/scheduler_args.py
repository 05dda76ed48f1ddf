"""`pluginConfig[].args` of kube-scheduler: typed, with the v1 defaults and the real validation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from planner_models.affinity import NodeAffinity
from planner_models.base import Bool, FieldError, Int
from planner_models.component_config import (
    ComponentConfig,
    GoDuration,
    NonNegative,
    Percentage,
    UpToTen,
)
from planner_models.labels import LabelKey
from planner_models.topology_spread import TopologySpreadConstraint

ScoringStrategyType = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]


class PluginArgs(ComponentConfig):
    """The arguments of one plugin; `kind` is the plugin's name followed by Args."""

    api_version: str | None = None
    kind: str | None = None


class OpaqueArgs(PluginArgs):
    """Arguments of a plugin that takes none, or that planner doesn't know: only their names."""

    fields: tuple[str, ...] = ()


def _zero_is_one(weight: Any) -> Any:
    """A weight of 0 stands for an absent one, and that is 1."""
    return 1 if weight == 0 and not isinstance(weight, bool) else weight


class ResourceSpec(ComponentConfig):
    """A resource that takes part in scoring, and how much it matters."""

    name: str
    weight: Annotated[Int, BeforeValidator(_zero_is_one)] = 1

    @model_validator(mode="after")
    def _weight_is_a_percentage(self) -> Self:
        if not 1 <= self.weight <= 100:
            raise FieldError(
                "weight", f"weight of {self.name} is {self.weight}; it must be between 1 and 100"
            )
        return self


CPU_AND_MEMORY = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


def _cpu_and_memory_if_empty(resources: Any) -> Any:
    return resources or CPU_AND_MEMORY


ScoredResources = Annotated[tuple[ResourceSpec, ...], BeforeValidator(_cpu_and_memory_if_empty)]


class UtilizationShapePoint(ComponentConfig):
    """At this utilization (percent) a node gets this score (0 to 10)."""

    utilization: Percentage
    score: UpToTen


def _increasing(shape: tuple[UtilizationShapePoint, ...]) -> tuple[UtilizationShapePoint, ...]:
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            raise ValueError(
                f"point {index} has utilization {shape[index].utilization}; "
                "utilization must increase from point to point"
            )
    return shape


Shape = Annotated[tuple[UtilizationShapePoint, ...], AfterValidator(_increasing)]


class RequestedToCapacityRatio(ComponentConfig):
    """The piecewise linear function from utilization to score."""

    shape: Annotated[Shape, Field(min_length=1)]


class ScoringStrategy(ComponentConfig):
    """How NodeResourcesFit scores; a given strategy must name its type."""

    type: ScoringStrategyType
    resources: ScoredResources = CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None

    @model_validator(mode="after")
    def _shape_goes_with_its_type(self) -> Self:
        wanted = self.type == "RequestedToCapacityRatio"
        if wanted and self.requested_to_capacity_ratio is None:
            raise FieldError(
                "requestedToCapacityRatio",
                "type RequestedToCapacityRatio needs requestedToCapacityRatio",
            )
        if not wanted and self.requested_to_capacity_ratio is not None:
            raise FieldError(
                "requestedToCapacityRatio",
                f"requestedToCapacityRatio is not allowed with type {self.type}",
            )
        return self


def _no_slash(group: str) -> str:
    if "/" in group:
        raise ValueError(f"{group!r} is not a resource group: it contains a slash")
    return group


class NodeResourcesFitArgs(PluginArgs):
    """Which extended resources the filter ignores, and how nodes are scored."""

    ignored_resources: tuple[LabelKey, ...] = ()
    ignored_resource_groups: tuple[Annotated[LabelKey, AfterValidator(_no_slash)], ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class NodeResourcesBalancedAllocationArgs(PluginArgs):
    """The resources whose usage fractions should be alike; their weights can only be 1."""

    resources: ScoredResources = CPU_AND_MEMORY

    @model_validator(mode="after")
    def _once_and_with_weight_one(self) -> Self:
        seen: set[str] = set()
        for index, resource in enumerate(self.resources):
            field = f"resources[{index}]"
            if resource.name in seen:
                raise FieldError(f"{field}.name", f"resource {resource.name} is listed twice")
            if resource.weight != 1:
                raise FieldError(
                    f"{field}.weight",
                    f"weight of {resource.name} is {resource.weight}; it must be 1",
                )
            seen.add(resource.name)
        return self


#: What `defaultingType: System` spreads over, for pods without constraints of their own.
SYSTEM_DEFAULT_CONSTRAINTS = (
    TopologySpreadConstraint(
        max_skew=3, topology_key="kubernetes.io/hostname", when_unsatisfiable="ScheduleAnyway"
    ),
    TopologySpreadConstraint(
        max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable="ScheduleAnyway"
    ),
)


def _system_if_empty(defaulting: Any) -> Any:
    return defaulting or "System"


class PodTopologySpreadArgs(PluginArgs):
    """The constraints of pods that have none; their selectors come from Services and owners."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: Annotated[Literal["System", "List"], BeforeValidator(_system_if_empty)] = (
        "System"
    )

    @property
    def effective_constraints(self) -> tuple[TopologySpreadConstraint, ...]:
        """The default constraints in force, without selectors."""
        if self.defaulting_type == "System":
            return SYSTEM_DEFAULT_CONSTRAINTS
        return self.default_constraints

    @model_validator(mode="after")
    def _as_kube_scheduler_validates(self) -> Self:
        if self.default_constraints and self.defaulting_type == "System":
            raise FieldError("defaultingType", "defaultConstraints need defaultingType: List")
        seen: set[tuple[str, str]] = set()
        for index, constraint in enumerate(self.default_constraints):
            field = f"defaultConstraints[{index}]"
            if constraint.label_selector is not None:
                raise FieldError(
                    f"{field}.labelSelector",
                    "default constraints have no labelSelector: it is deduced for each pod",
                )
            pair = (constraint.topology_key, constraint.when_unsatisfiable)
            if pair in seen:
                raise FieldError(
                    field, f"a second constraint for topologyKey {pair[0]} and {pair[1]}"
                )
            seen.add(pair)
        return self


class NodeAffinityArgs(PluginArgs):
    """A node affinity that every pod of the profile has besides its own."""

    added_affinity: NodeAffinity | None = None

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.added_affinity is not None and self.added_affinity.unreadable:
            raise FieldError("addedAffinity", "the value of Gt and Lt must be an integer")
        return self


class InterPodAffinityArgs(PluginArgs):
    """What the affinity of pods already there adds to the score."""

    hard_pod_affinity_weight: Percentage = 1
    ignore_preferred_terms_of_existing_pods: Bool = False


class DefaultPreemptionArgs(PluginArgs):
    """How many nodes preemption looks at: the larger of a share and a number."""

    min_candidate_nodes_percentage: Percentage = 10
    min_candidate_nodes_absolute: NonNegative = 100

    @model_validator(mode="after")
    def _some_candidates(self) -> Self:
        if not (self.min_candidate_nodes_percentage or self.min_candidate_nodes_absolute):
            raise FieldError(
                "minCandidateNodesPercentage",
                "minCandidateNodesPercentage and minCandidateNodesAbsolute can't both be 0",
            )
        return self


class VolumeBindingArgs(PluginArgs):
    """`shape` works behind the feature gate StorageCapacityScoring only, which is off."""

    bind_timeout_seconds: NonNegative = 600
    shape: Shape | None = None


class DynamicResourcesArgs(PluginArgs):
    """Timeouts of the search for devices and of their binding."""

    filter_timeout: GoDuration = timedelta(seconds=10)
    binding_timeout: GoDuration = timedelta(seconds=600)


ARGS_BY_PLUGIN: Mapping[str, type[PluginArgs]] = MappingProxyType(
    {
        "NodeResourcesFit": NodeResourcesFitArgs,
        "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
        "PodTopologySpread": PodTopologySpreadArgs,
        "NodeAffinity": NodeAffinityArgs,
        "InterPodAffinity": InterPodAffinityArgs,
        "DefaultPreemption": DefaultPreemptionArgs,
        "VolumeBinding": VolumeBindingArgs,
        "DynamicResources": DynamicResourcesArgs,
    }
)
