"""The default profile of kube-scheduler v1.36: its plugins, their order and their weights.

The order is that of the default `multiPoint` list with the default feature gates; filters and
scores run in it. A plugin without a weight of its own scores, if it scores at all, with weight 1:
VolumeBinding does, but gives no points unless storage capacity scoring is switched on.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

#: The extension points of `profiles[].plugins`, spelled as in the configuration file.
EXTENSION_POINTS = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "placementGenerate",
    "placementScore",
)


@dataclass(frozen=True, slots=True)
class InTreePlugin:
    """A plugin that planner models, with the extension points that it implements."""

    name: str
    weight: int | None
    points: frozenset[str]


def _plugin(name: str, weight: int | None, points: str) -> InTreePlugin:
    return InTreePlugin(name, weight, frozenset(points.split()))


DEFAULT_PLUGINS = (
    _plugin("SchedulingGates", None, "preEnqueue"),
    _plugin("PrioritySort", None, "queueSort"),
    _plugin("NodeUnschedulable", None, "filter"),
    _plugin("NodeName", None, "filter"),
    _plugin("TaintToleration", 3, "filter preScore score"),
    _plugin("NodeAffinity", 2, "preFilter filter preScore score"),
    _plugin("NodePorts", None, "preFilter filter"),
    _plugin("NodeResourcesFit", 1, "preFilter filter preScore score placementScore"),
    _plugin("VolumeRestrictions", None, "preFilter filter"),
    _plugin("NodeVolumeLimits", None, "preFilter filter"),
    _plugin("VolumeBinding", None, "preFilter filter preScore score reserve preBind"),
    _plugin("VolumeZone", None, "preFilter filter"),
    _plugin("PodTopologySpread", 2, "preFilter filter preScore score"),
    _plugin("InterPodAffinity", 2, "preFilter filter preScore score"),
    _plugin("DynamicResources", 2, "preEnqueue preFilter filter postFilter score reserve preBind"),
    _plugin("DefaultPreemption", None, "preEnqueue postFilter"),
    _plugin("NodeResourcesBalancedAllocation", 1, "preScore score"),
    _plugin("ImageLocality", 1, "score"),
    _plugin("DefaultBinder", None, "bind"),
    _plugin("NodeDeclaredFeatures", None, "preFilter filter"),
)

PLUGINS_BY_NAME = MappingProxyType({plugin.name: plugin for plugin in DEFAULT_PLUGINS})
