"""Who is on which node, on paper: a state of a question, and the rules that it has to keep.

A node is told by its number in the question's cluster, where one node stands for all of an offer.
What is needed of the rules is kept here for each node: room, the most pods of each waiting group,
and its class, which says in which domains it is and which spread constraints count it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.spread import SpreadConstraint
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.problem.inter_pod_affinity import apart, mates, required_keys
from planner.solver.scale_up.node_caps import NodeCaps
from planner.solver.scale_up.question import Counts, NodeQuestion
from planner_models.node import HOSTNAME

Class = bytes
"""What tells nodes apart: domains, and the spread constraints that count them."""


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Nodes by number, each as often as it is there, and the pods of each waiting group on them."""

    nodes: IntArray
    pods: IntArray
    """`pods[i, g]`, by group number of the rules."""

    def counts(self, question: NodeQuestion) -> Counts:
        """How many nodes of each offer."""
        return tuple(int((self.nodes == offer.nodes[0]).sum()) for offer in question.offers)


@dataclass(frozen=True, eq=False)
class Spread:
    """A spread rule over the landings of waiting groups: who counts, who has to keep it."""

    skew: int
    least_domains: int
    domain_of: IntArray
    """By node; `NO_DOMAIN` where it does not count."""
    fixed: IntArray
    """Pods that are there, by domain."""
    counting: tuple[int, ...]
    carriers: tuple[int, ...]
    over_hosts: bool


class PaperRules:
    """The rules of a question for arrangements of whole pods on whole nodes."""

    def __init__(self, question: NodeQuestion) -> None:
        self.question = question
        self.problem = question.problem
        caps = NodeCaps(question)
        self._caps = caps
        self.groups: list[int] = caps.groups
        self.request, self.free, self.cap = caps.request, caps.free, caps.cap()
        self.new = caps.new
        self.offer_of = {offer.nodes[0]: i for i, offer in enumerate(question.offers)}
        self.need = np.array([question.goal.get(g, 0) for g in self.groups], np.int64)
        self.spreads = [self._spread(each) for each in caps.spreads]
        self.together = [(i, self._domains(key)) for i, key in caps.together]
        """Groups of which all pods are in one domain, and the domain of each node."""
        self.alone = self._alone()
        self.left_alone = frozenset(self._unknown())
        """Groups whose rules are not known here: their pods, and the nodes of these, stay."""

    def _domains(self, key: str) -> IntArray:
        return self.problem.cluster.topology(key).domain_of

    def _spread(self, each: SpreadConstraint) -> Spread:
        counts, domain_of = self._caps.counts(each)
        counting, carriers = self._caps.members(each)
        key = each.scope.topology.key
        return Spread(
            each.constraint.max_skew,
            each.constraint.min_domains or 1,
            domain_of,
            counts,
            tuple(counting),
            tuple(carriers),
            key == HOSTNAME,
        )

    def _alone(self) -> list[tuple[int, IntArray]]:
        """Groups of which only one pod may be in a domain, other than a host."""
        terms = apart(self.problem.cluster, self.groups)
        return [
            (self.groups.index(term.group), self._domains(term.key))
            for term in terms
            if term.key != HOSTNAME and term.group in term.about
        ]

    def _unknown(self) -> Iterable[int]:
        cluster, number = self.problem.cluster, {g: i for i, g in enumerate(self.groups)}
        for term in apart(cluster, self.groups):
            others = [number[g] for g in term.about.tolist() if g in number and g != term.group]
            if others:
                yield from (number[term.group], *others)
        for i, g in enumerate(self.groups):
            near = [each for each in mates(cluster, cluster.groups[g]).tolist() if each in number]
            if set(near) - {g} or (near and HOSTNAME in required_keys(cluster.groups[g])):
                yield from (i, *(number[each] for each in near))
            spec = cluster.groups[g].spec
            group = cluster.groups[g]
            if spec.host_ports or spec.resource_claims or group.volumes:
                yield i

    @cached_property
    def classes(self) -> list[Class]:
        """By node: its domains, and the constraints that count it."""
        of = [s.domain_of if not s.over_hosts else (s.domain_of != NO_DOMAIN) for s in self.spreads]
        of += [domains for _, domains in self.alone]
        of += [domains for _, domains in self.together]
        if not of:
            return [b""] * len(self.free)
        table = np.stack(of, axis=1)
        return [row.tobytes() for row in table]

    @cached_property
    def offers_of(self) -> dict[Class, list[int]]:
        """The nodes of offers, by class."""
        found: dict[Class, list[int]] = {}
        for offer in self.question.offers:
            found.setdefault(self.classes[offer.nodes[0]], []).append(offer.nodes[0])
        return found

    def cost(self, nodes: IntArray) -> int:
        """What they cost: those that are there nothing."""
        offers = self.question.offers
        return sum(offers[self.offer_of[n]].cost for n in nodes.tolist() if n in self.offer_of)

    def cost_of(self, node: int) -> int:
        """What one node costs."""
        offer = self.offer_of.get(node)
        return 0 if offer is None else self.question.offers[offer].cost
