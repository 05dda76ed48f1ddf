"""What a scheduler configuration asks for that planner can't model, named with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner_models.scheduler_args import (
    DynamicResourcesArgs,
    OpaqueArgs,
    PluginArgs,
    VolumeBindingArgs,
)
from planner_models.scheduler_config import Extender, PluginConfig, PluginSet
from planner_models.scheduler_plugins import PLUGINS_BY_NAME

ENABLES_UNKNOWN = "the scheduler profile enables plugins that planner can't model"
CONFIGURES_UNKNOWN = "the scheduler profile sets plugin arguments that planner can't model"
HAS_EXTENDERS = "the scheduler configuration calls extenders, which planner can't model"

_DEFAULT_DYNAMIC_RESOURCES = DynamicResourcesArgs.defaults()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something planner can't model: the field that asks for it, and its name."""

    field: str
    name: str

    def __str__(self) -> str:
        return f"{self.field}: {self.name}"


class UnsupportedConfigurationError(ValueError):
    """A valid configuration that planner can't follow."""

    def __init__(self, message: str, refusals: tuple[Refusal, ...]) -> None:
        super().__init__("\n".join([message, *map(str, refusals)]))
        self.message = message
        self.refusals = refusals


def refuse_extenders(extenders: tuple[Extender, ...]) -> None:
    """An extender may refuse or prefer any node, and only its web server knows which."""
    _raise_if_any(
        HAS_EXTENDERS,
        (
            Refusal(f"extenders[{index}]", extender.url_prefix)
            for index, extender in enumerate(extenders)
        ),
    )


def refuse_unknown_plugins(
    sets: Mapping[str, PluginSet], ignored: frozenset[str], path: str
) -> None:
    """All unknown plugins are named, at whatever extension point: even a Permit plugin matters."""
    _raise_if_any(
        ENABLES_UNKNOWN,
        (
            Refusal(f"{path}.plugins.{point}.enabled[{index}]", plugin.name)
            for point, plugin_set in sets.items()
            for index, plugin in enumerate(plugin_set.enabled)
            if plugin.name not in PLUGINS_BY_NAME and plugin.name not in ignored
        ),
    )


def refuse_unknown_args(
    configs: tuple[PluginConfig, ...], running: frozenset[str], path: str
) -> None:
    """Arguments matter only if their plugin runs, as for kube-scheduler."""
    _raise_if_any(
        CONFIGURES_UNKNOWN,
        (
            Refusal(f"{path}.pluginConfig[{index}].args.{field}", config.name)
            for index, config in enumerate(configs)
            if config.name in running
            for field in _unmodelled_fields(config.args)
        ),
    )


def _raise_if_any(message: str, refusals: Iterator[Refusal]) -> None:
    found = tuple(refusals)
    if found:
        raise UnsupportedConfigurationError(message, found)


def _unmodelled_fields(args: PluginArgs) -> tuple[str, ...]:
    if isinstance(args, OpaqueArgs):
        return args.fields
    if isinstance(args, VolumeBindingArgs):
        return () if args.shape is None else ("shape",)
    if isinstance(args, DynamicResourcesArgs):
        default = _DEFAULT_DYNAMIC_RESOURCES
        changed = {
            "filterTimeout": args.filter_timeout != default.filter_timeout,
            "bindingTimeout": args.binding_timeout != default.binding_timeout,
        }
        return tuple(field for field, differs in changed.items() if differs)
    return ()
