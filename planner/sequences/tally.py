"""The total of `planner.replay.violations` over counts, for a search that asks it of many states.

Each rule looks at few groups, so its part of the total is kept by the counts of these groups alone.
States are those of `planner.sequences.arena`.
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
from planner.rules import breakable_rules
from planner.scheduler.profile import Profile
from planner.sequences.relevance import Relevance
from planner.solver.problem import Problem
from planner_models.diagnosis import RuleKind

Table = IntArray
"""`table[g, n]`: pods of the g-th group that takes part, on node n."""


class Rule(Protocol):
    """One rule that running pods may break."""

    groups: frozenset[int]
    """Whose pods it looks at."""

    def broken(self, table: Table) -> int:
        """What it adds to the total."""

    def least(self) -> int:
        """What it adds at least, wherever the pods go."""


class Tally:
    """Violations of any state of some groups; all other pods stay as they are.

    `now` is the total of the snapshot: rules that none of the groups can change add what they did.
    """

    def __init__(
        self,
        problem: Problem,
        profile: Profile,
        relevance: Relevance,
        groups: Sequence[int],
        now: int,
    ) -> None:
        size = len(problem.cluster.nodes)
        start = start_table(problem, groups)
        field = _Field(problem, groups, start)
        self._shape = start.shape
        self._constant = now
        self._parts: list[tuple[Rule, list[slice], dict[bytes, int]]] = []
        self.floor = 0
        """No state has a lower total."""
        for rule in _rules(field, profile, relevance):
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


class _Field:
    """Who takes part, and everything that does not move."""

    def __init__(self, problem: Problem, groups: Sequence[int], start: Table) -> None:
        self.problem = problem
        self.start = start
        self.position = {group: i for i, group in enumerate(groups)}
        self.counted: CountedPods = counted_pods(problem.cluster)

    def crowd(self, groups: IntArray) -> _Crowd:
        """The pods of these groups, wherever they are."""
        rows = [self.position[group] for group in groups.tolist() if group in self.position]
        size = len(self.problem.cluster.nodes)
        now = np.bincount(self.counted.of(groups), minlength=size)
        return _Crowd(rows, now - self.start[rows].sum(axis=0))

    def supply(self, rows: list[int]) -> tuple[int, int]:
        """How many pods of these rows run at least and at most in the end."""
        chosen = {group for group, row in self.position.items() if row in rows}
        waiting = sum(len(pods) for g, pods in self.problem.waiting.items() if g in chosen)
        moving = int(self.start[rows].sum())
        return (0 if self.problem.options.preempt else moving), moving + waiting


class _Crowd:
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

    def __init__(self, field: _Field, spread: SpreadConstraint) -> None:
        self.groups = frozenset(spread.matching.tolist())
        self._field = field
        self._spread = spread
        self._crowd = field.crowd(spread.matching)
        self._nodes = np.flatnonzero(spread.scope.eligible)

    def broken(self, table: Table) -> int:
        counts = _per_domain(self._crowd.per_node(table), self._spread.scope.topology, self._nodes)
        return int(excess(counts, self._spread).sum())

    def least(self) -> int:
        scope = self._spread.scope
        fixed = _per_domain(self._crowd.fixed, scope.topology, self._nodes)[scope.domains]
        if not len(fixed):
            return 0
        fewest, most = self._field.supply(self._crowd.rows)
        if not scope.eligible.all():
            fewest = 0
        constraint = self._spread.constraint
        if self._spread.too_few_domains:
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

    def __init__(self, field: _Field, group: PodGroup, rivals: Sequence[list[int]]) -> None:
        self._carriers = field.crowd(np.array([group.index], np.int64))
        self.groups = frozenset((group.index, *chain.from_iterable(rivals)))
        self._terms: list[tuple[Topology, _Crowd, int]] = []
        terms = group.spec.affinity.pod_anti_affinity.required
        for term, others in zip(terms, rivals, strict=True):
            topology = field.problem.cluster.topology(term.topology_key)
            crowd = field.crowd(np.array(others, np.int64))
            self._terms.append((topology, crowd, int(group.index in others)))

    def broken(self, table: Table) -> int:
        carriers = self._carriers.per_node(table)
        bad = np.zeros(len(carriers), np.bool_)
        for topology, crowd, itself in self._terms:
            labelled = topology.domain_of >= 0
            rivals = _per_domain(crowd.per_node(table), topology, np.flatnonzero(labelled))
            bad |= labelled & (np.append(rivals, 0)[topology.domain_of] > itself)
        return int(carriers[bad].sum())

    def least(self) -> int:
        return 0


class _NodeRules:
    """Pods of a group on nodes that its rules about nodes don't admit; once per kind of rule."""

    def __init__(
        self, field: _Field, group: PodGroup, rules: NodeRules, enforced: frozenset[RuleKind]
    ) -> None:
        self.groups = frozenset((group.index,))
        self._field = field
        self._crowd = field.crowd(np.array([group.index], np.int64))
        self._weights = np.zeros(len(self._crowd.fixed), np.int64)
        if "nodeAffinity" in enforced:
            self._weights += ~rules.affinity(group.spec)
        if "taints" in enforced:
            self._weights += ~rules.taints((*group.spec.tolerations, CORDON_TOLERATED))

    @property
    def matters(self) -> bool:
        """Whether there is any node that the group should not be on."""
        return bool(self._weights.any())

    def broken(self, table: Table) -> int:
        return int(self._crowd.per_node(table) @ self._weights)

    def least(self) -> int:
        fewest, _ = self._field.supply(self._crowd.rows)
        return int(self._crowd.fixed @ self._weights + fewest * self._weights.min())


def _rules(field: _Field, profile: Profile, relevance: Relevance) -> Iterator[Rule]:
    """The rules that look at a group that takes part."""
    enforced = breakable_rules(plugin.name for plugin in profile.filters)
    groups, chosen = field.problem.cluster.groups, field.position.keys()
    if "topologySpread" in enforced:
        for spread in field.problem.spreads:
            if not chosen.isdisjoint(spread.matching.tolist()):
                yield _Spread(field, spread)
    if "podAntiAffinity" in enforced:
        for carrier, terms in relevance.rivals.items():
            if not chosen.isdisjoint((carrier, *chain.from_iterable(terms))):
                yield _AntiAffinity(field, groups[carrier], terms)
    node_rules = NodeRules(field.problem.cluster)
    for group in chosen:
        about_nodes = _NodeRules(field, groups[group], node_rules, enforced)
        if about_nodes.matters:
            yield about_nodes
