"""PodTopologySpread: matching pods counted per domain, and which domains are open to the pod.

A domain receives the pod if count(domain) + self - minimum <= maxSkew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import effective_selector, too_few_domains
from planner.cluster.topology import IntArray, Topology
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject
from planner.words import short_key
from planner_models.diagnosis import RuleKind
from planner_models.topology_spread import TopologySpreadConstraint


@dataclass(frozen=True, eq=False)
class CountedSpread(Rule):
    """One hard constraint, with its matching pods counted per domain."""

    constraint: TopologySpreadConstraint
    index: int
    topology: Topology
    counts: IntArray
    eligible: BoolArray
    """Domains that take part in the minimum."""
    self_match: int

    @property
    def key(self) -> str:
        """The topology key as people call it; in full where two of them look alike."""
        keys = {c.topology_key for c in self.subject.group.spec.topology_spread_constraints}
        short = short_key(self.constraint.topology_key)
        alike = sum(short_key(key) == short for key in keys) > 1
        return self.constraint.topology_key if alike else short

    @property
    def part(self) -> tuple[RuleKind, int]:
        """Which constraint."""
        return self.kind, self.index

    @cached_property
    def few_domains(self) -> bool:
        """Whether there are fewer domains than minDomains, so that the minimum is 0."""
        return too_few_domains(self.constraint, int(self.eligible.sum()))

    def least_of(self, counts: IntArray) -> int:
        """The minimum over eligible domains, if they had these counts; 0 below minDomains."""
        return 0 if self.few_domains else int(counts[self.eligible].min())

    @cached_property
    def minimum(self) -> int:
        """What skew is measured from."""
        return self.least_of(self.counts)

    @cached_property
    def skew(self) -> IntArray:
        """What the skew of each domain would be with the pod in it."""
        return self.counts + self.self_match - self.minimum

    @cached_property
    def open_domains(self) -> BoolArray:
        """The domains that may receive the pod."""
        return self.skew <= self.constraint.max_skew

    @cached_property
    def missing(self) -> BoolArray:
        """Nodes without the label: bypassed, and their pods don't count."""
        return self.topology.domain_of < 0

    @cached_property
    def matching(self) -> IntArray:
        """The groups whose pods it counts."""
        return matching_groups(self.subject, self.constraint)

    @property
    def counted_groups(self) -> Sequence[int]:
        """The matching ones."""
        found: list[int] = self.matching.tolist()
        return found

    def held_against(self, node: int) -> BoolArray:
        """Matching pods in the node's domain."""
        return self.subject.running_in(self.topology, node, self.counted_groups)

    def smallest_skew(self, nodes: BoolArray) -> int | None:
        """The smallest maxSkew that opens one of these nodes."""
        domains = self.topology.domain_of[nodes & ~self.missing]
        return int(self.skew[domains].min()) if len(domains) else None

    def domains_of(self, nodes: BoolArray) -> BoolArray:
        """The domains that these nodes are in."""
        inside = np.zeros(len(self.topology.domains), np.bool_)
        inside[self.topology.domain_of[nodes & ~self.missing]] = True
        return inside

    def names_of(self, domains: BoolArray) -> list[str]:
        """Domains by name."""
        return [self.topology.domains[i] for i in np.flatnonzero(domains).tolist()]

    def open_names(self, left: BoolArray) -> list[str]:
        """The domains that may receive the pod, as far as these nodes are in them."""
        return self.names_of(self.open_domains & self.domains_of(left))

    def domains_left(self, left: BoolArray) -> list[str]:
        """The open ones; nodes by their own name are no place that others are in."""
        names = self.open_names(left)
        per_node = self.subject.nodes.per_node(self.constraint.topology_key)
        return names if len(names) <= 3 and not per_node else []


def matching_groups(subject: Subject, constraint: TopologySpreadConstraint) -> IntArray:
    """The groups whose pods the constraint counts; an empty selector counts none."""
    selector = effective_selector(constraint, subject.group)
    if selector is None or selector.is_empty:
        return np.empty(0, np.int64)
    return subject.cluster.group_index.matching(selector, (subject.group.namespace,))
