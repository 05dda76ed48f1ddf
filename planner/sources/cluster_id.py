"""Which cluster it is: a name that no other cluster has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.sources.inventory import Inventory


def cluster_id(inventory: Inventory) -> str | None:
    """The uid of kube-system: every cluster has that namespace, and none has the same."""
    found = (each.metadata.uid for each in inventory.namespaces if each.name == "kube-system")
    return next(found, None) or None
