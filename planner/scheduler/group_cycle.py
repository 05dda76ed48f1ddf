"""The filters and scores of one group of interchangeable pods.

They are made once; for the next replica they only catch up with what was placed or removed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    Filter,
    FilterPlugin,
    Score,
    StaticFilter,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_resources_fit import NodeResourcesFit
from planner.scheduler.profile import Profile


@dataclass(frozen=True)
class Limit:
    """PreFilter left only some nodes to look at, by name: not all of them need exist."""

    nodes: frozenset[str]
    plugins: tuple[str, ...]

    def known(self, node_index: Mapping[str, int]) -> IntArray:
        """The indexes of those that exist."""
        return np.array(sorted(node_index[n] for n in self.nodes if n in node_index), np.int64)

    @property
    def status(self) -> Status:
        """The verdict of all nodes that are not looked at."""
        names = " ".join(self.plugins)
        reason = f"node(s) didn't satisfy plugin(s) [{names}]"
        return Status("", UNRESOLVABLE, (reason,))


class GroupCycle:
    """The filters and scores of one group, kept current with the state's log."""

    def __init__(self, state: SchedulingState, profile: Profile, group: PodGroup) -> None:
        self._state = state
        self._seen = self._scored = len(state.log)
        self.rejection: Status | None = None
        self.limit: Limit | None = None
        self.filters: list[tuple[str, Filter]] = []
        self._profile = profile
        self._group = group
        self._pre_filter(state, profile, group)

    def _pre_filter(self, state: SchedulingState, profile: Profile, group: PodGroup) -> None:
        nodes: frozenset[str] | None = None
        limited_by: list[str] = []
        concerned = _Concerned.under(state, profile)
        asked: list[FilterPlugin] = []
        for plugin in concerned.by(state, group):
            result = plugin.pre_filter(state, group)
            if result is SKIP:
                continue
            asked.append(plugin)
            if result.rejection is not None:
                self.rejection = result.rejection
                return
            if result.nodes is not None:
                nodes = result.nodes if nodes is None else nodes & result.nodes
                limited_by.append(plugin.name)
            if result.filter is not None:
                self.filters.append((plugin.name, result.filter))
        if nodes is not None:
            self.limit = Limit(nodes, tuple(sorted(limited_by)))
        concerned.remember(state, group, tuple(asked))

    @cached_property
    def judges(self) -> tuple[Filter, ...]:
        """The filters without the names of their plugins."""
        return tuple(each for _, each in self.filters)

    @cached_property
    def judges_room(self) -> bool:
        """Whether one of them compares requests with what a node has left."""
        return any(name == NodeResourcesFit.name for name, _ in self.filters)

    @cached_property
    def local(self) -> bool:
        """Whether only pods that leave a node can make it take the pod."""
        return self.rejection is None and all(each.local for _, each in self.filters)

    @cached_property
    def never(self) -> BoolArray:
        """Nodes that a filter refuses whatever other pods do."""
        never = np.zeros(len(self._state.cluster.nodes), np.bool_)
        for _, each in self.filters:
            if isinstance(each, StaticFilter):
                never |= each.refused()
        return never

    def refused(self) -> BoolArray:
        """Nodes that don't pass all filters."""
        refused = self.never.copy()
        for each in self._changing:
            refused |= each.refused()
        return refused

    @cached_property
    def _changing(self) -> tuple[Filter, ...]:
        """Filters for which other pods matter."""
        return tuple(each for _, each in self.filters if not isinstance(each, StaticFilter))

    @property
    def scores(self) -> list[tuple[str, int, Score]]:
        """(plugin, weight, score) of the plugins that score this group.

        They are made on first use and catch up on the next: a pod that one node takes, or none, is
        never scored.
        """
        self.score_catch_up()
        return self._scores

    def score_catch_up(self) -> None:
        """The scores apply what happened since they were last asked for."""
        made, log = self._scores, self._state.log
        if self._scored < len(log):
            changes = log.since(self._scored)
            self._scored = len(log)
            for _, _, score in made:
                score.apply(changes)

    @cached_property
    def _scores(self) -> list[tuple[str, int, Score]]:
        self._scored = len(self._state.log)
        made = [
            (plugin.name, weight, plugin.pre_score(self._state, self._group))
            for plugin, weight in self._profile.scores
        ]
        return [(name, weight, score) for name, weight, score in made if score is not None]

    def catch_up(self) -> None:
        """The filters apply what happened since this group's last pod."""
        log = self._state.log
        if self._seen == len(log):
            return
        changes = log.since(self._seen)
        self._seen = len(log)
        for each in self._changing:
            each.apply(changes)


class _Concerned:
    """Which plugins of a profile have anything to say about a group, once all have been asked.

    SKIP is a matter of the pod's spec, the nodes and the groups; where volumes are involved, of
    more than that, and such groups are put before all plugins every time.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._plugins: dict[int, tuple[FilterPlugin, ...]] = {}

    @classmethod
    def under(cls, state: SchedulingState, profile: Profile) -> _Concerned:
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
