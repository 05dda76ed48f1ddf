"""`DeschedulerPolicy` (descheduler/v1alpha2), as the descheduler v0.36 reads it.

All of its in-tree strategies are modelled; any other plugin is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    Field,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
    model_validator,
)

from planner_models.base import FieldError
from planner_models.component_config import ComponentConfig, NonNegative
from planner_models.descheduler_args import (
    HighNodeUtilizationArgs,
    LowNodeUtilizationArgs,
    PodLifeTimeArgs,
    RemoveDuplicatesArgs,
    RemoveFailedPodsArgs,
    StrategyArgs,
    TooManyRestartsArgs,
    TopologySpreadConstraintArgs,
    ViolatedInterPodAntiAffinityArgs,
    ViolatedNodeAffinityArgs,
    ViolatedNodeTaintsArgs,
)
from planner_models.descheduler_evictor import DefaultEvictorArgs

API_VERSION = "descheduler/v1alpha2"
DEFAULT_EVICTOR = "DefaultEvictor"

#: Fields about events and metrics: they say how the process runs, not what it evicts.
PROCESS_FIELDS = frozenset(
    {"evictionFailureEventNotification", "metricsCollector", "metricsProviders"}
)

DESCHEDULE_PLUGINS: Mapping[str, type[StrategyArgs]] = MappingProxyType(
    {
        "PodLifeTime": PodLifeTimeArgs,
        "RemoveFailedPods": RemoveFailedPodsArgs,
        "RemovePodsHavingTooManyRestarts": TooManyRestartsArgs,
        "RemovePodsViolatingInterPodAntiAffinity": ViolatedInterPodAntiAffinityArgs,
        "RemovePodsViolatingNodeAffinity": ViolatedNodeAffinityArgs,
        "RemovePodsViolatingNodeTaints": ViolatedNodeTaintsArgs,
    }
)
BALANCE_PLUGINS: Mapping[str, type[StrategyArgs]] = MappingProxyType(
    {
        "HighNodeUtilization": HighNodeUtilizationArgs,
        "LowNodeUtilization": LowNodeUtilizationArgs,
        "RemoveDuplicates": RemoveDuplicatesArgs,
        "RemovePodsViolatingTopologySpreadConstraint": TopologySpreadConstraintArgs,
    }
)

AnyArgs = StrategyArgs | DefaultEvictorArgs
ARGS_BY_PLUGIN: Mapping[str, type[AnyArgs]] = MappingProxyType(
    {DEFAULT_EVICTOR: DefaultEvictorArgs, **DESCHEDULE_PLUGINS, **BALANCE_PLUGINS}
)


def parse_args(plugin: str, args: Any) -> AnyArgs:
    """The typed arguments of a plugin; planner refuses plugins that it doesn't know."""
    return ARGS_BY_PLUGIN[_known(plugin)].model_validate(args)


def _known(name: str) -> str:
    if name not in ARGS_BY_PLUGIN:
        raise ValueError(f"{name} is a descheduler plugin that planner can't model")
    return name


def _one_of(names: frozenset[str]) -> AfterValidator:
    def check(name: str) -> str:
        if _known(name) not in names:
            raise ValueError(f"{name} does not run at this extension point")
        return name

    return AfterValidator(check)


_Name = TypeVar("_Name", bound=str)
_Deschedule = Annotated[str, _one_of(frozenset(DESCHEDULE_PLUGINS))]
_Balance = Annotated[str, _one_of(frozenset(BALANCE_PLUGINS))]
_Evictor = Annotated[str, _one_of(frozenset({DEFAULT_EVICTOR}))]
_Nothing = Annotated[str, _one_of(frozenset())]


class PluginSet(ComponentConfig, Generic[_Name]):
    """What runs at one extension point. The descheduler reads `disabled` but never uses it."""

    enabled: tuple[_Name, ...] = ()
    disabled: tuple[str, ...] = ()


class Plugins(ComponentConfig):
    """The extension points; DefaultEvictor is always on at the two filters."""

    presort: PluginSet[_Nothing] = PluginSet[_Nothing].defaults()
    sort: PluginSet[_Nothing] = PluginSet[_Nothing].defaults()
    deschedule: PluginSet[_Deschedule] = PluginSet[_Deschedule].defaults()
    balance: PluginSet[_Balance] = PluginSet[_Balance].defaults()
    filter: PluginSet[_Evictor] = PluginSet[_Evictor].defaults()
    pre_eviction_filter: PluginSet[_Evictor] = Field(
        default=PluginSet[_Evictor](),
        validation_alias=AliasChoices("preevictionfilter", "preEvictionFilter"),
        serialization_alias="preevictionfilter",
    )


class PluginConfig(ComponentConfig):
    """The arguments of one plugin, typed by its name."""

    name: Annotated[str, AfterValidator(_known)]
    args: SerializeAsAny[AnyArgs] = Field(default=StrategyArgs(), validate_default=True)

    @field_validator("args", mode="plain")
    @classmethod
    def _typed_by_name(cls, value: Any, info: ValidationInfo) -> AnyArgs:
        name = info.data.get("name")
        if name is None:  # already refused
            return StrategyArgs()
        if type(value) is StrategyArgs:
            return parse_args(name, {})
        if isinstance(value, StrategyArgs | DefaultEvictorArgs):
            return value
        return parse_args(name, value)


class DeschedulerProfile(ComponentConfig):
    """One evictor with the strategies that it guards."""

    name: str
    plugin_config: tuple[PluginConfig, ...] = ()
    plugins: Plugins = Plugins.defaults()

    @model_validator(mode="after")
    def _strategies_are_configured(self) -> Self:
        configured = {config.name for config in self.plugin_config}
        for point in ("deschedule", "balance"):
            for index, name in enumerate(getattr(self.plugins, point).enabled):
                if name not in configured:
                    raise FieldError(
                        f"plugins.{point}.enabled[{index}]", f"{name} has no entry in pluginConfig"
                    )
        return self

    def args_of(self, plugin: str) -> AnyArgs | None:
        """The plugin's arguments; of several entries the first one counts."""
        found = (config.args for config in self.plugin_config if config.name == plugin)
        return next(found, None)

    @property
    def evictor(self) -> DefaultEvictorArgs:
        """The guard of this profile's strategies, also if the policy doesn't mention it."""
        args = self.args_of(DEFAULT_EVICTOR)
        return args if isinstance(args, DefaultEvictorArgs) else DefaultEvictorArgs()

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies in the order in which they run: all of deschedule, then all of balance."""
        return (*self.plugins.deschedule.enabled, *self.plugins.balance.enabled)


class DeschedulerPolicy(ComponentConfig):
    """The policy file of the descheduler; `nodeSelector` is a selector in text form."""

    api_version: Literal["descheduler/v1alpha2"]
    kind: Literal["DeschedulerPolicy"]
    profiles: tuple[DeschedulerProfile, ...] = ()
    node_selector: str | None = None
    max_no_of_pods_to_evict_per_node: NonNegative | None = None
    max_no_of_pods_to_evict_per_namespace: NonNegative | None = None
    max_no_of_pods_to_evict_total: NonNegative | None = None
    grace_period_seconds: NonNegative | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_process_fields(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if key not in PROCESS_FIELDS}
