"""`KubeSchedulerConfiguration` (kubescheduler.config.k8s.io/v1), as kube-scheduler v1.36 reads it.

Parsing applies the v1 defaults and the component's own validation. Whether planner can model what a
profile asks for is another question, answered by `planner_models.scheduler_profile`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
    model_validator,
)

from planner_models.base import FieldError, KubeModel
from planner_models.component_config import ComponentConfig, Int32, Percentage, Positive
from planner_models.scheduler_args import ARGS_BY_PLUGIN, OpaqueArgs, PluginArgs

API_VERSION = "kubescheduler.config.k8s.io/v1"
OLD_API_VERSION = "kubescheduler.config.k8s.io/v1beta3"
"""What the documentation's examples still say; v1 took it over field by field."""
DEFAULT_SCHEDULER_NAME = "default-scheduler"

#: Fields that say how the process runs, not where pods go.
PROCESS_FIELDS = frozenset(
    {
        "clientConnection",
        "delayCacheUntilActive",
        "enableContentionProfiling",
        "enableProfiling",
        "leaderElection",
    }
)


class Plugin(ComponentConfig):
    """An entry of a plugin set; a weight matters for scoring only, and 0 means 1."""

    name: str
    weight: Int32 | None = None


class PluginSet(ComponentConfig):
    """What is added to, and taken from, the defaults of one extension point; `*` takes all."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(ComponentConfig):
    """The plugin sets of a profile; `multiPoint` stands for all points of its plugins."""

    multi_point: PluginSet = PluginSet.defaults()
    pre_enqueue: PluginSet = PluginSet.defaults()
    queue_sort: PluginSet = PluginSet.defaults()
    pre_filter: PluginSet = PluginSet.defaults()
    filter: PluginSet = PluginSet.defaults()
    post_filter: PluginSet = PluginSet.defaults()
    pre_score: PluginSet = PluginSet.defaults()
    score: PluginSet = PluginSet.defaults()
    reserve: PluginSet = PluginSet.defaults()
    permit: PluginSet = PluginSet.defaults()
    pre_bind: PluginSet = PluginSet.defaults()
    bind: PluginSet = PluginSet.defaults()
    post_bind: PluginSet = PluginSet.defaults()
    placement_generate: PluginSet = PluginSet.defaults()
    placement_score: PluginSet = PluginSet.defaults()

    def by_point(self) -> dict[str, PluginSet]:
        """The plugin sets under the names of the configuration file."""
        return {
            field.alias or name: getattr(self, name)
            for name, field in type(self).model_fields.items()
        }


def _check_type(name: str, args: PluginArgs) -> None:
    if args.kind not in (None, f"{name}Args"):
        raise FieldError(
            "kind", f"kind is {args.kind}; the arguments of {name} are of kind {name}Args"
        )
    if args.api_version not in (None, API_VERSION, OLD_API_VERSION):
        raise FieldError(
            "apiVersion", f"apiVersion is {args.api_version}; it must be {API_VERSION}"
        )


def _read_args(name: str, value: Any) -> PluginArgs:
    if name in ARGS_BY_PLUGIN:
        args = ARGS_BY_PLUGIN[name].model_validate(value)
        _check_type(name, args)
        return args
    if not isinstance(value, dict):
        raise ValueError("args must be an object")
    return OpaqueArgs(fields=tuple(sorted(value.keys() - {"apiVersion", "kind"})))


class PluginConfig(ComponentConfig):
    """The arguments of one plugin, typed by its name."""

    name: str
    args: SerializeAsAny[PluginArgs] = Field(default=PluginArgs(), validate_default=True)

    @field_validator("args", mode="plain")
    @classmethod
    def _typed_by_name(cls, value: Any, info: ValidationInfo) -> PluginArgs:
        name = info.data.get("name")
        if name is None:  # already refused
            return PluginArgs()
        if type(value) is PluginArgs:
            return _read_args(name, {})
        return value if isinstance(value, PluginArgs) else _read_args(name, value)


class KubeSchedulerProfile(ComponentConfig):
    """One scheduler name with its plugins."""

    scheduler_name: Annotated[str, Field(min_length=1)] = DEFAULT_SCHEDULER_NAME
    percentage_of_nodes_to_score: Percentage | None = None
    plugins: Plugins = Plugins.defaults()
    plugin_config: tuple[PluginConfig, ...] = ()

    @field_validator("plugin_config")
    @classmethod
    def _one_config_per_plugin(cls, configs: tuple[PluginConfig, ...]) -> tuple[PluginConfig, ...]:
        seen: set[str] = set()
        for index, config in enumerate(configs):
            if config.name in seen:
                raise ValueError(f"entry {index} configures {config.name} a second time")
            seen.add(config.name)
        return configs


class Extender(KubeModel):
    """A webhook that filters or scores; planner only needs to know that there is one."""

    model_config = ConfigDict(extra="ignore")

    url_prefix: str = ""


def _one_profile_if_empty(profiles: Any) -> Any:
    return profiles or (KubeSchedulerProfile(),)


class KubeSchedulerConfiguration(ComponentConfig):
    """The configuration file of kube-scheduler.

    A `percentageOfNodesToScore` of 0 means the adaptive share that shrinks with the cluster.
    """

    api_version: Literal["kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"]
    kind: Literal["KubeSchedulerConfiguration"]
    profiles: Annotated[
        tuple[KubeSchedulerProfile, ...], BeforeValidator(_one_profile_if_empty)
    ] = (KubeSchedulerProfile(),)
    percentage_of_nodes_to_score: Percentage = 0
    parallelism: Positive = 16
    pod_initial_backoff_seconds: Positive = 1
    pod_max_backoff_seconds: Positive = 10
    extenders: tuple[Extender, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _without_process_fields(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if key not in PROCESS_FIELDS}

    @field_validator("profiles")
    @classmethod
    def _distinguishable(
        cls, profiles: tuple[KubeSchedulerProfile, ...]
    ) -> tuple[KubeSchedulerProfile, ...]:
        names: set[str] = set()
        for index, profile in enumerate(profiles):
            if len(profiles) > 1 and "scheduler_name" not in profile.model_fields_set:
                raise ValueError(f"profile {index} needs a schedulerName")
            if profile.scheduler_name in names:
                raise ValueError(
                    f"profile {index} has the schedulerName {profile.scheduler_name} again"
                )
            if profile.plugins.queue_sort != profiles[0].plugins.queue_sort:
                raise ValueError(f"profile {index} must have the queueSort plugins of the first")
            names.add(profile.scheduler_name)
        return profiles

    @model_validator(mode="after")
    def _backoff_grows(self) -> Self:
        if self.pod_max_backoff_seconds < self.pod_initial_backoff_seconds:
            raise FieldError(
                "podMaxBackoffSeconds",
                f"podMaxBackoffSeconds is {self.pod_max_backoff_seconds}; it must not be below "
                f"podInitialBackoffSeconds, which is {self.pod_initial_backoff_seconds}",
            )
        return self
