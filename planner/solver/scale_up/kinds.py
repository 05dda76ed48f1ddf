"""The places of a question, choice by choice: rows over domains, and kinds of nodes.

    minimum <= count(d)                          for each domain that is there in any case
    landings(D) <= max(0, minimum + maxSkew - fixed(D))

The second is not linear where D has too many already. With a minimum of at most H it is replaced by
the line above it, H x landings(D) <= (H + maxSkew - fixed(D)) x minimum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from planner.cluster.spread import SpreadConstraint
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.problem.inter_pod_affinity import apart
from planner.solver.scale_up.node_caps import NodeCaps
from planner.solver.scale_up.places import Choice, Domain, Hosts, NodeRow, Places, Row
from planner.solver.scale_up.question import NodeQuestion
from planner_models.node import HOSTNAME

MOST_NEW = 2
"""New domains up to which each choice of them is looked at; rows of more are left out."""
SURE = 1e-6


class Kinds:
    """All nodes that can take a pod, by kind."""

    def __init__(self, question: NodeQuestion) -> None:
        self._question = question
        self._problem = question.problem
        self._caps = caps = NodeCaps(question)
        self._groups, self._most, self._new = caps.groups, caps.most, caps.new
        self._demand = [question.goal.get(g, 0) for g in self._groups]

    def choices(self) -> list[Choice]:
        """Every choice of new domains, with any number of nodes.

        Where nodes come in batches pods may have landed before a new domain was there, or a host.
        Whatever is known of the domains that are there from the start holds in any case: their
        smallest count only grows.
        """
        if self._question.in_batches:
            return [Choice()]
        new = self._new_domains()
        hosts = tuple(Hosts(offers) for offers in self._caps.host_sets())
        if len(new) > MOST_NEW:
            return [Choice(hosts=hosts)]
        subsets = [[d for i, d in enumerate(new) if bits >> i & 1] for bits in range(1 << len(new))]
        return [
            Choice(tuple(each), tuple(d for d in new if d not in each), hosts) for each in subsets
        ]

    def _new_domains(self) -> list[Domain]:
        """Domains that a spread rule counts only once a node of an offer is there."""
        found: set[Domain] = set()
        for constraint in self._caps.spreads:
            key = constraint.scope.topology.key
            _, domain_of = self._caps.counts(constraint)
            if key != HOSTNAME:
                known = set(domain_of[~self._new].tolist())
                found |= {(key, d) for d in domain_of[self._new].tolist() if d not in known}
        return sorted(each for each in found if each[1] != NO_DOMAIN)

    def parted(self, choice: Choice, nodes: Sequence[float]) -> list[Choice]:
        """The choice in two, if with so many nodes of each offer a tighter cap is at hand.

        With as many hosts as that fewer pods may be on one of them; with fewer hosts there are not
        so many nodes.
        """
        for hosts in choice.hosts:
            used = ceil(sum(nodes[i] for i in hosts.offers) - SURE)
            most = used if hosts.most is None else min(used, hosts.most)
            number = self._caps.more_hosts(hosts, most)
            if number is not None:
                halves = replace(hosts, most=number - 1), replace(hosts, least=number)
                return [
                    replace(choice, hosts=tuple(half if h is hosts else h for h in choice.hosts))
                    for half in halves
                ]
        return []

    def places(self, choice: Choice) -> Places:
        """The places of a choice."""
        offers, caps = self._question.offers, self._caps
        cap = caps.cap(choice.hosts)
        first = [offer.nodes[0] for offer in offers]
        kinds = self._classes(cap)
        nodes = np.array([*first, *(alike[0] for alike in kinds)], np.int64)
        cost = [offer.cost for offer in offers] + [0] * len(kinds)
        most: list[int | None] = [offer.most for offer in offers]
        most += [len(alike) for alike in kinds]
        for key, domain in choice.closed:
            inside = self._problem.cluster.topology(key).domain_of[first] == domain
            most = [0 if i < len(first) and inside[i] else n for i, n in enumerate(most)]
        extra: list[int] = []
        rows = [*self._demanded(len(nodes)), *self._domain_rows(nodes, set(choice.opened), extra)]
        return Places(
            groups=tuple(self._groups),
            request=caps.request,
            cost=np.array(cost, np.int64),
            least=np.array([offer.least for offer in offers] + [0] * len(kinds), np.int64),
            most=tuple(most),
            free=caps.free[nodes],
            cap=cap[nodes],
            rows=tuple(rows),
            node_rows=tuple(self._node_rows(nodes, choice)),
            extra=tuple(extra),
            offers=len(first),
        )

    def _node_rows(self, nodes: IntArray, choice: Choice) -> Iterator[NodeRow]:
        """Nodes in domains that are opened or have to be, hosts, and limits that offers share."""
        for key, domain in choice.opened:
            inside = self._problem.cluster.topology(key).domain_of[nodes] == domain
            yield NodeRow((inside & self._new[nodes]).astype(np.int64), lower=1)
        for offers in self._question.opened:
            yield NodeRow(np.isin(np.arange(len(nodes)), offers).astype(np.int64), lower=1)
        for most, each in self._question.shared_limits:
            padded = np.zeros(len(nodes), np.int64)
            padded[: len(each)] = each
            yield NodeRow(padded, upper=most)
        for hosts in choice.hosts:
            if hosts.least or hosts.most is not None:
                inside = np.isin(np.arange(len(nodes)), hosts.offers)
                yield NodeRow(inside.astype(np.int64), hosts.least or None, hosts.most)

    def _classes(self, cap: IntArray) -> list[list[int]]:
        """Nodes that are there and could take somebody, those alike together."""
        keys = [each.scope.topology.key for each in self._caps.spreads]
        keys += self._other_keys()
        topologies = [self._problem.cluster.topology(k) for k in sorted(set(keys)) if k != HOSTNAME]
        eligible = [each.scope.eligible for each in self._caps.spreads]
        found: dict[tuple[object, ...], list[int]] = {}
        for node in np.flatnonzero(~self._new & cap.any(axis=1)).tolist():
            key = (
                cap[node].tobytes(),
                self._caps.free[node].tobytes(),
                *(int(t.domain_of[node]) for t in topologies),
                *(bool(each[node]) for each in eligible),
            )
            found.setdefault(key, []).append(node)
        return list(found.values())

    def _other_keys(self) -> list[str]:
        """Keys of anti-affinity and affinity of groups to themselves."""
        groups = self._problem.cluster.groups
        return [
            term.topology_key
            for g in self._groups
            for term in (
                *groups[g].spec.affinity.pod_anti_affinity.required,
                *groups[g].spec.affinity.pod_affinity.required,
            )
        ]

    def _demanded(self, places: int) -> Iterator[Row]:
        everywhere = np.ones(places, np.bool_)
        for i, (least, most) in enumerate(zip(self._demand, self._most, strict=True)):
            yield Row(np.array([i]), everywhere, least, most)

    def _domain_rows(
        self, nodes: IntArray, opened: Collection[Domain], extra: list[int]
    ) -> Iterator[Row]:
        for constraint in self._caps.spreads:
            if constraint.scope.topology.key != HOSTNAME:
                yield from self._spread_rows(nodes, constraint, opened, extra)
        cluster = self._problem.cluster
        for term in apart(cluster, self._groups):
            if term.key != HOSTNAME and term.group in term.about:
                topology = cluster.topology(term.key)
                for domain in range(len(topology.domains)):
                    inside = topology.domain_of[nodes] == domain
                    yield Row(np.array([self._groups.index(term.group)]), inside, None, 1)
        for i, key in self._caps.together:
            topology = cluster.topology(key)
            size = len(topology.domains)
            first = len(extra)
            extra += [1] * size
            chosen = {first + domain: 1 for domain in range(size)}
            yield Row(np.array([], np.int64), np.zeros(len(nodes), np.bool_), None, 1, extra=chosen)
            for domain in range(size):
                inside = topology.domain_of[nodes] == domain
                here = {first + domain: -self._most[i]}
                yield Row(np.array([i]), inside, None, 0, extra=here)

    def _highest(self, constraint: SpreadConstraint, certain: Sequence[int]) -> int:
        """What the minimum can be at most, with these domains there in any case."""
        counts, _ = self._caps.counts(constraint)
        more = self._caps.landings(constraint)
        if constraint.too_few_domains:
            return 0
        if not certain:
            return int(counts.sum()) + more
        level = (int(counts[list(certain)].sum()) + more) // len(certain)
        return min(level, int(counts[list(certain)].min()) + more)

    def _spread_rows(
        self,
        nodes: IntArray,
        constraint: SpreadConstraint,
        opened: Collection[Domain],
        extra: list[int],
    ) -> Iterator[Row]:
        counts, domain_of = self._caps.counts(constraint)
        counting, carriers = self._caps.members(constraint)
        key, skew = constraint.scope.topology.key, constraint.constraint.max_skew
        every = np.flatnonzero(constraint.scope.domains).tolist()
        certain = sorted(set(domain_of[~self._new].tolist()) - {NO_DOMAIN})
        eligible = constraint.scope.eligible
        for domain in every:
            offered = self._new & (constraint.scope.topology.domain_of == domain)
            if (key, domain) in opened and domain not in certain and eligible[offered].all():
                certain.append(domain)
        highest = self._highest(constraint, certain)
        minimum = len(extra)
        extra.append(highest)
        for domain in every:
            inside = domain_of[nodes] == domain
            fixed = int(counts[domain])
            if domain in certain:
                yield Row(np.array(counting), inside, -fixed, None, extra={minimum: -1})
            over = fixed - skew
            if over <= 0:
                yield Row(np.array(carriers), inside, None, -over, extra={minimum: -1})
            elif over >= highest:
                yield Row(np.array(carriers), inside, None, 0)
            else:
                slope = {minimum: over - highest}
                yield Row(np.array(carriers), inside, None, 0, weight=highest, extra=slope)
