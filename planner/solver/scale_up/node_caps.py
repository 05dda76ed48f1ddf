"""The most pods of each waiting group on single nodes: room, ports, anti-affinity, affinity.

Spread over hosts depends on how many there are. The smallest count over all hosts is no more than
the average, and nobody lands where the count is above the smallest plus maxSkew:

    cap <= floor(pods / hosts) + maxSkew - pods that are there
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.spread import SpreadConstraint
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.problem.inter_pod_affinity import apart, mates, required_keys
from planner.solver.problem.problem import Problem
from planner.solver.scale_up.places import Hosts
from planner.solver.scale_up.question import NodeQuestion
from planner_models.node import HOSTNAME


class NodeCaps:
    """`cap[n, g]` for all nodes of the question's problem and the waiting groups with a place."""

    def __init__(self, question: NodeQuestion) -> None:
        self.problem: Problem = question.problem
        problem = self.problem
        self._offers = question.offers
        self.groups = [g for g in sorted(problem.waiting) if problem.landing(g).any()]
        self.most = [len(problem.waiting[g]) for g in self.groups]
        """How many pods of each group may land."""
        self.request = problem.requests[self.groups]
        self.free = np.maximum(problem.allocatable - problem.fixed_used, 0)
        self.new = np.zeros(len(self.free), np.bool_)
        """Which nodes are offered."""
        for offer in question.offers:
            self.new[list(offer.nodes)] = True
        self.spreads = [
            each
            for each in problem.spreads
            if any(c.group in problem.waiting and c.self_match for c in each.carriers)
        ]
        self.together: list[tuple[int, str]] = []
        """Groups by number that land in one domain of a key, whichever it is."""
        self._cap = self._lasting()

    def cap(self, hosts: Sequence[Hosts] = ()) -> IntArray:
        """The most pods, if so many nodes are added."""
        cap = self._cap.copy()
        for constraint in self._over_hosts():
            self._hostname(cap, constraint, hosts)
        return cap

    def _lasting(self) -> IntArray:
        """Room, ports, anti-affinity and affinity."""
        cap = np.zeros((len(self.free), len(self.groups)), np.int64)
        for i, group in enumerate(self.groups):
            asked = self.request[i] > 0
            room = (self.free[:, asked] // self.request[i][asked]).min(axis=1)
            cap[:, i] = np.where(self.problem.landing(group), np.minimum(room, self.most[i]), 0)
            if self.problem.cluster.groups[group].spec.host_ports:
                np.minimum(cap[:, i], 1, out=cap[:, i])
        self._keep_apart(cap)
        self._stay_near(cap)
        return cap

    def _fixed(self, groups: Sequence[int], domain_of: IntArray, size: int) -> IntArray:
        """Pods of these groups that are there, terminating ones included."""
        counts = np.zeros(size + 1, np.int64)
        chosen = set(groups)
        for (group, node), pods in self.problem.fixed_all.items():
            if group in chosen:
                counts[domain_of[node]] += pods
        return counts[:size]

    def _keep_apart(self, cap: IntArray) -> None:
        """Nobody lands beside a fixed pod that he, or it, can't be with; of some only one."""
        cluster = self.problem.cluster
        there = {group for group, _ in self.problem.fixed_all}
        number = {group: i for i, group in enumerate(self.groups)}
        for term in apart(cluster, sorted(there.union(self.groups))):
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
        cluster = self.problem.cluster
        for i, group in enumerate(self.groups):
            near = mates(cluster, cluster.groups[group]).tolist()
            if set(near).intersection(self.problem.waiting) - {group}:
                continue
            for key in required_keys(cluster.groups[group]):
                topology = cluster.topology(key)
                found = self._fixed(near, topology.domain_of, len(topology.domains)) > 0
                if found.any() or group not in near:
                    cap[~np.append(found, False)[topology.domain_of], i] = 0
                elif key != HOSTNAME:
                    self.together.append((i, key))

    # Spread

    def counts(self, constraint: SpreadConstraint) -> tuple[IntArray, IntArray]:
        """Counted fixed pods of each domain, and the domain of each node that is counted."""
        scope = constraint.scope
        domain_of = np.where(scope.eligible, scope.topology.domain_of, NO_DOMAIN)
        counts = np.zeros(len(scope.topology.domains) + 1, np.int64)
        matching = set(constraint.matching.tolist())
        for (group, node), pods in self.problem.fixed_counts.items():
            if group in matching:
                counts[domain_of[node]] += pods
        return counts[:-1], domain_of

    def members(self, constraint: SpreadConstraint) -> tuple[list[int], list[int]]:
        """Numbers of the waiting groups that count, and of those among them that carry the rule."""
        carriers = {c.group for c in constraint.carriers}
        matching = set(constraint.matching.tolist())
        counting = [i for i, g in enumerate(self.groups) if g in matching]
        return counting, [i for i in counting if self.groups[i] in carriers]

    def landings(self, constraint: SpreadConstraint) -> int:
        """How many pods that count may land."""
        return sum(self.most[i] for i in self.members(constraint)[0])

    def _over_hosts(self) -> list[SpreadConstraint]:
        return [each for each in self.spreads if each.scope.topology.key == HOSTNAME]

    def host_offers(self, constraint: SpreadConstraint) -> tuple[int, ...]:
        """The offers whose nodes are hosts of the constraint, by number."""
        _, domain_of = self.counts(constraint)
        first = [offer.nodes[0] for offer in self._offers]
        return tuple(i for i, node in enumerate(first) if domain_of[node] != NO_DOMAIN)

    def host_sets(self) -> list[tuple[int, ...]]:
        """The different sets of offers whose nodes are hosts of some constraint."""
        found = (self.host_offers(each) for each in self._over_hosts())
        return sorted({offers for offers in found if offers})

    def smallest(self, constraint: SpreadConstraint, hosts: Hosts) -> int:
        """What the smallest count over hosts can be at most, if so many are added."""
        counts, domain_of = self.counts(constraint)
        there = int((~self.new & (domain_of != NO_DOMAIN)).sum())
        fewest = constraint.constraint.min_domains or 1
        if hosts.most is not None and there + hosts.most < fewest:
            return 0
        every = int(counts.sum()) + self.landings(constraint)
        return every // max(there + hosts.least, 1)

    def more_hosts(self, hosts: Hosts, most: int) -> int | None:
        """The largest number of hosts, up to `most`, from which on a smallest count is less.

        None if none is from `hosts.least` on.
        """
        mine = [each for each in self._over_hosts() if self.host_offers(each) == hosts.offers]
        for number in range(most, hosts.least, -1):
            fewer, more = Hosts(hosts.offers, number - 1), Hosts(hosts.offers, number)
            if any(self.smallest(each, more) < self.smallest(each, fewer) for each in mine):
                return number
        return None

    def _hostname(
        self, cap: IntArray, constraint: SpreadConstraint, hosts: Sequence[Hosts]
    ) -> None:
        """No more on a node than the smallest count can become, plus maxSkew."""
        counts, domain_of = self.counts(constraint)
        counting, carriers = self.members(constraint)
        there = ~self.new & (domain_of != NO_DOMAIN)
        offers = self.host_offers(constraint)
        added = next((each for each in hosts if each.offers == offers), Hosts(offers))
        highest = self.smallest(constraint, added)
        if there.any():
            room = counts[domain_of[there]] + cap[there][:, counting].sum(axis=1)
            highest = min(highest, int(room.min()))
        inside = domain_of != NO_DOMAIN
        left = highest + constraint.constraint.max_skew - counts[domain_of[inside]]
        for i in carriers:
            cap[inside, i] = np.minimum(cap[inside, i], np.maximum(left, 0))
