"""From a scheduler profile to the plugins that run, in order, with their weights and arguments.

Follows kube-scheduler v1.36: the profile's `multiPoint` set is merged into the default one, then
expanded to every extension point that its plugins implement, unless the point's own set says
otherwise. What planner can't model is refused by name and place, never dropped in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from planner_models.scheduler_args import (
    DefaultPreemptionArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    VolumeBindingArgs,
)
from planner_models.scheduler_config import (
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    Plugin,
    PluginConfig,
    PluginSet,
)
from planner_models.scheduler_plugins import DEFAULT_PLUGINS, EXTENSION_POINTS, PLUGINS_BY_NAME
from planner_models.scheduler_refusals import (
    refuse_extenders,
    refuse_unknown_args,
    refuse_unknown_plugins,
)

_Args = TypeVar("_Args", bound=PluginArgs)
_ALL = "*"
_MULTI_POINT = "multiPoint"
_DEFAULT_MULTI_POINT = tuple(
    Plugin(name=plugin.name, weight=plugin.weight) for plugin in DEFAULT_PLUGINS
)


@dataclass(frozen=True, slots=True)
class WeightedPlugin:
    """A score plugin and the factor of its normalised score."""

    name: str
    weight: int


@dataclass(frozen=True, slots=True)
class ProfileArgs:
    """The arguments of the plugins that have some, defaults applied."""

    node_resources_fit: NodeResourcesFitArgs
    node_resources_balanced_allocation: NodeResourcesBalancedAllocationArgs
    pod_topology_spread: PodTopologySpreadArgs
    node_affinity: NodeAffinityArgs
    inter_pod_affinity: InterPodAffinityArgs
    default_preemption: DefaultPreemptionArgs
    volume_binding: VolumeBindingArgs


@dataclass(frozen=True, slots=True)
class ResolvedProfile:
    """What runs at each extension point that planner models, in the order in which it runs."""

    scheduler_name: str
    percentage_of_nodes_to_score: int
    pre_enqueue: tuple[str, ...]
    queue_sort: str
    pre_filter: tuple[str, ...]
    filter: tuple[str, ...]
    post_filter: tuple[str, ...]
    pre_score: tuple[str, ...]
    score: tuple[WeightedPlugin, ...]
    args: ProfileArgs
    #: Plugins of the profile that were left out because the user said so, sorted.
    ignored: tuple[str, ...]


def resolve_profile(
    profile: KubeSchedulerProfile,
    *,
    ignored: frozenset[str] = frozenset(),
    percentage_of_nodes_to_score: int = 0,
    path: str = "profiles[0]",
) -> ResolvedProfile:
    """Expand a profile; `ignored` plugins are left out wherever they appear.

    The profile's own percentage wins over the given one, which is the configuration's. If the
    profile's queueSort plugin is ignored, pods are queued as PrioritySort does.
    """
    sets = profile.plugins.by_point()
    refuse_unknown_plugins(sets, ignored, path)
    multi_point = _merge_with_defaults(sets[_MULTI_POINT])
    dropped = _names(multi_point, *(plugin_set.enabled for plugin_set in sets.values())) & ignored
    multi_point = _without(multi_point, ignored)
    for point in EXTENSION_POINTS:
        _check_own(point, sets[point], ignored, path)
    sets = {point: _keep(plugin_set, ignored) for point, plugin_set in sets.items()}
    running = {point: _expand(point, sets[point], multi_point, path) for point in EXTENSION_POINTS}
    enabled = frozenset(name for names in running.values() for name in names)
    refuse_unknown_args(profile.plugin_config, enabled, path)
    if not running["bind"] and not _may_run_at("bind", dropped):
        raise ValueError(f"{path}.plugins.bind: at least one bind plugin is needed")
    weights = _weights((*sets["score"].enabled, *multi_point))
    own_percentage = profile.percentage_of_nodes_to_score
    return ResolvedProfile(
        scheduler_name=profile.scheduler_name,
        percentage_of_nodes_to_score=(
            percentage_of_nodes_to_score if own_percentage is None else own_percentage
        ),
        pre_enqueue=running["preEnqueue"],
        queue_sort=_the_queue_sort(running["queueSort"], dropped, path),
        pre_filter=running["preFilter"],
        filter=running["filter"],
        post_filter=running["postFilter"],
        pre_score=running["preScore"],
        score=tuple(WeightedPlugin(name, weights[name]) for name in running["score"]),
        args=_profile_args(profile.plugin_config),
        ignored=tuple(sorted(dropped)),
    )


def resolve_profiles(
    configuration: KubeSchedulerConfiguration, *, ignored: frozenset[str] = frozenset()
) -> tuple[ResolvedProfile, ...]:
    """Expand all profiles of a configuration; extenders are refused."""
    refuse_extenders(configuration.extenders)
    return tuple(
        resolve_profile(
            profile,
            ignored=ignored,
            percentage_of_nodes_to_score=configuration.percentage_of_nodes_to_score,
            path=f"profiles[{index}]",
        )
        for index, profile in enumerate(configuration.profiles)
    )


def _names(*lists: tuple[Plugin, ...]) -> frozenset[str]:
    return frozenset(plugin.name for plugins in lists for plugin in plugins)


def _without(plugins: tuple[Plugin, ...], ignored: frozenset[str]) -> tuple[Plugin, ...]:
    return tuple(plugin for plugin in plugins if plugin.name not in ignored)


def _keep(plugin_set: PluginSet, ignored: frozenset[str]) -> PluginSet:
    return PluginSet(enabled=_without(plugin_set.enabled, ignored), disabled=plugin_set.disabled)


def _merge_with_defaults(custom: PluginSet) -> tuple[Plugin, ...]:
    """The default multiPoint list without disabled plugins, re-configured in place, then the rest.

    A re-configured plugin loses its default weight, even when no new one is given. Of several
    entries with one name the last one replaces the default; the others stay and are refused later.
    """
    disabled = _names(custom.disabled)
    last = {plugin.name: index for index, plugin in enumerate(custom.enabled)}
    merged: list[Plugin] = []
    replaced: set[int] = set()
    for default in () if _ALL in disabled else _DEFAULT_MULTI_POINT:
        if default.name in disabled:
            continue
        if default.name in last:
            replaced.add(last[default.name])
            merged.append(custom.enabled[last[default.name]])
        else:
            merged.append(default)
    rest = (plugin for index, plugin in enumerate(custom.enabled) if index not in replaced)
    return (*merged, *rest)


def _check_own(point: str, specific: PluginSet, ignored: frozenset[str], path: str) -> None:
    """A plugin can be enabled only where it has something to do, and once."""
    seen: set[str] = set()
    for index, plugin in enumerate(specific.enabled):
        field, name = f"{path}.plugins.{point}.enabled[{index}]", plugin.name
        if name in ignored:
            continue
        if point not in PLUGINS_BY_NAME[name].points:
            raise ValueError(f"{field}: {name} has no {point} part")
        if name in seen:
            raise ValueError(f"{field}: {name} is enabled twice")
        seen.add(name)


def _expand(
    point: str, specific: PluginSet, multi_point: tuple[Plugin, ...], path: str
) -> tuple[str, ...]:
    """First what the point's own set re-configures, then multiPoint, then the rest of the set."""
    own = tuple(plugin.name for plugin in specific.enabled)
    disabled = _names(specific.disabled)
    if _ALL in disabled:
        return own
    offered = [
        plugin.name
        for plugin in multi_point
        if point in PLUGINS_BY_NAME[plugin.name].points and plugin.name not in disabled
    ]
    inherited = [name for name in offered if name not in own]
    for name in inherited:
        if inherited.count(name) > 1:
            raise ValueError(f"{path}.plugins.{_MULTI_POINT}.enabled: {name} is enabled twice")
    overriding = [name for name in own if name in offered]
    return (*overriding, *inherited, *(name for name in own if name not in offered))


def _weights(plugins: tuple[Plugin, ...]) -> dict[str, int]:
    """The first entry decides, so those of `score` must come before those of `multiPoint`."""
    weights: dict[str, int] = {}
    for plugin in plugins:
        weights.setdefault(plugin.name, plugin.weight or 1)
    return weights


def _may_run_at(point: str, names: frozenset[str]) -> bool:
    """Whether one of the plugins runs at the point; of an unknown one that must be assumed."""
    return any(
        name not in PLUGINS_BY_NAME or point in PLUGINS_BY_NAME[name].points for name in names
    )


def _the_queue_sort(names: tuple[str, ...], dropped: frozenset[str], path: str) -> str:
    if not names and _may_run_at("queueSort", dropped):
        return "PrioritySort"
    if len(names) != 1:
        listed = ", ".join(names) or "none"
        raise ValueError(f"{path}.plugins.queueSort: exactly one plugin is needed, not {listed}")
    return names[0]


def _profile_args(configs: tuple[PluginConfig, ...]) -> ProfileArgs:
    def args_of(kind: type[_Args]) -> _Args:
        found = (config.args for config in configs if isinstance(config.args, kind))
        return next(found, kind())

    return ProfileArgs(
        node_resources_fit=args_of(NodeResourcesFitArgs),
        node_resources_balanced_allocation=args_of(NodeResourcesBalancedAllocationArgs),
        pod_topology_spread=args_of(PodTopologySpreadArgs),
        node_affinity=args_of(NodeAffinityArgs),
        inter_pod_affinity=args_of(InterPodAffinityArgs),
        default_preemption=args_of(DefaultPreemptionArgs),
        volume_binding=args_of(VolumeBindingArgs),
    )
