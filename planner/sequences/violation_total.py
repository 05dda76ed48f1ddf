"""How much running pods break in any state of a search: `planner.replay.violations` over counts.

Each rule looks at few groups, so its part of the total is kept by the counts of these groups alone.
States are those of `planner.sequences.filter_cache`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import NodeRules
from planner.cluster.spread import CountedPods, SpreadConstraint, counted_pods, excess
from planner.cluster.topology import IntArray, Topology
from planner.replay.violations import CORDON_TOLERATED
from planner.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from planner.scheduler.plugins.node_affinity import NodeAffinity
from planner.scheduler.plugins.pod_topology_spread import PodTopologySpread
from planner.scheduler.plugins.taint_toleration import TaintToleration
from planner.scheduler.profile import Profile
from planner.sequences.group_dependencies import GroupDependencies
from planner.solver.problem import Problem

Table = IntArray
"""`table[g, n]`: pods of the g-th group that takes part, on node n."""


class _Rule(Protocol):
    """One rule that running pods may break."""

    groups: frozenset[int]
    """Whose pods it looks at."""

    def broken(self, table: Table) -> int:
        """What it adds to the total."""

    def least(self) -> int:
        """What it adds at least, wherever the pods go."""


class ViolationTotal:
    """What is broken in any state of some groups; all other pods stay as they are.

    `now` is the total of the snapshot: rules that none of the groups can change add what they did.
    """

    def __init__(
        self,
        problem: Problem,
        profile: Profile,
        dependencies: GroupDependencies,
        groups: Sequence[int],
        now: int,
    ) -> None:
        size = len(problem.cluster.nodes)
        start = start_table(problem, groups)
        situation = _Situation(problem, groups, start)
        self._shape = start.shape
        self._constant = now
        self._parts: list[tuple[_Rule, list[slice], dict[bytes, int]]] = []
        self.floor = 0
        """No state has a lower total."""
        for rule in _rules(situation, profile, dependencies):
            rows = [
                slice(i * size, (i + 1) * size) for i, g in enumerate(groups) if g in rule.groups
            ]
            self._parts.append((rule, rows, {}))
            self._constant -= rule.broken(start)
            self.floor += rule.least()
        self.floor += self._constant

    def total(self, counts: bytes) -> int:
        """What running pods break together."""
        found = self._constant
        for rule, rows, known in self._parts:
            key = b"".join([counts[row] for row in rows])
            value = known.get(key)
            if value is None:
                table = np.frombuffer(counts, np.uint8, self._shape[0] * self._shape[1])
                value = known[key] = rule.broken(table.reshape(self._shape).astype(np.int64))
            found += value
        return found


def start_table(problem: Problem, groups: Sequence[int]) -> Table:
    """The movable pods where they are now."""
    table = np.zeros((len(groups), len(problem.cluster.nodes)), np.int64)
    position = {group: i for i, group in enumerate(groups)}
    for (group, node), pods in problem.movable.items():
        if group in position:
            table[position[group], node] = len(pods)
    return table


class _Situation:
    """Who takes part, and everything that does not move."""

    def __init__(self, problem: Problem, groups: Sequence[int], start: Table) -> None:
        self.problem = problem
        self.start = start
        self.position = {group: i for i, group in enumerate(groups)}
        self.counted: CountedPods = counted_pods(problem.cluster)

    def pods_of(self, groups: IntArray) -> _PodsByNode:
        """The pods of these groups, wherever they are."""
        rows = [self.position[group] for group in groups.tolist() if group in self.position]
        size = len(self.problem.cluster.nodes)
        now = np.bincount(self.counted.of(groups), minlength=size)
        return _PodsByNode(rows, now - self.start[rows].sum(axis=0))

    def supply(self, rows: list[int]) -> tuple[int, int]:
        """How many pods of these rows run at least and at most in the end."""
        chosen = {group for group, row in self.position.items() if row in rows}
        waiting = sum(len(pods) for g, pods in self.problem.waiting.items() if g in chosen)
        moving = int(self.start[rows].sum())
        return (0 if self.problem.options.preempt else moving), moving + waiting


class _PodsByNode:
    """How many pods of some groups each node has: those that stay, and those of the table."""

    def __init__(self, rows: list[int], fixed: IntArray) -> None:
        self.rows = rows
        self.fixed = fixed

    def per_node(self, table: Table) -> IntArray:
        """Pods on each node."""
        found: IntArray = self.fixed + table[self.rows].sum(axis=0)
        return found


def _per_domain(per_node: IntArray, topology: Topology, nodes: IntArray) -> IntArray:
    found = np.zeros(len(topology.domains), np.int64)
    np.add.at(found, topology.domain_of[nodes], per_node[nodes])
    return found


class _Spread:
    """Excess of one hard constraint, summed over its domains."""

    def __init__(self, situation: _Situation, spread: SpreadConstraint) -> None:
        self.groups = frozenset(spread.matching.tolist())
        self._situation = situation
        self._spread = spread
        self._pods = situation.pods_of(spread.matching)
        self._nodes = np.flatnonzero(spread.scope.eligible)

    def broken(self, table: Table) -> int:
        counts = _per_domain(self._pods.per_node(table), self._spread.scope.topology, self._nodes)
        return int(excess(counts, self._spread).sum())

    def least(self) -> int:
        scope = self._spread.scope
        fixed = _per_domain(self._pods.fixed, scope.topology, self._nodes)[scope.domains]
        if not len(fixed):
            return 0
        fewest, most = self._situation.supply(self._pods.rows)
        if not scope.eligible.all():
            fewest = 0
        constraint = self._spread.constraint
        if len(fixed) < (constraint.min_domains or 1):
            return excess_above(0, fixed.tolist(), fewest, constraint.max_skew)
        return least_excess(fixed.tolist(), fewest, most, constraint.max_skew)


def least_excess(fixed: Sequence[int], fewest: int, most: int, max_skew: int) -> int:
    """The least excess over domains with fixed counts, when pods are added at will.

    At least `fewest` pods are added; up to `most` can be spent on raising the minimum.
    """
    best: int | None = None
    for low in range(min(fixed), max(fixed) + most + 1):
        if sum(max(0, low - count) for count in fixed) > most:
            break
        found = excess_above(low, fixed, fewest, max_skew)
        best = found if best is None else min(best, found)
    return best or 0


def excess_above(low: int, fixed: Sequence[int], added: int, max_skew: int) -> int:
    """The excess if `low` is the minimum: fixed and added pods without room below low + maxSkew."""
    needed = sum(max(0, low - count) for count in fixed)
    room = sum(max(0, low + max_skew - max(count, low)) for count in fixed)
    return sum(max(0, count - low - max_skew) for count in fixed) + max(0, added - needed - room)


class _AntiAffinity:
    """Pods of a group beside others that their required anti-affinity is about."""

    def __init__(self, situation: _Situation, group: PodGroup, rivals: Sequence[list[int]]) -> None:
        self._carriers = situation.pods_of(np.array([group.index], np.int64))
        self.groups = frozenset((group.index, *chain.from_iterable(rivals)))
        self._terms: list[tuple[Topology, _PodsByNode, int]] = []
        terms = group.spec.affinity.pod_anti_affinity.required
        for term, groups in zip(terms, rivals, strict=True):
            topology = situation.problem.cluster.topology(term.topology_key)
            others = situation.pods_of(np.array(groups, np.int64))
            self._terms.append((topology, others, int(group.index in groups)))

    def broken(self, table: Table) -> int:
        carriers = self._carriers.per_node(table)
        bad = np.zeros(len(carriers), np.bool_)
        for topology, others, itself in self._terms:
            labelled = topology.domain_of >= 0
            rivals = _per_domain(others.per_node(table), topology, np.flatnonzero(labelled))
            bad |= labelled & (np.append(rivals, 0)[topology.domain_of] > itself)
        return int(carriers[bad].sum())

    def least(self) -> int:
        return 0


class _NodeRules:
    """Pods of a group on nodes that its rules about nodes don't admit; once per kind of rule."""

    def __init__(
        self, situation: _Situation, group: PodGroup, rules: NodeRules, enforced: set[str]
    ) -> None:
        self.groups = frozenset((group.index,))
        self._situation = situation
        self._pods = situation.pods_of(np.array([group.index], np.int64))
        self._weights = np.zeros(len(self._pods.fixed), np.int64)
        if NodeAffinity.name in enforced:
            self._weights += ~rules.affinity(group.spec)
        if TaintToleration.name in enforced:
            self._weights += ~rules.taints((*group.spec.tolerations, CORDON_TOLERATED))

    @property
    def matters(self) -> bool:
        """Whether there is any node that the group should not be on."""
        return bool(self._weights.any())

    def broken(self, table: Table) -> int:
        return int(self._pods.per_node(table) @ self._weights)

    def least(self) -> int:
        fewest, _ = self._situation.supply(self._pods.rows)
        return int(self._pods.fixed @ self._weights + fewest * self._weights.min())


def _rules(
    situation: _Situation, profile: Profile, dependencies: GroupDependencies
) -> Iterator[_Rule]:
    """The rules that look at a group that takes part."""
    enforced = {plugin.name for plugin in profile.filters}
    groups, chosen = situation.problem.cluster.groups, situation.position.keys()
    if PodTopologySpread.name in enforced:
        for spread in situation.problem.spreads:
            if not chosen.isdisjoint(spread.matching.tolist()):
                yield _Spread(situation, spread)
    if InterPodAffinity.name in enforced:
        for carrier, terms in dependencies.rivals.items():
            if not chosen.isdisjoint((carrier, *chain.from_iterable(terms))):
                yield _AntiAffinity(situation, groups[carrier], terms)
    node_rules = NodeRules(situation.problem.cluster)
    for group in chosen:
        about_nodes = _NodeRules(situation, groups[group], node_rules, enforced)
        if about_nodes.matters:
            yield about_nodes
