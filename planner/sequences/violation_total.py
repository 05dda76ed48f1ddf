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
from planner.cluster.node_rules import NodeRules, node_rules_of
from planner.cluster.spread import SpreadConstraint, counted_pods, excess
from planner.cluster.topology import IntArray, Topology
from planner.replay.violations import CORDON_TOLERATED
from planner.rules import breakable_rules
from planner.scheduler.profile import Profile
from planner.sequences.group_dependencies import GroupDependencies
from planner.solver.problem.problem import Problem
from planner_models.diagnosis import RuleKind

Table = IntArray
"""`table[g, n]`: pods of the g-th group that takes part, on node n."""


class _Rule(Protocol):
    """One rule that running pods may break."""

    groups: frozenset[int]
    """Whose pods it looks at."""

    def broken(self, table: Table) -> int:
        """What it adds to the total."""


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
        self._shape = start.shape
        self._constant = now
        self._parts: list[tuple[_Rule, list[slice], dict[bytes, int]]] = []
        for rule in _rules(_Everyone(problem, groups, start), profile, dependencies):
            rows = [
                slice(i * size, (i + 1) * size) for i, g in enumerate(groups) if g in rule.groups
            ]
            self._parts.append((rule, rows, {}))
            self._constant -= rule.broken(start)

    def of(self, counts: bytes) -> int:
        """The total of a state."""
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


class _Everyone:
    """All pods: those that the tables are about, which start in one of them, and all others."""

    def __init__(self, problem: Problem, groups: Sequence[int], start: Table) -> None:
        self.problem = problem
        self.position = {group: i for i, group in enumerate(groups)}
        self._start = start
        self._counted = counted_pods(problem.cluster)

    def of(self, *groups: int) -> _PodsOf:
        """The pods of these groups."""
        rows = [self.position[group] for group in groups if group in self.position]
        nodes = self._counted.of(np.array(groups, np.int64))
        now = np.bincount(nodes, minlength=self._start.shape[1])
        return _PodsOf(rows, now - self._start[rows].sum(axis=0))


class _PodsOf:
    """The pods of some groups on each node: those that stay, and those of the table."""

    def __init__(self, rows: list[int], staying: IntArray) -> None:
        self._rows = rows
        self.staying = staying

    def per_node(self, table: Table) -> IntArray:
        found: IntArray = self.staying + table[self._rows].sum(axis=0)
        return found

    def per_domain(self, table: Table, topology: Topology, nodes: IntArray) -> IntArray:
        """Counted over these nodes only."""
        found = np.zeros(len(topology.domains), np.int64)
        np.add.at(found, topology.domain_of[nodes], self.per_node(table)[nodes])
        return found


class _Spread:
    """Excess of one hard constraint, summed over its domains."""

    def __init__(self, everyone: _Everyone, spread: SpreadConstraint) -> None:
        matching: list[int] = spread.matching.tolist()
        self.groups = frozenset(matching)
        self._spread = spread
        self._pods = everyone.of(*matching)
        self._nodes = np.flatnonzero(spread.scope.eligible)

    def broken(self, table: Table) -> int:
        counts = self._pods.per_domain(table, self._spread.scope.topology, self._nodes)
        return int(excess(counts, self._spread).sum())


class _AntiAffinity:
    """Pods of a group beside others that their required anti-affinity is about."""

    def __init__(self, everyone: _Everyone, group: PodGroup, rivals: Sequence[list[int]]) -> None:
        self.groups = frozenset((group.index, *chain.from_iterable(rivals)))
        self._carriers = everyone.of(group.index)
        terms = group.spec.affinity.pod_anti_affinity.required
        topology = everyone.problem.cluster.topology
        self._terms = [
            (topology(term.topology_key), everyone.of(*others), int(group.index in others))
            for term, others in zip(terms, rivals, strict=True)
        ]

    def broken(self, table: Table) -> int:
        carriers = self._carriers.per_node(table)
        bad = np.zeros(len(carriers), np.bool_)
        for topology, pods, itself in self._terms:
            labelled = topology.domain_of >= 0
            rivals = pods.per_domain(table, topology, np.flatnonzero(labelled))
            bad |= labelled & (np.append(rivals, 0)[topology.domain_of] > itself)
        return int(carriers[bad].sum())


class _NodeRules:
    """Pods of a group on nodes that its rules about nodes don't admit; once per kind of rule."""

    def __init__(
        self, everyone: _Everyone, group: PodGroup, rules: NodeRules, enforced: frozenset[RuleKind]
    ) -> None:
        self.groups = frozenset((group.index,))
        self._pods = everyone.of(group.index)
        self._weights = np.zeros(len(self._pods.staying), np.int64)
        if "nodeAffinity" in enforced:
            self._weights += ~rules.affinity(group.spec)
        if "taints" in enforced:
            self._weights += ~rules.taints((*group.spec.tolerations, CORDON_TOLERATED))

    @property
    def matters(self) -> bool:
        """Whether there is any node that the group should not be on."""
        return bool(self._weights.any())

    def broken(self, table: Table) -> int:
        return int(self._pods.per_node(table) @ self._weights)


def _rules(
    everyone: _Everyone, profile: Profile, dependencies: GroupDependencies
) -> Iterator[_Rule]:
    """The rules that look at a group that takes part."""
    enforced = breakable_rules(plugin.name for plugin in profile.filters)
    groups, chosen = everyone.problem.cluster.groups, everyone.position.keys()
    if "topologySpread" in enforced:
        for spread in everyone.problem.spreads:
            if not chosen.isdisjoint(spread.matching.tolist()):
                yield _Spread(everyone, spread)
    if "podAntiAffinity" in enforced:
        for carrier, terms in dependencies.rivals.items():
            if not chosen.isdisjoint((carrier, *chain.from_iterable(terms))):
                yield _AntiAffinity(everyone, groups[carrier], terms)
    node_rules = node_rules_of(everyone.problem.cluster)
    for group in chosen:
        about_nodes = _NodeRules(everyone, groups[group], node_rules, enforced)
        if about_nodes.matters:
            yield about_nodes
