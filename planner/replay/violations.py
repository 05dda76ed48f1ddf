"""Hard rules that running pods break where they are.

Rules are IgnoredDuringExecution: such pods may stay, and nothing refuses them. What they add up to
is what a rebalancing plan makes small:

    total = sum over distinct hard spread constraints and eligible domains of
                max(0, count - minimum - maxSkew)
          + pods on a node that their nodeSelector or required node affinity does not match
          + pods on a node with a NoSchedule or NoExecute taint that they don't tolerate
          + pods in a domain with another pod that their required anti-affinity is about

A pod counts once per kind of rule. Terminating pods are leaving: they break nothing and nobody. A
cordon says nothing about pods that run already, and neither does the taint that comes with it.
Constraints that a profile gives to pods without their own are filters, but no aim: not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray, NodeRules
from planner.cluster.spread import (
    SpreadConstraint,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    minimum,
    terminating,
)
from planner.cluster.spread_screen import may_be_broken
from planner.cluster.topology import IntArray, Topology
from planner.rules import BreakableRule, breakable_rules
from planner.scheduler.framework.facts import facts_of
from planner.scheduler.profile import Profile
from planner_models.affinity import PodAffinityTerm
from planner_models.node import HOSTNAME, UNSCHEDULABLE_TAINT
from planner_models.plan import HardRule
from planner_models.pod import PodSpec
from planner_models.taints import Toleration

CORDON_TOLERATED = Toleration(key=UNSCHEDULABLE_TAINT, operator="Exists")
_NONE: IntArray = np.empty(0, np.int64)
_APART = "groups with required anti-affinity"


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """One rule broken in one place: `count` where `allowed` are, by `pods`.

    `group` is the (first) group that has the rule, `index` the number of its spread constraint or
    affinity term.
    """

    rule: HardRule
    group: int
    index: int = 0
    topology_key: str
    domain: str | None
    count: int
    allowed: int = 0
    pods: tuple[int, ...]

    @property
    def excess(self) -> int:
        """What it adds to the sum of all that is broken."""
        return self.count - self.allowed


@dataclass(frozen=True)
class Violation(BrokenRule):
    """A rule that running pods break.

    `domain` is a value of `topology_key`, or a node's name for rules about nodes. `pods` are those
    that are too many together, or that break the rule.
    """

    rule: BreakableRule
    domain: str


def total(found: Iterable[Violation]) -> int:
    """The number that a rebalancing plan makes small."""
    return sum(violation.excess for violation in found)


def violations(cluster: Cluster, profile: Profile) -> tuple[Violation, ...]:
    """Everything that running pods break, of the rules that the profile's filters know."""
    enforced = breakable_rules([plugin.name for plugin in profile.filters])
    running = _Running(cluster)
    return tuple(v for rule, find in _FINDERS.items() if rule in enforced for v in find(running))


class _Running:
    """The running pods that stay, by group."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.counted = counted_pods(cluster)
        pods = np.flatnonzero((cluster.node_of >= 0) & ~terminating(cluster))
        self._pods = pods[np.argsort(cluster.group_of[pods], kind="stable")]

    def of(self, group: int) -> tuple[IntArray, IntArray]:
        """The pods of a group and their nodes."""
        part = slice(self.counted.first[group], self.counted.first[group + 1])
        return self._pods[part], self.counted.nodes[part]

    def per_domain(self, groups: IntArray, topology: Topology) -> IntArray:
        """Pods of these groups in each domain, and in the last place those without one."""
        domains = topology.domain_of[self.counted.of(groups)]
        return np.bincount(
            domains % (len(topology.domains) + 1), minlength=len(topology.domains) + 1
        )

    def in_domain(self, spread: SpreadConstraint, domain: int) -> tuple[int, ...]:
        """The pods that a constraint counts in a domain, in order."""
        inside = spread.scope.eligible & (spread.scope.topology.domain_of == domain)
        found = [pods[inside[nodes]] for pods, nodes in map(self.of, spread.matching.tolist())]
        return tuple(np.sort(np.concatenate((_NONE, *found))).tolist())


def _too_many(running: _Running) -> Iterator[Violation]:
    """Domains above minimum + maxSkew."""
    constraints = hard_constraints(running.cluster)
    for spread in may_be_broken(running.cluster, running.counted, constraints):
        counts = domain_counts(running.counted, spread)
        allowed = minimum(counts, spread) + spread.constraint.max_skew
        if int(counts.max(initial=0)) <= allowed:
            continue
        carrier = spread.carriers[0]
        for domain in np.flatnonzero(excess(counts, spread)).tolist():
            yield Violation(
                rule="topologySpread",
                group=carrier.group,
                index=carrier.index,
                topology_key=spread.constraint.topology_key,
                domain=spread.scope.topology.domains[domain],
                count=int(counts[domain]),
                allowed=allowed,
                pods=running.in_domain(spread, domain),
            )


def _on_unmatched_nodes(running: _Running) -> Iterator[Violation]:
    return _off_limits(running, "nodeAffinity", lambda rules, spec: rules.affinity(spec))


def _on_tainted_nodes(running: _Running) -> Iterator[Violation]:
    return _off_limits(
        running, "taints", lambda rules, spec: rules.taints((*spec.tolerations, CORDON_TOLERATED))
    )


def _off_limits(
    running: _Running, rule: BreakableRule, admitted: Callable[[NodeRules, PodSpec], BoolArray]
) -> Iterator[Violation]:
    """Pods on nodes that a rule about nodes does not admit."""
    cluster = running.cluster
    key = ("off limits", rule.encode())
    if key not in cluster.memo:
        cluster.memo[key] = _limited(cluster, admitted)
    limited: list[tuple[int, BoolArray]] = cluster.memo[key]
    for group, nodes_in in limited:
        pods, nodes = running.of(group)
        broken = ~nodes_in[nodes]
        if broken.any():
            yield from _by_node(cluster, rule, group, pods[broken], nodes[broken])


def _limited(
    cluster: Cluster, admitted: Callable[[NodeRules, PodSpec], BoolArray]
) -> list[tuple[int, BoolArray]]:
    """Groups for which the rule does not admit all nodes, with those that it does."""
    rules, everywhere = facts_of(cluster).node_rules, dict[int, bool]()
    found: list[tuple[int, BoolArray]] = []
    for group in cluster.groups:
        nodes_in = admitted(rules, group.spec)
        if id(nodes_in) not in everywhere:
            everywhere[id(nodes_in)] = bool(nodes_in.all())
        if not everywhere[id(nodes_in)]:
            found.append((group.index, nodes_in))
    return found


def _by_node(
    cluster: Cluster, rule: BreakableRule, group: int, pods: IntArray, nodes: IntArray
) -> Iterator[Violation]:
    for node in np.unique(nodes).tolist():
        there = tuple(sorted(pods[nodes == node].tolist()))
        yield Violation(
            rule=rule,
            group=group,
            topology_key=HOSTNAME,
            domain=cluster.nodes[node].name,
            count=len(there),
            pods=there,
        )


def _too_close(running: _Running) -> Iterator[Violation]:
    """Pods beside others that their required anti-affinity is about; the first such term counts."""
    memo = running.cluster.group_memo
    if _APART not in memo:
        groups = running.cluster.groups
        memo[_APART] = [g for g in groups if g.spec.affinity.pod_anti_affinity.required]
    apart: list[PodGroup] = memo[_APART]
    for group in apart:
        terms = group.spec.affinity.pod_anti_affinity.required
        pods, nodes = running.of(group.index)
        for index, term in enumerate(terms):
            topology = running.cluster.topology(term.topology_key)
            domains = topology.domain_of[nodes]
            others = _rivals(running, group, term, topology)
            broken = (domains >= 0) & (others[domains] > 0)
            for domain in np.unique(domains[broken]).tolist():
                there = tuple(sorted(pods[domains == domain].tolist()))
                yield Violation(
                    rule="podAntiAffinity",
                    group=group.index,
                    index=index,
                    topology_key=term.topology_key,
                    domain=topology.domains[domain],
                    count=len(there),
                    pods=there,
                )
            pods, nodes = pods[~broken], nodes[~broken]


def _rivals(
    running: _Running, group: PodGroup, term: PodAffinityTerm, topology: Topology
) -> IntArray:
    """How many pods a pod of the group has against it in each domain, itself not counted."""
    matching = running.cluster.groups_about(term, group.namespace)
    itself = int(group.index in matching)
    return running.per_domain(matching, topology) - itself


_FINDERS: Mapping[BreakableRule, Callable[[_Running], Iterator[Violation]]] = {
    "topologySpread": _too_many,
    "nodeAffinity": _on_unmatched_nodes,
    "taints": _on_tainted_nodes,
    "podAntiAffinity": _too_close,
}
"""In the order in which violations are listed."""
