"""PodTopologySpread: which domains a constraint leaves to the pod, with the counts that decide.

A domain receives the pod if count(domain) + self - minimum <= maxSkew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.explain.rules.rule import NARROWS, Facts, Rule
from planner.explain.situation.subject import Subject
from planner.scheduler.framework.default_selector import default_selector
from planner.words import NAMED, conjoined, count_of, short_key
from planner_models.diagnosis import RuleKind
from planner_models.selectors import with_match_label_keys
from planner_models.topology_spread import TopologySpreadConstraint

COUNTS_SHOWN = 50
"""With more domains the document says how far the counts are apart."""


@dataclass(frozen=True, eq=False)
class SpreadRule(Rule):
    """One hard constraint, with its matching pods counted per domain."""

    constraint: TopologySpreadConstraint
    index: int
    topology: Topology
    counts: IntArray
    eligible: BoolArray
    """Domains that take part in the minimum."""
    self_match: int

    kind: ClassVar[RuleKind] = "topologySpread"
    stage: ClassVar[int] = NARROWS

    @property
    def key(self) -> str:
        """The topology key as people call it; in full where two of them look alike."""
        keys = {c.topology_key for c in self.subject.group.spec.topology_spread_constraints}
        short = short_key(self.constraint.topology_key)
        alike = sum(short_key(key) == short for key in keys) > 1
        return self.constraint.topology_key if alike else short

    @property
    def name(self) -> str:
        """`zone spread`."""
        return f"{self.key} spread"

    @cached_property
    def few_domains(self) -> bool:
        """Whether there are fewer domains than minDomains, so that the minimum is 0."""
        return int(self.eligible.sum()) < (self.constraint.min_domains or 1)

    @cached_property
    def minimum(self) -> int:
        """The smallest count over eligible domains; 0 below minDomains."""
        return 0 if self.few_domains else int(self.counts[self.eligible].min())

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

    def needed(self, nodes: BoolArray) -> int | None:
        """The smallest maxSkew that opens one of these nodes."""
        domains = self.topology.domain_of[nodes & ~self.missing]
        return int(self.skew[domains].min()) if len(domains) else None

    def names_of(self, domains: BoolArray) -> list[str]:
        """Domains by name."""
        return [self.topology.domains[i] for i in np.flatnonzero(domains).tolist()]

    def open_names(self, left: BoolArray | None = None) -> list[str]:
        """The domains that may receive the pod, as far as these nodes are in them."""
        domains = self.open_domains.copy()
        if left is not None:
            inside = np.zeros_like(domains)
            inside[self.topology.domain_of[left & ~self.missing]] = True
            domains &= inside
        return self.names_of(domains)

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`zone lets web go to eu-1c only: ...`."""
        who = self.subject.name if first else "it"
        if not len(self.topology.domains) or not self.eligible.any():
            return f"{self.key} spread has no domain: no node takes part with the label {self.key}."
        if self.few_domains and not self.open_domains.any():
            return self._below_min_domains()
        where = self._only(self.names_of(self.open_domains & self.eligible))
        if not (self.eligible & ~self.open_domains).any():
            return f"{self.key} lets {who} go to {where}, where nodes have the label."
        return f"{self.key} lets {who} go to {where}: {self._counts()}, and {self._one_more()}."

    def _only(self, names: Sequence[str]) -> str:
        total = int(self.eligible.sum())
        if len(names) <= NAMED:
            return f"{conjoined(names)} only" if len(names) < total else conjoined(names)
        return f"{len(names)} of {total} domains only"

    def _counts(self) -> str:
        """`eu-1a and eu-1b have 2 matching pods each, eu-1c 1`."""
        if int(self.eligible.sum()) > NAMED:
            return self._counts_of_many()
        parts: list[str] = []
        for count in sorted({int(c) for c in self.counts[self.eligible]}, reverse=True):
            names = self.names_of((self.counts == count) & self.eligible)
            parts.append(self._count(names, count, first=not parts))
        return ", ".join(parts)

    def _count(self, names: Sequence[str], count: int, *, first: bool) -> str:
        text = conjoined(names)
        verb = "has" if len(names) == 1 else "have"
        each = "" if len(names) == 1 else " each"
        if first:
            return f"{text} {verb} {count_of(count, 'matching pod')}{each}"
        return f"{text} {count}{each}"

    def _counts_of_many(self) -> str:
        shut = self.counts[~self.open_domains & self.eligible]
        highest = int(self.counts[self.open_domains & self.eligible].max(initial=0))
        return (
            f"these have at most {count_of(highest, 'matching pod')}, the others "
            f"{_range(int(shut.min()), int(shut.max()))}"
        )

    def _one_more(self) -> str:
        shut = ~self.open_domains & self.eligible
        skews = self.skew[shut]
        skew = _range(int(skews.min()), int(skews.max()))
        limit = f"(maxSkew {self.constraint.max_skew})"
        names = self.names_of(shut)
        text = conjoined(names, "or") if len(names) <= NAMED else "any of these"
        if not self.self_match:
            there = "there" if len(names) > NAMED else f"in {text}"
            return f"the skew {there} is {skew} {limit}; the pod itself does not match"
        within = self.subject.places.within(self.constraint.topology_key)
        return f"one more {within} {text} would make the skew {skew} {limit}"

    def _below_min_domains(self) -> str:
        names = self.names_of(self.eligible)
        listed = f" ({', '.join(names)})" if len(names) <= NAMED else ""
        most = self.constraint.max_skew
        counts = self.counts[self.eligible]
        have = _range(int(counts.min()), int(counts.max()))
        plural = "every one of them" if len(names) > 1 else "it"
        return (
            f"{self.key} has {count_of(len(names), 'domain')}{listed}, fewer than minDomains "
            f"{self.constraint.min_domains}. Then kube-scheduler takes the minimum as 0, and "
            f"{plural} may hold at most {most} (maxSkew). "
            f"{'Each has' if len(names) > 1 else 'It has'} {have}."
        )

    def brief(self, left: BoolArray) -> str:
        """`its zone spread allows eu-1c only`."""
        names = self.names_of(self.open_domains & self.eligible)
        where = conjoined(names) if len(names) <= 3 else f"{len(names)} domains"
        return f"{self.name} allows {where} only" if names else f"{self.name} allows no domain"

    def cell(self, node: int) -> str:
        """`3 - 1 > 1`: count with the pod, minimum, maxSkew."""
        domain = int(self.topology.domain_of[node])
        if domain < 0:
            return f"no label {self.key}"
        sign = ">" if self.blocked[node] else "=" if self._at_limit(domain) else "<"
        new = int(self.counts[domain]) + self.self_match
        return f"{new} - {self.minimum} {sign} {self.constraint.max_skew}"

    def _at_limit(self, domain: int) -> bool:
        return int(self.skew[domain]) == self.constraint.max_skew

    def facts(self) -> Facts:
        """Counts per domain, the minimum, and what may receive the pod."""
        found: dict[str, object] = {
            "topologyKey": self.constraint.topology_key,
            "maxSkew": self.constraint.max_skew,
            "minDomains": self.constraint.min_domains,
            "minimum": self.minimum,
            "selfMatch": bool(self.self_match),
            "domains": int(self.eligible.sum()),
        }
        if len(self.counts) <= COUNTS_SHOWN:
            names = self.topology.domains
            found["counts"] = dict(zip(names, self.counts.tolist(), strict=True))
            found["allowedDomains"] = self.open_names()
        else:
            found["lowest"], found["highest"] = int(self.counts.min()), int(self.counts.max())
        return found  # type: ignore[return-value] # every value above is a JSON value

    def where(self, left: BoolArray) -> str:
        """The field `minDomains` itself, where it alone decides."""
        if self.few_domains and not self.open_domains.any():
            return f"{self.field}.minDomains"
        return self.field


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def find(subject: Subject) -> list[Rule]:
    """The pod's hard constraints, or the profile's where it has none."""
    constraints = _hard(subject)
    if not constraints:
        return []
    state = subject.state
    takes_part = np.ones(len(state.cluster.nodes), np.bool_)
    for _, constraint in constraints:
        takes_part &= state.node_rules.labelled(constraint.topology_key)
    return [_rule(subject, i, constraint, takes_part) for i, constraint in constraints]


def _hard(subject: Subject) -> list[tuple[int, TopologySpreadConstraint]]:
    group = subject.group
    own = group.spec.topology_spread_constraints
    if own:
        return [(i, c) for i, c in enumerate(own) if c.hard]
    defaults = subject.profile.resolved.args.pod_topology_spread.effective_constraints
    hard = [(i, c) for i, c in enumerate(defaults) if c.hard]
    selector = default_selector(subject.cluster, group) if hard else None
    if selector is None:
        return []
    return [(i, c.replace(label_selector=selector)) for i, c in hard]


def matching_groups(subject: Subject, constraint: TopologySpreadConstraint) -> IntArray:
    """The groups whose pods the constraint counts; an empty selector counts none."""
    selector = constraint.label_selector
    if selector is not None and constraint.match_label_keys:
        selector = with_match_label_keys(
            selector, constraint.match_label_keys, subject.group.labels
        )
    if selector is None or selector.is_empty:
        return np.empty(0, np.int64)
    return subject.cluster.group_index.matching(selector, (subject.group.namespace,))


def _rule(
    subject: Subject, index: int, constraint: TopologySpreadConstraint, takes_part: BoolArray
) -> SpreadRule:
    state, group = subject.state, subject.group
    selector = constraint.label_selector
    if selector is not None and constraint.match_label_keys:
        selector = with_match_label_keys(selector, constraint.match_label_keys, group.labels)
    eligible = takes_part.copy()
    if constraint.node_affinity_policy == "Honor":
        eligible &= state.node_rules.affinity(group.spec)
    if constraint.node_taints_policy == "Honor":
        eligible &= state.node_rules.taints(group.spec.tolerations)
    matched = matching_groups(subject, constraint)
    topology = state.cluster.topology(constraint.topology_key)
    per_node = state.counts_by_node(matched, terminating=False)
    counts = np.zeros(len(topology.domains), np.int64)
    np.add.at(counts, topology.domain_of[eligible], per_node[eligible])
    domains = np.zeros(len(topology.domains), np.bool_)
    domains[topology.domain_of[eligible]] = True
    self_match = int(selector is not None and selector.matches(group.labels))
    own = bool(group.spec.topology_spread_constraints)
    rule = SpreadRule(
        subject=subject,
        field=(
            f"spec.topologySpreadConstraints[{index}]"
            if own
            else f"pluginConfig.PodTopologySpread.defaultConstraints[{index}]"
        ),
        blocked=takes_part,
        constraint=constraint,
        index=index,
        topology=topology,
        counts=counts,
        eligible=domains,
        self_match=self_match,
    )
    return replace(rule, blocked=np.append(~rule.open_domains, True)[topology.domain_of])
