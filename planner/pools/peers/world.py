"""Nodes that come one after the other, and pods put on them: what autoscalers simulate.

Autoscalers add a node, try pods on it, add the next one. A snapshot has fixed nodes; this has rules
of the waiting groups alone, as counts by domain, and grows. What passes is what kube-scheduler's
filters let pass (`World.passes`); tests compare the two. Volumes are left out: who has some is not
compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import hard_constraints
from planner.cluster.topology import IntArray
from planner.pools.room import FreshNodes
from planner.scheduler.plugins.node_ports import conflict
from planner_models.node import HOSTNAME

Kind = Literal["spread", "near", "apart", "inverse"]
NEW_HOST = 1 << 32
"""Hostnames of nodes that were added: a domain each."""


@dataclass(eq=False)
class Counted:
    """Pods of some groups by the domains of a key; domains that exist are there with 0.

    `column` is a node of the snapshot: one that is there, or the example of an offer.
    """

    kind: Kind
    key: str
    groups: frozenset[int]
    domain_of: IntArray
    """By column; -1 where the label is missing."""
    eligible: BoolArray
    """Columns whose pods count."""
    counts: dict[int, int] = field(default_factory=dict)
    _least: int | None = None

    def domain(self, column: int, node: int, old: int) -> int:
        """The domain of a node; added ones have a hostname of their own."""
        domain = int(self.domain_of[column])
        return NEW_HOST + node if self.key == HOSTNAME and node >= old and domain >= 0 else domain

    def add(self, domain: int, by: int) -> None:
        """Count pods that came or went."""
        self.counts[domain] = self.counts.get(domain, 0) + by
        self._least = None

    def open(self, domain: int) -> None:
        """A domain that exists, perhaps without pods."""
        if domain not in self.counts:
            self.counts[domain] = 0
            self._least = None

    @property
    def least(self) -> int:
        """The smallest count of all domains."""
        if self._least is None:
            self._least = min(self.counts.values(), default=0)
        return self._least

    def fork(self) -> Counted:
        """A copy whose counts go their own way."""
        found = copy(self)
        found.counts = dict(self.counts)
        return found


@dataclass(frozen=True)
class SpreadRule:
    """A hard spread constraint of a group; `counted` is an index of the world's counters."""

    counted: int
    max_skew: int
    min_domains: int
    own: int
    """1 if the group's pods count themselves."""


@dataclass(frozen=True)
class GroupRules:
    """What decides about a waiting group."""

    group: int
    requests: tuple[tuple[int, int], ...]
    admitted: BoolArray
    """Columns that its rules about nodes admit."""
    spread: tuple[SpreadRule, ...]
    near: tuple[int, ...]
    may_start: bool
    """Whether its pods satisfy its own affinity, so that the first one needs no other."""
    apart: tuple[int, ...]
    inverse: tuple[int, ...]
    """Counters of those who keep away from it."""
    port_rivals: frozenset[int]


class World:
    """A cluster that grows by nodes of offers."""

    def __init__(self, fresh: FreshNodes, groups: Iterable[int]) -> None:
        cluster = fresh.cluster
        self.fresh, self.old = fresh, len(cluster.nodes)
        self.offers = fresh.nodes
        """The column of each offer."""
        self.columns = list(range(self.old))
        self.gone = {*fresh.nodes, *cluster.ghosts}
        self.free: list[list[int]] = fresh.free.tolist()
        self.pods: list[Counter[int]] = [Counter() for _ in self.columns]
        placed = np.flatnonzero(cluster.node_of >= 0)
        for pod in placed.tolist():
            self.pods[int(cluster.node_of[pod])][int(cluster.group_of[pod])] += 1
        self.counters: list[Counted] = []
        self._indexes: dict[tuple[object, ...], int] = {}
        spread = list(self._spread())
        self.rules = {group: self._rules(group, spread) for group in groups}
        self.affected: dict[int, tuple[int, ...]] = {}
        self._count(cluster.terminating)

    def _spread(self) -> Iterator[tuple[int, SpreadRule]]:
        for each in hard_constraints(self.fresh.cluster):
            constraint, scope = each.constraint, each.scope
            counted = self._counted(
                "spread",
                constraint.topology_key,
                frozenset(each.matching.tolist()),
                scope.eligible,
            )
            for carrier in each.carriers:
                yield (
                    carrier.group,
                    SpreadRule(
                        counted,
                        constraint.max_skew,
                        constraint.min_domains or 1,
                        int(carrier.self_match),
                    ),
                )

    def _rules(self, group: int, spread: Sequence[tuple[int, SpreadRule]]) -> GroupRules:
        cluster = self.fresh.cluster
        record = cluster.groups[group]
        pod = int(cluster.pods_of(np.array([group]))[0])
        affinity = record.spec.affinity
        required, apart = affinity.pod_affinity.required, affinity.pod_anti_affinity.required
        about = [
            frozenset(cluster.groups_about(term, record.namespace).tolist()) for term in required
        ]
        mates = frozenset.intersection(*about) if about else frozenset()
        keys = sorted({term.topology_key for term in required})
        rivals = (
            (term.topology_key, frozenset(cluster.groups_about(term, record.namespace).tolist()))
            for term in apart
        )
        requests = self.fresh.request(pod).tolist()
        ports = record.spec.host_ports
        return GroupRules(
            group,
            tuple((i, amount) for i, amount in enumerate(requests) if amount),
            self.fresh.admitted(pod),
            tuple(rule for carrier, rule in spread if carrier == group),
            tuple(self._counted("near", key, mates) for key in keys),
            group in mates,
            tuple(self._counted("apart", key, groups) for key, groups in rivals),
            tuple(self._inverse(group)),
            frozenset(
                other.index
                for other in cluster.groups
                if any(conflict(a, b) for a in ports for b in other.spec.host_ports)
            ),
        )

    def _inverse(self, group: int) -> Iterator[int]:
        """Counters of the groups whose required anti-affinity is about this one."""
        cluster = self.fresh.cluster
        for other in cluster.groups:
            for term in other.spec.affinity.pod_anti_affinity.required:
                if group in cluster.groups_about(term, other.namespace):
                    yield self._counted("inverse", term.topology_key, frozenset((other.index,)))

    def _counted(
        self, kind: Kind, key: str, groups: frozenset[int], eligible: BoolArray | None = None
    ) -> int:
        """The counter of this meaning; who means the same shares it."""
        mask = np.ones(self.old, np.bool_) if eligible is None else eligible
        meaning = (kind, key, groups, mask.tobytes())
        if meaning not in self._indexes:
            self._indexes[meaning] = len(self.counters)
            topology = self.fresh.cluster.topology(key)
            self.counters.append(Counted(kind, key, groups, topology.domain_of, mask))
        return self._indexes[meaning]

    def _count(self, terminating: BoolArray) -> None:
        """The pods that are there; spread does not count those that are about to go."""
        cluster = self.fresh.cluster
        leaving: list[Counter[int]] = [Counter() for _ in self.columns]
        for pod in np.flatnonzero(terminating & (cluster.node_of >= 0)).tolist():
            leaving[int(cluster.node_of[pod])][int(cluster.group_of[pod])] += 1
        for node in range(self.old):
            if node not in self.gone:
                self._open(node)
                for group, n in self.pods[node].items():
                    for i in self._affected(group):
                        spread = self.counters[i].kind == "spread"
                        self._add(i, node, n - (leaving[node][group] if spread else 0))

    def _affected(self, group: int) -> tuple[int, ...]:
        """The counters in which pods of a group count."""
        if group not in self.affected:
            found = (i for i, each in enumerate(self.counters) if group in each.groups)
            self.affected[group] = tuple(found)
        return self.affected[group]

    def _open(self, node: int) -> None:
        column = self.columns[node]
        for counted in self.counters:
            domain = counted.domain(column, node, self.old)
            if domain >= 0 and counted.eligible[column]:
                counted.open(domain)

    def _add(self, counter: int, node: int, by: int) -> None:
        counted, column = self.counters[counter], self.columns[node]
        domain = counted.domain(column, node, self.old)
        if domain >= 0 and counted.eligible[column]:
            counted.add(domain, by)

    def fork(self) -> World:
        """A copy that goes its own way."""
        found = copy(self)
        found.columns, found.gone = list(self.columns), set(self.gone)
        found.free = [list(each) for each in self.free]
        found.pods = [Counter(each) for each in self.pods]
        found.counters = [each.fork() for each in self.counters]
        return found

    def nodes(self) -> Iterator[int]:
        """The nodes that are there."""
        return (node for node in range(len(self.columns)) if node not in self.gone)

    def add_node(self, offer: int) -> int:
        """A new node of an offer, with the pods of DaemonSets."""
        column, node = self.offers[offer], len(self.columns)
        self.columns.append(column)
        self.free.append(list(self.free[column]))
        self.pods.append(Counter(self.pods[column]))
        self._open(node)
        for group, n in self.pods[column].items():
            for i in self._affected(group):
                self._add(i, node, n)
        return node

    def place(self, group: int, node: int, by: int = 1) -> None:
        """A pod of a waiting group comes to a node, or leaves it."""
        free = self.free[node]
        for i, amount in self.rules[group].requests:
            free[i] -= by * amount
        self.pods[node][group] += by
        for i in self._affected(group):
            self._add(i, node, by)

    def remove_node(self, node: int) -> Counter[int]:
        """Take a node away; the pods of waiting groups that were on it."""
        pods = Counter({g: n for g, n in self.pods[node].items() if n and g in self.rules})
        for group, n in pods.items():
            self.place(group, node, -n)
        self.gone.add(node)
        return pods

    def has_room(self, group: int, node: int) -> bool:
        """Whether resources and ports are free, and the node's labels and taints are right."""
        rules, free = self.rules[group], self.free[node]
        return (
            node not in self.gone
            and bool(rules.admitted[self.columns[node]])
            and all(free[i] >= amount for i, amount in rules.requests)
            and not any(self.pods[node][rival] > 0 for rival in rules.port_rivals)
        )

    def passes(self, group: int, node: int) -> bool:
        """Whether kube-scheduler's filters let a pod of the group onto the node."""
        rules = self.rules[group]
        return (
            self.has_room(group, node)
            and self.spreads(group, node)
            and self._near(rules, node)
            and not any(self._at(i, node) > 0 for i in (*rules.apart, *rules.inverse))
        )

    def spreads(self, group: int, node: int) -> bool:
        """PodTopologySpread: count and own pod, less the minimum, within maxSkew."""
        for rule in self.rules[group].spread:
            counted = self.counters[rule.counted]
            domain = counted.domain(self.columns[node], node, self.old)
            if domain < 0:
                return False
            least = 0 if len(counted.counts) < rule.min_domains else counted.least
            if counted.counts.get(domain, 0) + rule.own - least > rule.max_skew:
                return False
        return True

    def _near(self, rules: GroupRules, node: int) -> bool:
        if not rules.near:
            return True
        starts = rules.may_start and not any(
            any(self.counters[i].counts.values()) for i in rules.near
        )
        return min(self._at(i, node) for i in rules.near) >= (0 if starts else 1)

    def _at(self, counter: int, node: int) -> int:
        """The count in the node's domain; -1 if it lacks the label."""
        counted = self.counters[counter]
        domain = counted.domain(self.columns[node], node, self.old)
        return counted.counts.get(domain, 0) if domain >= 0 else -1
