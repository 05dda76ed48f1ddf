"""The arguments of the descheduler's strategies, with its defaults and its validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, Strict, model_validator

from planner_models.affinity import PREFERRED, REQUIRED
from planner_models.base import Bool, FieldError
from planner_models.component_config import ComponentConfig, Int32, NonNegative, Positive
from planner_models.selectors import LabelSelector
from planner_models.topology_spread import WhenUnsatisfiable

NodeAffinityType = Literal[
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
]
PodLifeTimeState = Literal[
    # phases
    "Running",
    "Pending",
    "Succeeded",
    "Failed",
    "Unknown",
    # reasons of the pod's status
    "NodeAffinity",
    "NodeLost",
    "Shutdown",
    "UnexpectedAdmissionError",
    # reasons of waiting containers
    "PodInitializing",
    "ContainerCreating",
    "ImagePullBackOff",
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "ErrImagePull",
    "CreateContainerError",
    "InvalidImageName",
    # reasons of terminated containers
    "OOMKilled",
    "Error",
    "Completed",
    "DeadlineExceeded",
    "Evicted",
    "ContainerCannotRun",
    "StartError",
]


class IncludeExclude(ComponentConfig):
    """A list of names to keep to, or one to leave out, but not both."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.include and self.exclude:
            raise ValueError("include and exclude can't both be set")
        return self


def _only_exclude(namespaces: IncludeExclude) -> IncludeExclude:
    if namespaces.include:
        raise ValueError("evictableNamespaces takes exclude only")
    return namespaces


EvictableNamespaces = Annotated[IncludeExclude, AfterValidator(_only_exclude)]


class StrategyArgs(ComponentConfig):
    """The arguments of one strategy."""

    api_version: str | None = None
    kind: str | None = None


class SelectingArgs(StrategyArgs):
    """Arguments of a strategy that looks at some namespaces and labels only."""

    namespaces: IncludeExclude | None = None
    label_selector: LabelSelector | None = None


def _hard_ones_if_empty(constraints: Any) -> Any:
    return constraints or ("DoNotSchedule",)


class TopologySpreadConstraintArgs(SelectingArgs):
    """RemovePodsViolatingTopologySpreadConstraint: which constraints are enforced."""

    constraints: Annotated[tuple[WhenUnsatisfiable, ...], BeforeValidator(_hard_ones_if_empty)] = (
        "DoNotSchedule",
    )
    topology_balance_node_fit: Bool = True


class ViolatedNodeAffinityArgs(SelectingArgs):
    """RemovePodsViolatingNodeAffinity: required or preferred rules; one must be named."""

    node_affinity_type: Annotated[tuple[NodeAffinityType, ...], Field(min_length=1)]

    @property
    def required(self) -> bool:
        """Whether broken required rules evict."""
        return REQUIRED in self.node_affinity_type

    @property
    def preferred(self) -> bool:
        """Whether a node that fits better evicts."""
        return PREFERRED in self.node_affinity_type


class ViolatedNodeTaintsArgs(SelectingArgs):
    """RemovePodsViolatingNodeTaints: taints as `key` or `key=value`."""

    include_prefer_no_schedule: Bool = False
    excluded_taints: tuple[str, ...] = ()
    included_taints: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.excluded_taints and self.included_taints:
            raise FieldError(
                "includedTaints", "includedTaints and excludedTaints can't both be set"
            )
        return self


class ViolatedInterPodAntiAffinityArgs(SelectingArgs):
    """RemovePodsViolatingInterPodAntiAffinity."""


class RemoveDuplicatesArgs(StrategyArgs):
    """RemoveDuplicates: at most one pod of an owner on a node."""

    namespaces: IncludeExclude | None = None
    exclude_owner_kinds: tuple[str, ...] = ()


def _percentages(thresholds: Mapping[str, float]) -> Mapping[str, float]:
    if not thresholds:
        raise ValueError("at least one resource needs a threshold")
    for resource, percent in thresholds.items():
        if not 0 <= percent <= 100:
            raise ValueError(
                f"threshold of {resource} is {percent:g}; it must be between 0 and 100"
            )
    return thresholds


Thresholds = Annotated[Mapping[str, Annotated[float, Strict()]], AfterValidator(_percentages)]


class EvictionLimits(ComponentConfig):
    """How many evictions a strategy may make on a node."""

    node: NonNegative | None = None


class LowNodeUtilizationArgs(StrategyArgs):
    """LowNodeUtilization: from nodes above the targets to nodes below the thresholds.

    Utilisation here means requests. Measured utilisation (`metricsUtilization`) is not known to
    planner, so the field is refused.
    """

    use_deviation_thresholds: Bool = False
    thresholds: Thresholds
    target_thresholds: Thresholds
    number_of_nodes: NonNegative = 0
    evictable_namespaces: EvictableNamespaces | None = None
    eviction_limits: EvictionLimits | None = None

    @model_validator(mode="before")
    @classmethod
    def _requests_only(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("metricsUtilization") is not None:
            raise FieldError(
                "metricsUtilization",
                "metricsUtilization is refused: planner knows requests of pods, not their usage",
            )
        return data

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        if self.thresholds.keys() != self.target_thresholds.keys():
            raise FieldError(
                "targetThresholds", "thresholds and targetThresholds must name the same resources"
            )
        for resource, percent in self.thresholds.items():
            if percent > self.target_thresholds[resource] and not self.use_deviation_thresholds:
                raise FieldError(
                    f"thresholds.{resource}",
                    f"threshold of {resource} is above its target threshold",
                )
        return self


class HighNodeUtilizationArgs(StrategyArgs):
    """HighNodeUtilization: empty the nodes below the thresholds."""

    thresholds: Thresholds
    number_of_nodes: NonNegative = 0
    eviction_modes: tuple[Literal["OnlyThresholdingResources"], ...] = ()
    evictable_namespaces: EvictableNamespaces | None = None


class PodConditionFilter(ComponentConfig):
    """A condition of the pod's status; all given fields must match."""

    type: str = ""
    status: str = ""
    reason: str = ""
    min_time_since_last_transition_seconds: NonNegative | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        minimum = self.min_time_since_last_transition_seconds
        if not (self.type or self.status or self.reason) and minimum is None:
            raise ValueError(
                "type, status, reason or minTimeSinceLastTransitionSeconds must be set"
            )
        return self


class PodLifeTimeArgs(SelectingArgs):
    """PodLifeTime: pods that are too old, or in a given state."""

    owner_kinds: IncludeExclude | None = None
    max_pod_life_time_seconds: NonNegative | None = None
    states: tuple[PodLifeTimeState, ...] = ()
    conditions: tuple[PodConditionFilter, ...] = ()
    exit_codes: tuple[Int32, ...] = ()
    including_init_containers: Bool = False
    including_ephemeral_containers: Bool = False

    @model_validator(mode="after")
    def _some_criterion(self) -> Self:
        listed = self.states or self.conditions or self.exit_codes
        if self.max_pod_life_time_seconds is None and not listed:
            raise ValueError("maxPodLifeTimeSeconds, states, conditions or exitCodes must be set")
        return self


class TooManyRestartsArgs(SelectingArgs):
    """RemovePodsHavingTooManyRestarts: the threshold must be given."""

    pod_restart_threshold: Positive
    including_init_containers: Bool = False
    states: tuple[Literal["Running", "CrashLoopBackOff"], ...] = ()


class RemoveFailedPodsArgs(SelectingArgs):
    """RemoveFailedPods: failed pods older than an hour, unless told otherwise."""

    exclude_owner_kinds: tuple[str, ...] = ()
    min_pod_lifetime_seconds: NonNegative = 3600
    reasons: tuple[str, ...] = ()
    exit_codes: tuple[Int32, ...] = ()
    including_init_containers: Bool = False
