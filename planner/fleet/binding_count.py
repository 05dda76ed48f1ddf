"""What picks do to bindings: they revive idle ones or make new ones, where Fleet can."""

from __future__ import annotations

from collections import defaultdict

from planner.fleet.setting import Setting
from planner.sources.errors import SourceError
from planner_models.fleet_binding import PREVIOUS_STATE_ANNOTATION, Binding

PLACEMENT_PART, CLUSTER_PART = 26, 27
"""Characters of either name that become part of a new binding's name."""


class BindingCount:
    """How many bindings there are: Fleet counts these, and a cluster can have several.

    This is part of the scheduler's state; it changes with every pick.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        bindings = setting.bindings
        self._idle: dict[str, list[Binding]] = defaultdict(list)
        for each in (*bindings.obsolete, *bindings.unscheduled):
            self._idle[each.spec.target_cluster].append(each)
        self.current = len(bindings.bound) + len(bindings.scheduled)

    def pick(self, cluster: int) -> int:
        """The bindings that become current: all of the cluster that are idle, or else a new one."""
        name = self._setting.clusters[cluster].name
        revived = self._idle.pop(name, [])
        for each in revived:
            require_previous_state(each)
        if not revived:
            require_binding_name(self._setting.placement.name, name)
        self.current += len(revived) or 1
        return len(revived) or 1


def require_previous_state(binding: Binding) -> None:
    """Fleet fails on a binding that it would revive if it can't tell what it was before."""
    noted = binding.metadata.annotations
    if binding.spec.state == "Unscheduled" and PREVIOUS_STATE_ANNOTATION not in noted:
        raise SourceError(
            "Fleet can't pick the cluster again, and fails, because the binding does not say what "
            "it was before",
            object=f"{type(binding).__name__} {binding.name}",
            field=f"metadata.annotations[{PREVIOUS_STATE_ANNOTATION}]",
        )


def require_binding_name(placement: str, cluster: str) -> None:
    """Fleet fails on names with dots, from which it can't make the name of a binding."""
    for name in (placement[:PLACEMENT_PART], cluster[:CLUSTER_PART]):
        if "." in name:
            raise SourceError(
                f"Fleet can't make a binding for cluster {cluster} of placement {placement}, and "
                f"fails: {name} has a dot"
            )
