"""Counting arguments: why no sequence of evictions and placements can make room.

Every argument bounds what can be on the nodes at any time, given the pods that stay whatever
happens. It is computed, and only if the numbers contradict each other it becomes a sentence.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from models.diagnosis import Counting, RuleKind
from planner.cluster import GONE, Cluster
from planner.cluster.movability import Immovable, MovePolicy, immovable
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.explain.rules import rules_of
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule, NearRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule, matching_groups
from planner.explain.rules.rule import Rule
from planner.explain.subject import Subject
from planner.explain.words import amount_of, conjoined, count_of
from planner.scheduler.cycle import GroupCycle
from planner.scheduler.volume_state import VolumeState

_MONOTONE: frozenset[RuleKind] = frozenset(
    (
        "nodeAffinity",
        "taints",
        "unschedulable",
        "nodeName",
        "ports",
        "capacity",
        "podAntiAffinity",
        "podAntiAffinityOfOthers",
        "volumes",
    )
)
"""Rules that more pods never open: what refuses a node without the movable pods always does."""
_STATIC: frozenset[RuleKind] = frozenset(("nodeAffinity", "taints", "unschedulable", "nodeName"))


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


def certificate(stage: Stage) -> Counting | None:
    """The first argument that holds."""
    for argue in (_static, _domains, _apart, _pinned, _capacity):
        found = argue(stage)
        if found is not None:
            return found
    return None


def _static(stage: Stage) -> Counting | None:
    """Every node is refused by rules that don't look at other pods."""
    refused = np.zeros(stage.subject.places.total, np.bool_)
    for rule in stage.rules:
        if rule.kind in _STATIC:
            refused |= rule.blocked
        if isinstance(rule, CapacityRule):
            refused |= rule.hopeless
    if not refused.all():
        return None
    return Counting(kind="static", text="No eviction helps: these rules don't look at other pods.")


def _pinned(stage: Stage) -> Counting | None:
    if not stage.never.all():
        return None
    return Counting(
        kind="pinned",
        text=f"No eviction helps: {_who_stays(stage)}.",
        numbers={"nodes": stage.subject.places.total, "movable": int(stage.movable.sum())},
    )


def _who_stays(stage: Stage) -> str:
    """Why the pods that decide can't move, if they have the reason in common."""
    subject = stage.subject
    deciding = [rule for rule in stage.rules if isinstance(rule, SpreadRule)]
    groups: set[int] = set()
    for rule in deciding:
        groups.update(matching_groups(subject, rule.constraint).tolist())
    chosen = np.isin(subject.cluster.group_of, sorted(groups)) & (subject.state.node_of >= 0)
    pods = [subject.cluster.pods[i] for i in np.flatnonzero(chosen & ~stage.movable).tolist()]
    reasons = {immovable(pod, stage.policy) for pod in pods}
    if not pods or chosen[stage.movable].any() or len(reasons) != 1:
        return "the pods that stay where they are leave no node whatever is evicted"
    return _STAYING[next(iter(reasons))].format(
        count_of(len(pods), "matching pod"), _has(len(pods)), "it" if len(pods) == 1 else "them"
    )


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


_STAYING: dict[Immovable | None, str] = {
    "noController": (
        "the {0} {1} no controller that would bring {2} back, so planner does not move {2}"
    ),
    "volume": "the {0} {1} volume claims that hold {2} where they are",
    "localStorage": "the {0} {1} local storage that would be lost",
    "daemonSet": "the {0} belong to a DaemonSet",
    "mirror": "the {0} are static pods of their nodes",
    "systemCritical": "the {0} {1} a system-critical priority",
    "annotation": "the {0} {1} an annotation that asks to leave {2} alone",
    "terminating": "the {0} are terminating already",
    None: "the {0} stay",
}


def _domains(stage: Stage) -> Counting | None:
    """More pods than the domains of a spread constraint can ever hold together.

    A domain ends with no more than it has now, or with what a last landing allowed: the highest
    possible minimum and maxSkew. It holds if all pods that count carry the constraint themselves.
    """
    for rule in stage.rules:
        if not isinstance(rule, SpreadRule) or not rule.self_match or not rule.eligible.any():
            continue
        groups = matching_groups(stage.subject, rule.constraint)
        cluster = stage.subject.cluster
        own = stage.subject.group.spec
        if any(cluster.groups[g].spec != own for g in groups.tolist()):
            continue
        most = stage.most(rule, with_pod=True)
        lowest = stage.lowest(rule, with_pod=True)
        limit = lowest + rule.constraint.max_skew
        ceiling = np.minimum(np.maximum(rule.counts, limit), np.maximum(most, rule.counts))
        holds = int(ceiling[rule.eligible].sum())
        wanted = int(rule.counts[rule.eligible].sum()) + 1
        if wanted > holds:
            return _domain_argument(stage, rule, most, holds, wanted)
    return None


def _domain_argument(
    stage: Stage, rule: SpreadRule, most: IntArray, holds: int, wanted: int
) -> Counting:
    number = int(rule.eligible.sum())
    skew = rule.constraint.max_skew
    who = stage.subject.workload.name if not stage.subject.bare else "matching"
    numbers = {"wanted": wanted, "atMost": holds, "domains": number, "maxSkew": skew}
    if rule.few_domains and holds == number * skew:
        text = (
            f"No rearrangement helps: {number} {rule.key}s x maxSkew {skew} = {holds} {who} pods "
            f"at most, {wanted} wanted."
        )
        return Counting(kind="domains", text=text, numbers=dict(numbers))
    lowest = stage.lowest(rule, with_pod=True)
    least = rule.names_of(rule.eligible & (most == lowest))
    place = conjoined(least[:2])
    if lowest == 0:
        text = (
            f"No rearrangement helps: while {place} stays at 0, no other {rule.key} may go above "
            f"{skew}."
        )
    else:
        text = (
            f"No rearrangement helps: {place} has room for {lowest} at most, so no other "
            f"{rule.key} may go above {lowest + skew}: {holds} {who} pods in all, {wanted} wanted."
        )
    return Counting(kind="domains", text=text, numbers=dict(numbers))


def _apart(stage: Stage) -> Counting | None:
    """More pods that keep out of each other's domain than there are domains."""
    subject = stage.subject
    cluster = subject.cluster
    for rule in stage.rules:
        if not isinstance(rule, AntiAffinityRule) or not rule.to_itself:
            continue
        topology = cluster.topology(rule.terms[0].topology_key)
        same = [g for g in rule.groups if cluster.groups[g].spec == subject.group.spec]
        if len(same) < len(rule.groups) or (topology.domain_of < 0).any():
            continue
        counts = rule.counts
        holds = int(np.maximum(counts, 1).sum())
        wanted = int(counts.sum()) + 1
        if wanted > holds:
            number = len(topology.domains)
            return Counting(
                kind="pigeonhole",
                text=f"No rearrangement helps: wherever the {wanted} pods go, two share a "
                f"{rule.keys}.",
                numbers={"pods": wanted, "domains": number, "atMost": holds, "key": rule.keys},
            )
    return None


def _capacity(stage: Stage) -> Counting | None:
    """Less is free in the whole cluster than the pod asks for."""
    rules: Sequence[CapacityRule] = [r for r in stage.rules if isinstance(r, CapacityRule)]
    for rule in rules:
        for column, name in enumerate(rule.names):
            free = int(np.maximum(rule.free[:, column], 0).sum())
            wanted = int(rule.request[column])
            if free < wanted:
                return Counting(
                    kind="capacity",
                    text=f"No rearrangement helps: {amount_of(name, free)} are free in the whole "
                    f"cluster.",
                    numbers={"free": free, "wanted": wanted},
                )
    return None
