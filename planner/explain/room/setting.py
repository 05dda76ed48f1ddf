"""The pod, its rules and who may be evicted; and the cluster with only the pods that stay."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster import GONE, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.disruption.movability import Movability, MovePolicy
from planner.explain.rules import rules_of
from planner.explain.rules.inter_pod_affinity import NearRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.pod_topology_spread import find as find_spreads
from planner.explain.rules.rule import Rule, of_type
from planner.explain.situation.subject import Subject
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.volumes.state import VolumeState


def movable_pods(cluster: Cluster, node_of: IntArray, policy: MovePolicy) -> BoolArray:
    """Running pods that may be evicted."""
    found = np.zeros(len(cluster.pods), np.bool_)
    movability = Movability(cluster, policy)
    for index in np.flatnonzero(node_of >= 0).tolist():
        found[index] = movability.why(index) is None
    return found


@dataclass(frozen=True, eq=False)
class Setting:
    """What every search for room starts from."""

    subject: Subject
    rules: tuple[Rule, ...]
    policy: MovePolicy

    @cached_property
    def movable(self) -> BoolArray:
        """Running pods that may be evicted; interchangeable pods may still differ in it."""
        known = self.subject.movable
        if self.policy not in known:
            node_of = self.subject.state.node_of
            known[self.policy] = movable_pods(self.subject.cluster, node_of, self.policy)
        return known[self.policy]

    def all_alike(self, groups: Sequence[int]) -> bool:
        """Whether these groups have the pod's own spec, and it is among them."""
        cluster, own = self.subject.cluster, self.subject.group
        return own.index in groups and all(cluster.groups[g].spec == own.spec for g in groups)

    @cached_property
    def fixed(self) -> Subject:
        """The pod before the pods that stay."""
        state = copy.copy(self.subject.state)
        state.begin_log()
        state.node_of = np.where(self.movable, GONE, state.node_of)
        stay = np.flatnonzero(state.node_of >= 0)
        cluster = self.subject.cluster
        state.used = sum_by(
            state.node_of[stay],
            cluster.resources.requests[cluster.group_of[stay]],
            len(cluster.nodes),
        )
        if state.volumes.of(self.subject.group) is not None:
            state.volumes = VolumeState(state.snapshot())
        return replace(self.subject, state=state)

    @cached_property
    def _fixed_spreads(self) -> dict[str, SpreadRule]:
        """All constraints over the pods that stay, those that refuse no node as well."""
        return {rule.field: rule for rule in of_type(find_spreads(self.fixed), SpreadRule)}

    @cached_property
    def never(self) -> BoolArray:
        """Nodes that refuse the pod whatever is evicted."""
        refused = np.zeros(self.subject.nodes.total, np.bool_)
        for rule in rules_of(self.fixed):
            if rule.monotone:
                refused |= rule.blocked
        for near in of_type(self.rules, NearRule):
            if not near.counts.any():
                refused |= near.blocked
        for spread in of_type(self.rules, SpreadRule):
            refused |= self._never_by_spread(spread)
        return refused

    def _never_by_spread(self, rule: SpreadRule) -> BoolArray:
        """Domains whose pods that stay are too many against the fullest that the least can get."""
        skew = self._staying(rule) + rule.self_match - self.lowest(rule, with_pod=False)
        shut: BoolArray = np.append(skew > rule.constraint.max_skew, True)[rule.topology.domain_of]
        return shut

    def _staying(self, rule: SpreadRule) -> IntArray:
        """Matching pods per domain that can't leave."""
        return self._fixed_spreads[rule.field].counts

    def lowest(self, rule: SpreadRule, *, with_pod: bool) -> int:
        """No sequence brings the minimum above this."""
        return rule.least_of(self.most(rule, with_pod=with_pod))

    def most(self, rule: SpreadRule, *, with_pod: bool) -> IntArray:
        """How many matching pods each domain can have at most at any time."""
        cluster = self.subject.cluster
        most = self._staying(rule).copy()
        sizes = Counter(cluster.group_of[self.movable].tolist())
        for group in rule.counted_groups:
            number = sizes.get(group, 0)
            if with_pod and group == self.subject.group.index:
                number += 1
            if number:
                most += self._reach(rule, group, number)
        return most

    def _reach(self, rule: SpreadRule, group: int, number: int) -> IntArray:
        """Per domain: as many as have room there beside the pods that stay, or are there now."""
        cluster, topology = self.subject.cluster, rule.topology
        cycle = GroupCycle(self.subject.state, self.subject.profile, cluster.groups[group])
        request = cluster.resources.requests[group]
        asked = request > 0
        free = cluster.resources.allocatable[:, asked] - self.fixed.state.used[:, asked]
        slots = np.maximum(free // request[asked], 0).min(axis=1)
        slots = np.where(cycle.never, 0, slots)
        mine = self.movable & (cluster.group_of == group)
        now = np.bincount(self.subject.state.node_of[mine], minlength=len(cluster.nodes))
        slots = np.maximum(slots, now)
        room = np.zeros(len(topology.domains), np.int64)
        labelled = topology.domain_of >= 0
        np.add.at(room, topology.domain_of[labelled], np.minimum(slots[labelled], number))
        return np.minimum(room, number)
