"""Events that can give a refused pod another chance, as EventsToRegister of the plugins names them.

Storage objects don't change while pods are being scheduled, so they are no events here.
"""

from __future__ import annotations

from enum import Enum


class Event(Enum):
    """What can happen to nodes, to pods that have one, or to the waiting pod itself."""

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
    NODE_FEATURES_CHANGED = "node declared features changed"


NODE_CHANGED = (
    Event.NODE_LABELS_CHANGED,
    Event.NODE_TAINTS_CHANGED,
    Event.NODE_ALLOCATABLE_CHANGED,
    Event.NODE_FEATURES_CHANGED,
)
"""For a caller that does not know what changed about a node."""
