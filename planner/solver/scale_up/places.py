"""Places for pods, counted by kind: a node of each offer, and nodes that are there and alike.

What remains of the rules when single nodes are no longer told apart: `cap[p, g]`, the most pods of
a group on one node of a kind, and rows over sums of landings in domains. Whatever else there is,
such as anti-affinity between workloads, is left out, which only makes sets cheaper: a bound over
places holds for all sets of nodes.

    minimum <= count(d)                          for each domain that is there in any case
    landings(D) <= max(0, minimum + maxSkew - fixed(D))

The second is not linear where D has too many already. With a minimum of at most H it is replaced by
the line above it, H x landings(D) <= (H + maxSkew - fixed(D)) x minimum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import SpreadConstraint
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.problem.inter_pod_affinity import apart, mates, required_keys
from planner.solver.scale_up.question import NodeQuestion
from planner_models.node import HOSTNAME

Domain = tuple[str, int]
"""A topology key, and a domain of it by number."""


@dataclass(frozen=True, eq=False)
class Row:
    """weight x landings of some groups in some places + extra variables, within a range."""

    groups: IntArray
    places: BoolArray
    lower: int | None
    upper: int | None
    weight: int = 1
    extra: Mapping[int, int] = field(default_factory=dict)
    """Coefficients of extra variables."""


@dataclass(frozen=True, eq=False)
class NodeRow:
    """What nodes of the places add up to, within a range: `each[p]` for a node."""

    each: IntArray
    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True, eq=False)
class Places:
    """Groups by number: those that wait and have a place. Costs of nodes that are there are 0.

    `extra` are the upper ends of further variables, which begin at 0 and cost nothing.
    """

    groups: tuple[int, ...]
    request: IntArray
    """`request[g, r]`."""
    cost: IntArray
    least: IntArray
    most: tuple[int | None, ...]
    """Nodes of each place; None: without end."""
    free: IntArray
    """`free[p, r]`."""
    cap: IntArray
    rows: tuple[Row, ...]
    node_rows: tuple[NodeRow, ...] = ()
    extra: tuple[int, ...] = ()
    offers: int = 0
    """The first so many places are the offers."""


def every_places(question: NodeQuestion, most_new: int = 2) -> list[Places]:
    """The places of every choice of new domains that are opened: one of them is that of any set.

    Where there are more new domains, their rows are left out.
    """
    kinds = _Kinds(question)
    new = kinds.new_domains
    if len(new) > most_new:
        return [kinds.places((), ())]
    chosen = [[d for i, d in enumerate(new) if bits >> i & 1] for bits in range(1 << len(new))]
    return [kinds.places(each, [d for d in new if d not in each]) for each in chosen]


class _Kinds:
    """All nodes that can take a pod, by kind."""

    def __init__(self, question: NodeQuestion) -> None:
        self._question = question
        self._problem = problem = question.problem
        self._groups = [g for g in sorted(problem.waiting) if problem.landing(g).any()]
        self._demand = [question.goal.get(g, 0) for g in self._groups]
        self._most = [len(problem.waiting[g]) for g in self._groups]
        self._request = problem.requests[self._groups]
        self._free = np.maximum(problem.allocatable - problem.fixed_used, 0)
        self._new = np.zeros(len(self._free), np.bool_)
        for offer in question.offers:
            self._new[list(offer.nodes)] = True
        self._spreads = [
            each
            for each in problem.spreads
            if any(c.group in problem.waiting and c.self_match for c in each.carriers)
        ]
        self._together: list[tuple[int, str]] = []
        """Groups by number that land in one domain of a key, whichever it is."""
        self._cap = self._caps()

    # Limits of single nodes

    def _caps(self) -> IntArray:
        """`cap[n, g]`: room, ports, anti-affinity, and what hostname spread leaves."""
        cap = np.zeros((len(self._free), len(self._groups)), np.int64)
        for i, group in enumerate(self._groups):
            asked = self._request[i] > 0
            room = (self._free[:, asked] // self._request[i][asked]).min(axis=1)
            cap[:, i] = np.where(self._problem.landing(group), np.minimum(room, self._most[i]), 0)
            if self._problem.cluster.groups[group].spec.host_ports:
                np.minimum(cap[:, i], 1, out=cap[:, i])
        self._keep_apart(cap)
        self._stay_near(cap)
        for constraint in self._spreads:
            if constraint.scope.topology.key == HOSTNAME:
                self._hostname(cap, constraint)
        return cap

    def _fixed(self, groups: Sequence[int], domain_of: IntArray, size: int) -> IntArray:
        """Pods of these groups that are there, terminating ones included."""
        counts = np.zeros(size + 1, np.int64)
        chosen = set(groups)
        for (group, node), pods in self._problem.fixed_all.items():
            if group in chosen:
                counts[domain_of[node]] += pods
        return counts[:size]

    def _keep_apart(self, cap: IntArray) -> None:
        """Nobody lands beside a fixed pod that he, or it, can't be with; of some only one."""
        cluster = self._problem.cluster
        there = {group for group, _ in self._problem.fixed_all}
        number = {group: i for i, group in enumerate(self._groups)}
        for term in apart(cluster, sorted(there.union(self._groups))):
            topology = cluster.topology(term.key)
            size, inside = len(topology.domains), topology.domain_of != NO_DOMAIN
            pairs = [([term.group], term.about.tolist()), (term.about.tolist(), [term.group])]
            for landing, others in pairs:
                taken = np.append(self._fixed(others, topology.domain_of, size) > 0, False)
                for group in landing:
                    if group in number:
                        cap[inside & taken[topology.domain_of], number[group]] = 0
            if term.group in term.about and term.group in number:
                own = cap[:, number[term.group]]
                cap[:, number[term.group]] = np.where(inside, np.minimum(own, 1), own)

    def _stay_near(self, cap: IntArray) -> None:
        """Where nobody else who waits can be a mate: only in domains of those that are there.

        Of a group that is its own mate, if none is there, all land where the first one does.
        """
        cluster = self._problem.cluster
        for i, group in enumerate(self._groups):
            near = mates(cluster, cluster.groups[group]).tolist()
            if set(near).intersection(self._problem.waiting) - {group}:
                continue
            for key in required_keys(cluster.groups[group]):
                topology = cluster.topology(key)
                found = self._fixed(near, topology.domain_of, len(topology.domains)) > 0
                if found.any() or group not in near:
                    cap[~np.append(found, False)[topology.domain_of], i] = 0
                elif key != HOSTNAME:
                    self._together.append((i, key))

    def _counts(self, constraint: SpreadConstraint) -> tuple[IntArray, IntArray]:
        """Counted fixed pods of each domain, and the domain of each node that is counted."""
        scope = constraint.scope
        domain_of = np.where(scope.eligible, scope.topology.domain_of, NO_DOMAIN)
        counts = np.zeros(len(scope.topology.domains) + 1, np.int64)
        matching = set(constraint.matching.tolist())
        for (group, node), pods in self._problem.fixed_counts.items():
            if group in matching:
                counts[domain_of[node]] += pods
        return counts[:-1], domain_of

    def _members(self, constraint: SpreadConstraint) -> tuple[list[int], list[int]]:
        """Numbers of the waiting groups that count, and of those among them that carry the rule."""
        carriers = {c.group for c in constraint.carriers}
        matching = set(constraint.matching.tolist())
        counting = [i for i, g in enumerate(self._groups) if g in matching]
        return counting, [i for i in counting if self._groups[i] in carriers]

    def _highest(self, constraint: SpreadConstraint, certain: Sequence[int]) -> int:
        """What the minimum can be at most, with these domains there in any case."""
        counts, _ = self._counts(constraint)
        counting, _ = self._members(constraint)
        more = sum(self._most[i] for i in counting)
        if constraint.too_few_domains:
            return 0
        if not certain:
            return int(counts.sum()) + more
        level = (int(counts[list(certain)].sum()) + more) // len(certain)
        return min(level, int(counts[list(certain)].min()) + more)

    def _hostname(self, cap: IntArray, constraint: SpreadConstraint) -> None:
        """No more on a node than the smallest count can become, plus maxSkew."""
        counts, domain_of = self._counts(constraint)
        counting, carriers = self._members(constraint)
        there = ~self._new & (domain_of != NO_DOMAIN)
        highest = self._highest(constraint, domain_of[there].tolist())
        if there.any():
            room = counts[domain_of[there]] + cap[there][:, counting].sum(axis=1)
            highest = min(highest, int(room.min()))
        inside = domain_of != NO_DOMAIN
        left = highest + constraint.constraint.max_skew - counts[domain_of[inside]]
        for i in carriers:
            cap[inside, i] = np.minimum(cap[inside, i], np.maximum(left, 0))

    # Domains of several nodes

    @property
    def new_domains(self) -> list[Domain]:
        """Domains that a spread rule counts only once a node of an offer is there."""
        found: set[Domain] = set()
        for constraint in self._spreads:
            key = constraint.scope.topology.key
            _, domain_of = self._counts(constraint)
            if key != HOSTNAME:
                known = set(domain_of[~self._new].tolist())
                found |= {(key, d) for d in domain_of[self._new].tolist() if d not in known}
        return sorted(each for each in found if each[1] != NO_DOMAIN)

    def places(self, opened: Sequence[Domain], closed: Sequence[Domain]) -> Places:
        """The places, where some new domains get a node and others do not."""
        first = [offer.nodes[0] for offer in self._question.offers]
        kinds = self._classes()
        nodes = np.array([*first, *(alike[0] for alike in kinds)], np.int64)
        cost = [offer.cost for offer in self._question.offers] + [0] * len(kinds)
        most: list[int | None] = [offer.most for offer in self._question.offers]
        most += [len(alike) for alike in kinds]
        for key, domain in closed:
            inside = self._problem.cluster.topology(key).domain_of[first] == domain
            most = [0 if i < len(first) and inside[i] else n for i, n in enumerate(most)]
        extra: list[int] = []
        rows = [*self._demanded(len(nodes)), *self._domain_rows(nodes, set(opened), extra)]
        return Places(
            groups=tuple(self._groups),
            request=self._request,
            cost=np.array(cost, np.int64),
            least=np.array(
                [offer.least for offer in self._question.offers] + [0] * len(kinds), np.int64
            ),
            most=tuple(most),
            free=self._free[nodes],
            cap=self._cap[nodes],
            rows=tuple(rows),
            node_rows=tuple(self._node_rows(nodes, opened)),
            extra=tuple(extra),
            offers=len(first),
        )

    def _node_rows(self, nodes: IntArray, opened: Sequence[Domain]) -> Iterator[NodeRow]:
        """Nodes in domains that are opened or have to be, and limits that offers share."""
        for key, domain in opened:
            inside = self._problem.cluster.topology(key).domain_of[nodes] == domain
            yield NodeRow((inside & self._new[nodes]).astype(np.int64), lower=1)
        for offers in self._question.opened:
            yield NodeRow(np.isin(np.arange(len(nodes)), offers).astype(np.int64), lower=1)
        for most, each in self._question.shared_limits:
            padded = np.zeros(len(nodes), np.int64)
            padded[: len(each)] = each
            yield NodeRow(padded, upper=most)

    def _classes(self) -> list[list[int]]:
        """Nodes that are there and could take somebody, those alike together."""
        keys = [each.scope.topology.key for each in self._spreads]
        keys += self._other_keys()
        topologies = [self._problem.cluster.topology(k) for k in sorted(set(keys)) if k != HOSTNAME]
        eligible = [each.scope.eligible for each in self._spreads]
        found: dict[tuple[object, ...], list[int]] = {}
        for node in np.flatnonzero(~self._new & self._cap.any(axis=1)).tolist():
            key = (
                self._cap[node].tobytes(),
                self._free[node].tobytes(),
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
        for constraint in self._spreads:
            if constraint.scope.topology.key != HOSTNAME:
                yield from self._spread_rows(nodes, constraint, opened, extra)
        cluster = self._problem.cluster
        for term in apart(cluster, self._groups):
            if term.key != HOSTNAME and term.group in term.about:
                topology = cluster.topology(term.key)
                for domain in range(len(topology.domains)):
                    inside = topology.domain_of[nodes] == domain
                    yield Row(np.array([self._groups.index(term.group)]), inside, None, 1)

        for i, key in self._together:
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

    def _spread_rows(
        self,
        nodes: IntArray,
        constraint: SpreadConstraint,
        opened: Collection[Domain],
        extra: list[int],
    ) -> Iterator[Row]:
        counts, domain_of = self._counts(constraint)
        counting, carriers = self._members(constraint)
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
