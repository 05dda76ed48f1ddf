"""The pods that a topology spread constraint counts, per domain, as pods come and go.

The scheduler's own counting: `planner.cluster.spread`, which plans are made by, is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.scheduler.framework.changes import Changes, GroupSet
from planner.scheduler.framework.plugin import Change
from planner.scheduler.framework.state import SchedulingState
from planner_models.selectors import LabelSelector
from planner_models.topology_spread import TopologySpreadConstraint

_TOO_FULL = 2**62
_FEW_DOMAINS = 32
"""Up to this many counts are quicker compared one by one."""
_FEW_GROUPS = 4
"""Changes of pods of so many groups are looked up by group."""
_NOWHERE: IntArray = np.empty(0, np.int64)


def nodes_with_keys(state: SchedulingState, keys: frozenset[str]) -> BoolArray:
    """A node takes part only if it has the keys of all constraints."""
    everywhere = np.ones(len(state.cluster.nodes), np.bool_)
    for key in keys:
        everywhere &= state.cluster.topology(key).domain_of >= 0
    return everywhere


def kinds_of(topology: Topology, domains: IntArray, counts: IntArray) -> IntArray:
    """What tells nodes in these domains apart; `counts` has a last place for those in none."""
    return np.where(domains < 0, -1, counts[domains]) if topology.single else domains


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
            nodes = np.logical_and.reduce([nodes_with_keys(state, keys), *honoured])
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


class CountedSpread:
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
        self.eligible, self.domains = eligible.nodes, eligible.domains
        self.selected = _Selected.by(state, constraint.label_selector, group.namespace)
        nodes = state.nodes_of(self.selected.counted.ids, terminating=False)
        self.per_node = self._on_nodes(nodes) if by_node else _NOWHERE
        self._room = self._sum_by_domain(nodes)
        self.per_domain = self._room[:-1]
        self.self_match = int(group.index in self.selected.matched)

    def _on_nodes(self, nodes: IntArray) -> IntArray:
        return np.bincount(nodes, minlength=len(self.topology.domain_of))

    def _sum_by_domain(self, nodes: IntArray) -> IntArray:
        """With a last place for nodes without the label, which is always too full."""
        domains = self.topology.domain_of[nodes[self.eligible[nodes]]]
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

    @property
    def coarse(self) -> bool:
        """Whether there are few domains."""
        return len(self.per_domain) <= _FEW_DOMAINS

    def open_domains(self) -> tuple[int, ...]:
        """The domains that may receive the pod."""
        limit = self.limit()
        return tuple(d for d, count in enumerate(self.per_domain.tolist()) if count <= limit)

    def over_at(self, nodes: IntArray) -> BoolArray:
        """The same of a few nodes."""
        over: BoolArray = self._room[self.topology.domain_of[nodes]] > self.limit()
        return over

    def kinds(self, nodes: IntArray) -> IntArray:
        """Nodes are told apart by their domain; where each has its own, by the pods there."""
        domains = self.topology.domain_of[nodes]
        return kinds_of(self.topology, domains, self._room)

    def add(self, changes: Changes) -> None:
        """Pods came or went."""
        ids = self.selected.counted.ids
        if changes.few is not None or len(ids) <= _FEW_GROUPS:
            self._add_few(changes.of(ids.tolist()) if changes.few is None else changes.few)
            return
        found = self.selected.counted.among(changes.groups)
        if not len(found):
            return
        found = found[~changes.terminating[found]]
        nodes, deltas = changes.nodes[found], changes.deltas[found]
        if len(self.per_node):
            np.add.at(self.per_node, nodes, deltas)
        counts = self.eligible[nodes]
        np.add.at(self.per_domain, self.topology.domain_of[nodes[counts]], deltas[counts])

    def _add_few(self, changes: Sequence[Change]) -> None:
        """The same in plain numbers, which is quicker for the steps of a plan."""
        for group, node, delta, terminating in changes:
            if group in self.selected.counted and not terminating:
                if len(self.per_node):
                    self.per_node[node] += delta
                if self.eligible[node]:
                    self.per_domain[self.topology.domain_of[node]] += delta

    def add_for_preemption(self, change: Change) -> None:
        """A what-if of preemption, where kube-scheduler looks at the selector alone.

        It takes away terminating pods and pods that an empty selector matches, though it never
        counted them.
        """
        if change.group in self.selected.matched and self.eligible[change.node]:
            self.per_domain[self.topology.domain_of[change.node]] += change.delta
