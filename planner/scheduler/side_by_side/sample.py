"""The nodes that lanes have copies of, and the rules of the groups whose pods wait there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.scheduler.side_by_side.counters import Counter, Counters
from planner.scheduler.side_by_side.rules import GroupRules, rules_of
from planner_models.node import HOSTNAME


@dataclass(frozen=True, eq=False)
class Sample:
    """Amounts are by resource and by node, with a last place for no node: it has room for none."""

    allocatable: IntArray
    used: IntArray
    non_zero_used: IntArray
    rules: Mapping[int, GroupRules]
    """By group."""
    counters: tuple[Counter, ...]

    @property
    def nothing(self) -> int:
        """The number of no node."""
        return len(self.allocatable[0]) - 1


def sample_of(cluster: Cluster, profile: Profile, groups: Iterable[int]) -> Sample | None:
    """None where a rule of one of these groups can't be followed in lanes.

    Copies of a node have its labels, taints and pods, and a host name of their own.
    """
    if not cluster.topology(HOSTNAME).single:
        return None
    state, counters = SchedulingState(cluster), Counters()
    if state.volumes.promising:
        return None
    rules: dict[int, GroupRules] = {}
    for group in groups:
        found = rules_of(state, profile, cluster.groups[group], counters)
        if found is None:
            return None
        rules[group] = found
    for each in rules.values():
        each.touches = tuple(
            (counter, counter.factors[each.group])
            for counter in counters.every
            if each.group in counter.factors
        )
    return Sample(
        _with_nothing(cluster.resources.by_resource),
        _with_nothing(state.used.T),
        _with_nothing(state.non_zero_used.T),
        rules,
        tuple(counters.every),
    )


def _with_nothing(amounts: IntArray) -> IntArray:
    return np.concatenate((amounts, np.zeros((len(amounts), 1), np.int64)), axis=1)
