"""PodTopologySpread's counting rule: which nodes take part, which pods count, what is too much.

    skew(domain)   = count(domain) - minimum
    excess(domain) = max(0, skew(domain) - maxSkew)

A cluster in which no domain of any hard constraint has excess is called steady. The minimum is the
smallest count over eligible domains, and 0 if there are fewer of them than minDomains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.matching import GroupIndex
from planner.cluster.node_rules import BoolArray, node_rules_of
from planner.cluster.snapshot import PENDING, Cluster
from planner.cluster.topology import IntArray, Topology
from planner_models.node import ZONE
from planner_models.selectors import LabelSelector, with_match_label_keys
from planner_models.topology_spread import TopologySpreadConstraint

_NONE: IntArray = np.empty(0, np.int64)
_NONE.flags.writeable = False


@dataclass(frozen=True)
class Carrier:
    """A group whose pods have the constraint as `spec.topologySpreadConstraints[index]`.

    `self_match` says whether they count for it themselves, which decides if landing adds one.
    """

    group: int
    index: int
    self_match: bool


@dataclass(frozen=True, eq=False)
class Scope:
    """The nodes that take part in a constraint, seen as domains; shared by all that agree in it."""

    topology: Topology
    eligible: BoolArray

    @cached_property
    def domains(self) -> BoolArray:
        """`domains[d]`: whether some eligible node is in domain d, with or without pods."""
        found = np.zeros(len(self.topology.domains), np.bool_)
        found[self.topology.domain_of[self.eligible]] = True
        return found


@dataclass(frozen=True, eq=False)
class SpreadConstraint:
    """One hard constraint as it is meant, with every group that has it.

    `matching` are the groups whose pods count. Nothing here depends on where pods run, so a
    constraint serves every placement of the same pods.
    """

    constraint: TopologySpreadConstraint
    carriers: tuple[Carrier, ...]
    scope: Scope
    matching: IntArray

    @cached_property
    def too_few_domains(self) -> bool:
        """Whether fewer domains take part than minDomains asks for."""
        return too_few_domains(self.constraint, int(self.scope.domains.sum()))


@dataclass(frozen=True, eq=False)
class CountedPods:
    """Nodes of the running pods that are not terminating, sorted by group.

    The pods of group g are on `nodes[first[g]:first[g + 1]]`.
    """

    nodes: IntArray
    first: IntArray

    def of(self, groups: IntArray) -> IntArray:
        """The node of each counted pod of these groups."""
        if len(groups) == 1:
            return self.nodes[self.first[groups[0]] : self.first[groups[0] + 1]]
        parts = [self.nodes[self.first[g] : self.first[g + 1]] for g in groups]
        return np.concatenate(parts) if parts else _NONE


def counted_pods(cluster: Cluster) -> CountedPods:
    """The pods that spread counts; kube-scheduler bypasses terminating ones (issue 87621)."""
    pods = np.flatnonzero((cluster.node_of >= 0) & ~terminating(cluster))
    groups = cluster.group_of[pods]
    order = np.argsort(groups, kind="stable")
    first = np.searchsorted(groups[order], np.arange(len(cluster.groups) + 1))
    return CountedPods(cluster.node_of[pods[order]], first)


def nodes_counted_for(cluster: Cluster, spread: SpreadConstraint) -> IntArray:
    """The node of each pod that one constraint counts, for whoever asks about few of them."""
    pods = cluster.pods_of(spread.matching)
    pods = pods[~terminating(cluster)[pods]]
    nodes = cluster.node_of[pods]
    return nodes[nodes >= 0]


def terminating(cluster: Cluster) -> BoolArray:
    """Which pods have a deletionTimestamp."""
    return cluster.terminating


def hard_constraints_of(cluster: Cluster, groups: IntArray) -> tuple[SpreadConstraint, ...]:
    """The distinct hard constraints of these groups, whoever else has the same."""
    key = ("hard_constraints_of", groups.tobytes())
    if key not in cluster.memo:
        cluster.memo[key] = _hard_constraints(cluster, groups)
    found: tuple[SpreadConstraint, ...] = cluster.memo[key]
    return found


def hard_constraints(cluster: Cluster) -> tuple[SpreadConstraint, ...]:
    """The distinct hard constraints of all pods that run here or wait, in order of their groups.

    Constraints of several groups are one if they mean the same: same namespace, topology key,
    selector (with matchLabelKeys), maxSkew, minDomains, policies and eligible nodes. They are found
    once for all placements of the same pods.
    """
    live = _live_groups(cluster)
    key = ("hard_constraints", live.tobytes())
    if key not in cluster.memo:
        cluster.memo[key] = _hard_constraints(cluster, live)
    found: tuple[SpreadConstraint, ...] = cluster.memo[key]
    return found


def _hard_constraints(cluster: Cluster, live: IntArray) -> tuple[SpreadConstraint, ...]:
    index, scopes = cluster.group_index, _Scopes(cluster)
    first: dict[tuple[object, ...], tuple[TopologySpreadConstraint, Scope, IntArray]] = {}
    carriers: dict[tuple[object, ...], list[Carrier]] = {}
    for group in (cluster.groups[g] for g in live.tolist()):
        for i, constraint in _hard(group):
            selector = effective_selector(constraint, group)
            scope = scopes.of(group, constraint)
            key = _meaning(group.namespace, constraint, selector, scope)
            if key not in first:
                first[key] = constraint, scope, _matching(index, group.namespace, selector)
            matches = selector is not None and selector.matches(group.labels)
            carriers.setdefault(key, []).append(Carrier(group.index, i, matches))
    return tuple(
        SpreadConstraint(constraint, tuple(carriers[key]), scope, matching)
        for key, (constraint, scope, matching) in first.items()
    )


def effective_selector(
    constraint: TopologySpreadConstraint, group: PodGroup
) -> LabelSelector | None:
    """The selector with the values of matchLabelKeys in the group's own labels."""
    selector = constraint.label_selector
    if selector is None or not constraint.match_label_keys:
        return selector
    return with_match_label_keys(selector, constraint.match_label_keys, group.labels)


def domain_counts(pods: CountedPods, spread: SpreadConstraint) -> IntArray:
    """Matching pods on eligible nodes, for each domain of the topology."""
    return counts_by_domain(pods.of(spread.matching), spread)


def counts_by_domain(nodes: IntArray, spread: SpreadConstraint) -> IntArray:
    """The same of pods on these nodes."""
    topology = spread.scope.topology
    nodes = nodes[spread.scope.eligible[nodes]]
    return np.bincount(topology.domain_of[nodes], minlength=len(topology.domains))


def too_few_domains(constraint: TopologySpreadConstraint, domains: int) -> bool:
    """minDomains: with fewer eligible domains than that, the minimum is 0 whatever the counts."""
    return domains < (constraint.min_domains or 1)


def minimum(counts: IntArray, spread: SpreadConstraint) -> int:
    """What skew is measured from: the smallest count, 0 below minDomains."""
    return 0 if spread.too_few_domains else int(counts[spread.scope.domains].min())


def excess(counts: IntArray, spread: SpreadConstraint) -> IntArray:
    """max(0, count - minimum - maxSkew) for each domain; 0 for those that don't take part."""
    above = counts - minimum(counts, spread) - spread.constraint.max_skew
    return np.where(spread.scope.domains, np.maximum(above, 0), 0)


def counted_key(cluster: Cluster) -> str | None:
    """The key by whose domains pods are counted where one has to be chosen.

    That is the zone label; without it the key that most pods spread over by a hard rule, if any.
    """
    if any(ZONE in node.labels for node in cluster.nodes):
        return ZONE
    keys = Counter(each.topology_key for group in cluster.groups for _, each in _hard(group))
    return min(keys, key=lambda key: (-keys[key], key), default=None)


def _live_groups(cluster: Cluster) -> IntArray:
    """Groups with a pod that runs here or waits, and stays; the others have nothing to spread."""
    live = (cluster.node_of >= PENDING) & ~terminating(cluster)
    counts = np.bincount(cluster.group_of[live], minlength=len(cluster.groups))
    return np.flatnonzero(counts)


def _hard(group: PodGroup) -> Iterator[tuple[int, TopologySpreadConstraint]]:
    for i, constraint in enumerate(group.spec.topology_spread_constraints):
        if constraint.hard:
            yield i, constraint


def _matching(index: GroupIndex, namespace: str, selector: LabelSelector | None) -> IntArray:
    """An absent selector matches nothing; an empty one counts no existing pod either.

    The second is kube-scheduler's way: it takes an empty selector for "nothing to count".
    """
    if selector is None or selector.is_empty:
        return _NONE
    return index.matching(selector, (namespace,))


def _meaning(
    namespace: str,
    constraint: TopologySpreadConstraint,
    selector: LabelSelector | None,
    scope: Scope,
) -> tuple[object, ...]:
    return (
        namespace,
        None if selector is None else selector.canonical(),
        constraint.max_skew,
        constraint.min_domains or 1,
        constraint.node_affinity_policy,
        constraint.node_taints_policy,
        id(scope),
    )


class _Scopes:
    """Scopes by topology key and eligible nodes: equal ones are one object."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._rules = node_rules_of(cluster)
        self._by_rule: dict[tuple[object, ...], Scope] = {}
        self._by_nodes: dict[tuple[str, bytes], Scope] = {}

    def of(self, group: PodGroup, constraint: TopologySpreadConstraint) -> Scope:
        """Nodes with the keys of all hard constraints of the pod that the policies admit."""
        admitting: list[BoolArray] = []
        if constraint.node_affinity_policy == "Honor":
            admitting.append(self._rules.affinity(group.spec))
        if constraint.node_taints_policy == "Honor":
            admitting.append(self._rules.taints(group.spec.tolerations))
        keys = frozenset(each.topology_key for _, each in _hard(group))
        rule = (constraint.topology_key, keys, *map(id, admitting))
        found = self._by_rule.get(rule)
        if found is None:
            labelled = (self._rules.labelled(key) for key in keys)
            eligible = np.logical_and.reduce([*labelled, *admitting])
            found = self._by_rule[rule] = self._shared(constraint.topology_key, eligible)
        return found

    def _shared(self, key: str, eligible: BoolArray) -> Scope:
        eligible.flags.writeable = False
        scope = Scope(self._cluster.topology(key), eligible)
        return self._by_nodes.setdefault((key, eligible.tobytes()), scope)
