"""Who may move, and the cluster with only those that stay."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster import GONE, Cluster
from planner.cluster.movability import MovePolicy, immovable
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.explain.rules import rules_of
from planner.explain.rules.inter_pod_affinity import NearRule
from planner.explain.rules.pod_topology_spread import SpreadRule, matching_groups
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.volumes.state import VolumeState
from planner_models.diagnosis import RuleKind

_MONOTONE: frozenset[RuleKind] = frozenset(
    (
        "nodeAffinity",
        "taints",
        "unschedulable",
        "nodeName",
        "declaredFeatures",
        "ports",
        "capacity",
        "podAntiAffinity",
        "podAntiAffinityOfOthers",
        "volumes",
    )
)
"""Rules that more pods never open: what refuses a node without the movable pods always does."""


def movable_pods(cluster: Cluster, node_of: IntArray, policy: MovePolicy) -> BoolArray:
    """Running pods that may be evicted, asked once for pods that are equal in what counts."""
    found = np.zeros(len(cluster.pods), np.bool_)
    known: dict[tuple[int, int, bool], bool] = {}
    for index in np.flatnonzero(node_of >= 0).tolist():
        pod = cluster.pods[index]
        told = id(pod.annotations) if pod.annotations else 0
        key = (int(cluster.group_of[index]), told, pod.terminating)
        may = known.get(key)
        if may is None:
            may = known[key] = immovable(pod, policy) is None
        found[index] = may
    return found


@dataclass(frozen=True, eq=False)
class Stage:
    """Who may move, and the cluster with only those that stay."""

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

    @cached_property
    def fixed(self) -> Subject:
        """The pod before the pods that stay."""
        state = copy.copy(self.subject.state)
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
    def fixed_rules(self) -> dict[tuple[str, str], Rule]:
        """The rules over the pods that stay."""
        return {(rule.kind, rule.field): rule for rule in rules_of(self.fixed)}

    @cached_property
    def never(self) -> BoolArray:
        """Nodes that refuse the pod whatever is evicted."""
        refused = np.zeros(self.subject.places.total, np.bool_)
        for rule in self.fixed_rules.values():
            if rule.kind in _MONOTONE:
                refused |= rule.blocked
        for rule in self.rules:
            if isinstance(rule, NearRule) and not rule.counts.any():
                refused |= rule.blocked
            if isinstance(rule, SpreadRule):
                refused |= self._never_by_spread(rule)
        return refused

    def _never_by_spread(self, rule: SpreadRule) -> BoolArray:
        """Domains whose pods that stay are too many against the fullest that the least can get."""
        skew = self._staying(rule) + rule.self_match - self.lowest(rule, with_pod=False)
        shut: BoolArray = np.append(skew > rule.constraint.max_skew, True)[rule.topology.domain_of]
        return shut

    def _staying(self, rule: SpreadRule) -> IntArray:
        """Matching pods per domain that can't leave."""
        found = self.fixed_rules.get((rule.kind, rule.field))
        if isinstance(found, SpreadRule):
            return found.counts
        return np.zeros_like(rule.counts)

    def lowest(self, rule: SpreadRule, *, with_pod: bool) -> int:
        """No sequence brings the minimum above this."""
        if rule.few_domains:
            return 0
        return int(self.most(rule, with_pod=with_pod)[rule.eligible].min())

    def most(self, rule: SpreadRule, *, with_pod: bool) -> IntArray:
        """How many matching pods each domain can have at most at any time."""
        cluster = self.subject.cluster
        most = self._staying(rule).copy()
        groups = matching_groups(self.subject, rule.constraint)
        pods = np.flatnonzero(self.movable)
        sizes = Counter(cluster.group_of[pods].tolist())
        for group in groups.tolist():
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
