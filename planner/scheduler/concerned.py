"""Which plugins need not be asked: most have nothing to say about most pods, whoever runs where."""

from __future__ import annotations

from planner.cluster.groups import PodGroup
from planner.scheduler.framework.plugin import FilterPlugin
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile


class Concerned:
    """Which plugins of a profile have anything to say about a group, once all have been asked.

    SKIP is a matter of the pod's spec, the nodes and the groups; where volumes are involved, of
    more than that, and such groups are put before all plugins every time.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._plugins: dict[int, tuple[FilterPlugin, ...]] = {}

    @classmethod
    def under(cls, state: SchedulingState, profile: Profile) -> Concerned:
        """What is known by now; profiles are told apart by identity, and kept for that."""
        return state.facts.once(("concerned", id(profile)), lambda: cls(profile))

    def by(self, state: SchedulingState, group: PodGroup) -> tuple[FilterPlugin, ...]:
        """The plugins to ask."""
        known = self._plugins if _as_given(state, group) else {}
        return known.get(group.index, self._profile.filters)

    def remember(
        self, state: SchedulingState, group: PodGroup, plugins: tuple[FilterPlugin, ...]
    ) -> None:
        """All others have nothing to say."""
        if _as_given(state, group):
            self._plugins[group.index] = plugins


def _as_given(state: SchedulingState, group: PodGroup) -> bool:
    """Whether the group is one of the cluster's, not one with another spec for a what-if."""
    return not group.volumes and state.cluster.groups[group.index] is group
