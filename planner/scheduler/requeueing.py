"""Which events could help a pod that was refused.

kube-scheduler's plugins say this in EventsToRegister. Their queueing hints, which look at the very
object of the event, are left out: a pod is then tried once too often rather than once too rarely,
and a try changes nothing but the time it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from planner_models.pod import Pod


class Event(Enum):
    """What can happen to nodes and to pods that have one (or to the waiting pod itself)."""

    POD_ADDED = "pod added"
    POD_REMOVED = "pod removed"
    POD_LABELS_CHANGED = "pod labels changed"
    POD_TOLERATIONS_CHANGED = "pod tolerations changed"
    POD_SCALED_DOWN = "pod scaled down"
    NODE_ADDED = "node added"
    NODE_REMOVED = "node removed"
    NODE_LABELS_CHANGED = "node labels changed"
    NODE_TAINTS_CHANGED = "node taints changed"
    """Or the node was uncordoned."""
    NODE_ALLOCATABLE_CHANGED = "node allocatable changed"


NODE_CHANGED = (
    Event.NODE_LABELS_CHANGED,
    Event.NODE_TAINTS_CHANGED,
    Event.NODE_ALLOCATABLE_CHANGED,
)
"""For a caller that does not know what changed about a node."""

HELPED_BY: Mapping[str, frozenset[Event]] = {
    "NodeUnschedulable": frozenset(
        {Event.NODE_ADDED, Event.NODE_TAINTS_CHANGED, Event.POD_TOLERATIONS_CHANGED}
    ),
    "NodeName": frozenset({Event.NODE_ADDED}),
    "TaintToleration": frozenset(
        {Event.NODE_ADDED, Event.NODE_TAINTS_CHANGED, Event.POD_TOLERATIONS_CHANGED}
    ),
    "NodeAffinity": frozenset({Event.NODE_ADDED, Event.NODE_LABELS_CHANGED}),
    "NodePorts": frozenset({Event.NODE_ADDED, Event.POD_REMOVED}),
    "NodeResourcesFit": frozenset(
        {
            Event.NODE_ADDED,
            Event.NODE_ALLOCATABLE_CHANGED,
            Event.POD_REMOVED,
            Event.POD_SCALED_DOWN,
        }
    ),
    "VolumeRestrictions": frozenset({Event.NODE_ADDED, Event.POD_REMOVED}),
    # Limits stand in CSINodes: one comes with its node.
    "NodeVolumeLimits": frozenset({Event.NODE_ADDED, Event.POD_REMOVED}),
    "VolumeBinding": frozenset({Event.NODE_ADDED, Event.NODE_LABELS_CHANGED}),
    "VolumeZone": frozenset({Event.NODE_ADDED, Event.NODE_LABELS_CHANGED}),
    "PodTopologySpread": frozenset(
        {
            Event.POD_ADDED,
            Event.POD_REMOVED,
            Event.POD_LABELS_CHANGED,
            Event.POD_TOLERATIONS_CHANGED,
            Event.NODE_ADDED,
            Event.NODE_REMOVED,
            Event.NODE_LABELS_CHANGED,
            Event.NODE_TAINTS_CHANGED,
        }
    ),
    "InterPodAffinity": frozenset(
        {
            Event.POD_ADDED,
            Event.POD_REMOVED,
            Event.POD_LABELS_CHANGED,
            Event.NODE_ADDED,
            Event.NODE_LABELS_CHANGED,
        }
    ),
}
"""By plugin. Storage objects don't change while pods are being scheduled, so they are no events."""

ANY_EVENT = frozenset(Event)
"""A plugin that registers nothing is asked again after every event."""


def could_help(plugins: Iterable[str], event: Event) -> bool:
    """Whether a pod that these plugins refused is worth another try after the event."""
    return any(event in HELPED_BY.get(plugin, ANY_EVENT) for plugin in plugins)


def own_changes(old: Pod, new: Pod) -> frozenset[Event]:
    """What an update of a waiting pod means to the plugins that refused it."""
    found: set[Event] = set()
    if old.labels != new.labels:
        found.add(Event.POD_LABELS_CHANGED)
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        found.add(Event.POD_TOLERATIONS_CHANGED)
    requests = new.spec.requests
    if any(amount > requests.get(name, -1) for name, amount in old.spec.requests.items()):
        found.add(Event.POD_SCALED_DOWN)
    return frozenset(found)
