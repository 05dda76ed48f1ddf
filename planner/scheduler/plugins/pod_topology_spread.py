"""PodTopologySpread: keep the pods that a selector matches even over the domains of a topology.

Hard constraints judge the domain that receives the pod:

    count(domain) + self - minimum <= maxSkew

where `self` is 1 if the pod matches its own selector and `minimum` is the smallest count over the
eligible domains, or 0 if there are fewer of them than minDomains. Soft constraints cost points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray, Topology
from planner.scheduler.framework.changes import Changes, GroupSet
from planner.scheduler.framework.default_selector import default_selector
from planner.scheduler.framework.plugin import (
    MAX_NODE_SCORE,
    PASS,
    SKIP,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    Score,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner_models.node import HOSTNAME
from planner_models.scheduler_args import PodTopologySpreadArgs
from planner_models.selectors import LabelSelector, with_match_label_keys
from planner_models.topology_spread import TopologySpreadConstraint, WhenUnsatisfiable

REASON_SKEW = "node(s) didn't match pod topology spread constraints"
REASON_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"

_SKEW, _LABEL = 1, 2
_TOO_FULL = 2**62
_FEW_DOMAINS = 32
"""Up to this many counts are quicker compared one by one."""
_NOWHERE: IntArray = np.empty(0, np.int64)
BoolArray = NDArray[np.bool_]


class PodTopologySpread:
    """`topologySpreadConstraints`, or the profile's defaults for pods without any."""

    name: ClassVar[str] = "PodTopologySpread"

    def __init__(self, args: PodTopologySpreadArgs) -> None:
        self._defaults = args.effective_constraints
        self._system_defaults = args.defaulting_type == "System"

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes whose domain would get too far ahead of the least filled one."""
        constraints = self._constraints(state, group, "DoNotSchedule")
        if not constraints:
            return SKIP
        keys = frozenset(each.topology_key for each in constraints)
        counted = [_Counted(state, group, each, keys) for each in constraints]
        return PreFilterResult(_SpreadFilter(counted))

    def pre_score(self, state: SchedulingState, group: PodGroup) -> _SpreadScore | None:
        """Prefer nodes whose domains have few matching pods.

        The system's own defaults don't ask for all keys, so that nodes without a zone label are
        still spread by hostname.
        """
        constraints = self._constraints(state, group, "ScheduleAnyway")
        if not constraints or not state.cluster.nodes:
            return None
        own = bool(group.spec.topology_spread_constraints)
        asked = own or not self._system_defaults
        keys = frozenset(each.topology_key for each in constraints if asked)
        counted = [
            _Counted(state, group, each, keys, by_node=each.topology_key == HOSTNAME)
            for each in constraints
        ]
        return _SpreadScore(counted, _has_all_keys(state, keys))

    def _constraints(
        self, state: SchedulingState, group: PodGroup, action: WhenUnsatisfiable
    ) -> list[TopologySpreadConstraint]:
        own = group.spec.topology_spread_constraints
        if own:
            return [_with_keys(c, group) for c in own if c.when_unsatisfiable == action]
        defaults = [c for c in self._defaults if c.when_unsatisfiable == action]
        selector = default_selector(state.cluster, group) if defaults else None
        if selector is None:
            return []
        return [c.replace(label_selector=selector) for c in defaults]


def _with_keys(constraint: TopologySpreadConstraint, group: PodGroup) -> TopologySpreadConstraint:
    """matchLabelKeys: also ask for the incoming pod's own values."""
    selector = constraint.label_selector
    if selector is None or not constraint.match_label_keys:
        return constraint
    merged = with_match_label_keys(selector, constraint.match_label_keys, group.labels)
    return constraint.replace(label_selector=merged)


def _has_all_keys(state: SchedulingState, keys: frozenset[str]) -> BoolArray:
    """A node takes part only if it has the keys of all constraints."""
    everywhere = np.ones(len(state.cluster.nodes), np.bool_)
    for key in keys:
        everywhere &= state.cluster.topology(key).domain_of >= 0
    return everywhere


@dataclass(frozen=True, eq=False)
class _Eligible:
    """The nodes that a constraint looks at, and the domains that exist by them."""

    nodes: BoolArray
    domains: IntArray
    honoured: tuple[BoolArray, ...]
    """What they were found by: kept, for they are known by their identity."""

    @classmethod
    def of(
        cls,
        state: SchedulingState,
        group: PodGroup,
        constraint: TopologySpreadConstraint,
        keys: frozenset[str],
    ) -> _Eligible:
        """By nodeAffinityPolicy and nodeTaintsPolicy, and by the keys that a node has to have."""
        rules, honoured = state.node_rules, tuple[BoolArray, ...]()
        if constraint.node_affinity_policy == "Honor":
            honoured = (rules.affinity(group.spec),)
        if constraint.node_taints_policy == "Honor":
            honoured = (*honoured, rules.taints(group.spec.tolerations))
        keys |= {constraint.topology_key}
        topology = state.cluster.topology(constraint.topology_key)

        def found() -> _Eligible:
            nodes = np.logical_and.reduce([_has_all_keys(state, keys), *honoured])
            return cls(nodes, np.unique(topology.domain_of[nodes]), honoured)

        return state.facts.once(("eligible", topology.key, keys, *map(id, honoured)), found)


@dataclass(frozen=True)
class _Selected:
    """Groups that a selector matches, and those that it counts: an empty selector counts none."""

    matched: GroupSet
    counted: GroupSet

    @classmethod
    def by(
        cls, state: SchedulingState, selector: LabelSelector | None, namespace: str
    ) -> _Selected:
        found = state.cluster.group_index.matching(selector, (namespace,))
        matched = GroupSet(found.tolist())
        empty = selector is None or selector.is_empty
        return cls(matched, GroupSet(()) if empty else matched)


class _Counted:
    """One constraint with its matching pods counted per domain, and per node for scores by host.

    Terminating pods are never counted. Domains exist where an eligible node has the label.
    """

    def __init__(
        self,
        state: SchedulingState,
        group: PodGroup,
        constraint: TopologySpreadConstraint,
        keys: frozenset[str],
        *,
        by_node: bool = False,
    ) -> None:
        self.constraint = constraint
        self.topology: Topology = state.cluster.topology(constraint.topology_key)
        eligible = _Eligible.of(state, group, constraint, keys)
        self._eligible, self.domains = eligible.nodes, eligible.domains
        self._selected = _Selected.by(state, constraint.label_selector, group.namespace)
        nodes = state.nodes_of(self._selected.counted.ids, terminating=False)
        self.per_node = self._on_nodes(nodes) if by_node else _NOWHERE
        self._room = self._sum_by_domain(nodes)
        self.per_domain = self._room[:-1]
        self.self_match = int(group.index in self._selected.matched)

    def _on_nodes(self, nodes: IntArray) -> IntArray:
        return np.bincount(nodes, minlength=len(self.topology.domain_of))

    def _sum_by_domain(self, nodes: IntArray) -> IntArray:
        """With a last place for nodes without the label, which is always too full."""
        domains = self.topology.domain_of[nodes[self._eligible[nodes]]]
        total = np.bincount(domains, minlength=len(self.topology.domains) + 1)
        total[-1] = _TOO_FULL
        return total

    def minimum(self) -> int:
        """The smallest count over eligible domains; 0 if there are fewer than minDomains."""
        if len(self.domains) < (self.constraint.min_domains or 1):
            return 0
        everywhere = len(self.domains) == len(self.per_domain)
        counts = self.per_domain if everywhere else self.per_domain[self.domains]
        return min(counts.tolist()) if len(counts) <= _FEW_DOMAINS else int(counts.min())

    def limit(self) -> int:
        """The highest count of a domain that may still receive the pod."""
        return self.constraint.max_skew + self.minimum() - self.self_match

    def over(self) -> BoolArray:
        """The nodes that may not receive the pod: their domain is too full, or they have none."""
        return (self._room > self.limit())[self.topology.domain_of]

    def add(self, changes: Changes) -> None:
        """Pods came or went."""
        if changes.few is not None:
            self._add_few(changes.few)
            return
        found = self._selected.counted.among(changes.groups)
        if not len(found):
            return
        found = found[~changes.terminating[found]]
        nodes, deltas = changes.nodes[found], changes.deltas[found]
        if len(self.per_node):
            np.add.at(self.per_node, nodes, deltas)
        counts = self._eligible[nodes]
        np.add.at(self.per_domain, self.topology.domain_of[nodes[counts]], deltas[counts])

    def _add_few(self, changes: Sequence[Change]) -> None:
        """The same in plain numbers, which is quicker for the steps of a plan."""
        for group, node, delta, terminating in changes:
            if group in self._selected.counted and not terminating:
                if len(self.per_node):
                    self.per_node[node] += delta
                if self._eligible[node]:
                    self.per_domain[self.topology.domain_of[node]] += delta

    def add_for_preemption(self, change: Change) -> None:
        """A what-if of preemption, where kube-scheduler looks at the selector alone.

        It takes away terminating pods and pods that an empty selector matches, though it never
        counted them.
        """
        if change.group in self._selected.matched and self._eligible[change.node]:
            self.per_domain[self.topology.domain_of[change.node]] += change.delta


class _SpreadFilter(Filter):
    def __init__(self, constraints: list[_Counted]) -> None:
        self._constraints = constraints

    def verdicts(self) -> IntArray:
        """The first constraint that refuses a node decides the reason."""
        verdicts: IntArray = np.zeros(1, np.int64)
        for each in reversed(self._constraints):
            reason = np.where(each.topology.domain_of < 0, _LABEL, _SKEW)
            verdicts = np.where(each.over(), reason, verdicts)
        return verdicts

    def refused(self) -> BoolArray:
        """By any constraint."""
        refused = self._constraints[0].over()
        for each in self._constraints[1:]:
            refused |= each.over()
        return refused

    def verdict_at(self, node: int) -> int:
        """The same for one node."""
        for each in self._constraints:
            domain = each.topology.domain_of[node]
            if domain < 0:
                return _LABEL
            if each.per_domain[domain] > each.limit():
                return _SKEW
        return PASS

    def status(self, verdict: int) -> Status:
        """A node without the label can't be helped by preemption."""
        if verdict == _LABEL:
            return Status(PodTopologySpread.name, UNRESOLVABLE, (REASON_LABEL,))
        return Status(PodTopologySpread.name, UNSCHEDULABLE, (REASON_SKEW,))

    def numbers(self, nodes: IntArray) -> Sequence[str]:
        """The topology key, and `count + self - minimum > maxSkew` for the node's domain."""
        texts = [""] * len(nodes)
        for each in reversed(self._constraints):
            domains = each.topology.domain_of[nodes]
            refused = np.flatnonzero(each.over()[nodes] & (domains >= 0))
            limit = f"- {each.minimum()} > {each.constraint.max_skew}"
            landing = each.per_domain[domains[refused]] + each.self_match
            for place, count in zip(refused.tolist(), landing.tolist(), strict=True):
                texts[place] = f"{each.constraint.topology_key}: {count} {limit}"
        return texts

    def apply(self, changes: Changes) -> None:
        """Count along."""
        for each in self._constraints:
            each.add(changes)

    def dry_run(self, change: Change) -> None:
        """Count along as preemption does."""
        for each in self._constraints:
            each.add_for_preemption(change)


class _SpreadScore(Score):
    def __init__(self, constraints: list[_Counted], takes_part: BoolArray) -> None:
        self._constraints = constraints
        self._takes_part = takes_part

    def scores(self, feasible: IntArray) -> IntArray:
        """round(sum of count x ln(domains + 2) + maxSkew - 1); ignored nodes 0."""
        scored = self._takes_part[feasible]
        total = np.zeros(len(feasible))
        for each in self._constraints:
            domain = each.topology.domain_of[feasible]
            if each.constraint.topology_key == HOSTNAME:
                size = int(scored.sum())
                count = each.per_node[feasible]
            else:
                size = len(np.unique(domain[scored]))
                count = each.per_domain[domain] if len(each.per_domain) else np.zeros_like(domain)
            score = count * math.log(size + 2) + (each.constraint.max_skew - 1)
            total += np.where(domain >= 0, score, 0.0)
        rounded = np.trunc(total)
        rounded += total - rounded >= 0.5
        return np.where(scored, rounded, 0).astype(np.int64)

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """100 x (max + min - score) // max; nodes that take no part get 0."""
        scored = self._takes_part[feasible]
        if not scored.any():
            return np.zeros_like(raw)
        highest, lowest = int(raw[scored].max()), int(raw[scored].min())
        if highest == 0:
            return np.where(scored, MAX_NODE_SCORE, 0)
        return np.where(scored, MAX_NODE_SCORE * (highest + lowest - raw) // highest, 0)

    def apply(self, changes: Changes) -> None:
        """Count along."""
        for each in self._constraints:
            each.add(changes)
