"""InterPodAffinity: near whom the pod wants to be, away from whom, and who keeps it away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.matching import TermScope
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.explain.rules.rule import Facts, FieldPath, Rule
from planner.explain.situation.subject import Subject
from planner.scheduler.plugins.inter_pod_affinity import (
    REASON_AFFINITY,
    REASON_ANTI_AFFINITY,
    REASON_EXISTING,
    InterPodAffinity,
)
from planner.words import NAMED, conjoined, count_of, named_or_counted, short_key
from planner_models.affinity import REQUIRED, Affinity, PodAffinity, PodAffinityTerm
from planner_models.diagnosis import RuleKind
from planner_models.selectors import LabelSelector

ANTI_FIELD = f"spec.affinity.podAntiAffinity.{REQUIRED}"
NEAR_FIELD = f"spec.affinity.podAffinity.{REQUIRED}"


@dataclass(frozen=True, eq=False)
class PodRule(Rule):
    """What the three have in common: terms, and the pods that they are about."""

    terms: tuple[PodAffinityTerm, ...]
    groups: tuple[int, ...]
    """Groups whose pods decide: those that a term matches, or those that carry it."""

    @property
    def counted_groups(self) -> Sequence[int]:
        """Those of its terms."""
        return self.groups

    @property
    def topology(self) -> Topology:
        """The domains of the first term's key."""
        return self.subject.cluster.topology(self.terms[0].topology_key)

    @property
    def keys(self) -> str:
        """`zone`, or several of them."""
        return conjoined(sorted({short_key(term.topology_key) for term in self.terms}), "or")

    @cached_property
    def workloads(self) -> list[str]:
        """The names of the workloads behind the groups that have running pods."""
        cluster = self.subject.cluster
        running = np.unique(cluster.group_of[self.subject.state.node_of >= 0])
        found = {cluster.workloads[g].name for g in self.groups if g in set(running.tolist())}
        return sorted(found)

    def _who(self) -> str:
        """`etcd pods`; several workloads are named or counted."""
        if not self.workloads:
            return "pods"
        return f"{named_or_counted(self.workloads, 'workload')} pods"

    @cached_property
    def counts(self) -> IntArray:
        """Their pods per domain of the first term's key, terminating ones included."""
        state = self.subject.state
        per_node = state.counts_by_node(np.array(self.groups, np.int64), terminating=True)
        counts = np.zeros(len(self.topology.domains), np.int64)
        labelled = self.topology.domain_of >= 0
        np.add.at(counts, self.topology.domain_of[labelled], per_node[labelled])
        return counts

    @property
    def _within(self) -> str:
        return self.subject.nodes.within(self.terms[0].topology_key)

    def _taken(self) -> str:
        """`eu-1a and eu-1b`: the domains with such pods, if few and of one key."""
        names = [self.topology.domains[i] for i in np.flatnonzero(self.counts).tolist()]
        return conjoined(names) if len(names) <= NAMED else f"{len(names)} of them"

    @property
    def every_domain(self) -> bool:
        """Whether each domain of the only key has such a pod."""
        keys = {term.topology_key for term in self.terms}
        return len(keys) == 1 and bool(self.counts.all())

    def facts(self) -> Facts:
        """Pods per domain."""
        counts = dict(zip(self.topology.domains, self.counts.tolist(), strict=True))
        shown = {k: v for k, v in counts.items() if v}
        return {"topologyKey": self.terms[0].topology_key, "counts": dict(list(shown.items())[:50])}


@dataclass(frozen=True, eq=False)
class AntiAffinityRule(PodRule):
    """One required anti-affinity term of the pod."""

    index: int

    kind: ClassVar[RuleKind] = "podAntiAffinity"
    leaving: ClassVar[str] = "anti-affinity leaves"
    excluding: ClassVar[str] = "anti-affinity excludes {}"

    @property
    def name(self) -> str:
        """`anti-affinity`."""
        return f"{self.keys} anti-affinity"

    @property
    def part(self) -> tuple[RuleKind, int]:
        """Which term."""
        return self.kind, self.index

    @property
    def to_itself(self) -> bool:
        """Whether the pod's own group is among those it keeps away from."""
        return self.subject.group.index in self.groups

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`Anti-affinity keeps etcd pods out of each other's zone. Every zone has one: ...`."""
        if self.to_itself and self.workloads == [self.subject.workload.name]:
            rule = f"Anti-affinity keeps {self.workloads[0]} pods out of each other's {self.keys}."
        else:
            rule = (
                f"Anti-affinity keeps {self.subject.name} away from {self._who()} {self._within} "
                f"the same {self.keys}."
            )
        return f"{rule} {self._where_they_are()}"

    def _where_they_are(self) -> str:
        if not self.every_domain:
            return f"They run {self._within} {self._taken()}."
        one = "has one" if int(self.counts.max()) == 1 else "has some"
        if len(self.counts) > NAMED:
            return f"Every {self.keys} {one}."
        return f"Every {self.keys} {one}: {', '.join(map(self._with_node, self.topology.domains))}."

    def _with_node(self, domain: str) -> str:
        """`eu-1a (a1)`: where the only one of them runs."""
        per_node = self.subject.state.counts_by_node(
            np.array(self.groups, np.int64), terminating=True
        )
        inside = self.topology.domain_of == self.topology.domains.index(domain)
        names = self.subject.nodes.names(inside & (per_node > 0))
        return domain if len(names) != 1 or names[0] == domain else f"{domain} ({names[0]})"

    def held_against(self, node: int) -> BoolArray:
        """Its pods in the node's domain."""
        return self.subject.running_in(self.topology, node, self.groups)

    def alone(self) -> str:
        """`anti-affinity keeps web-1 out of every zone`."""
        if not self.every_domain:
            return super().alone()
        return f"anti-affinity keeps {self.subject.headline} out of every {self.keys}"

    def few_words(self, left: BoolArray) -> str:
        """`at most 1 per zone, 3 zones`."""
        return f"at most 1 per {self.keys}, {count_of(len(self.counts), self.keys)}"

    def excludes(self, left: BoolArray, there: str) -> str:
        """`at most 1 etcd per zone, and every zone has one`."""
        if there or not self.to_itself or not self.every_domain:
            return super().excludes(left, there)
        name = self.subject.workload.name
        return f"at most 1 {name} per {self.keys}, and every {self.keys} has one"

    def brief(self, left: BoolArray) -> str:
        """`anti-affinity keeps it out of every zone`."""
        where = f"every {self.keys}" if self.every_domain else self._taken()
        return f"anti-affinity keeps it out of {where}"

    def where(self, left: BoolArray) -> FieldPath:
        """The field without its longest word."""
        return FieldPath("spec.affinity.podAntiAffinity...", self.index)

    def cell(self, node: int) -> str:
        """`anti-affinity, 1 in eu-1a`."""
        domain = int(self.topology.domain_of[node])
        return f"{int(self.counts[domain])} in {self.topology.domains[domain]}"


@dataclass(frozen=True, eq=False)
class OthersRule(PodRule):
    """Required anti-affinity of running pods against this one."""

    kind: ClassVar[RuleKind] = "podAntiAffinityOfOthers"
    name: ClassVar[str] = "anti-affinity of others"
    changeable: ClassVar[int] = 2
    leaving: ClassVar[str] = "anti-affinity of others leaves"
    excluding: ClassVar[str] = "anti-affinity of others excludes {}"

    @property
    def object(self) -> str:
        """Whose rule it is."""
        return ", ".join(self.workloads[:NAMED])

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`Anti-affinity of cache pods keeps web-1 out of their zone: ...`."""
        return (
            f"Anti-affinity of {self._who()} keeps {self.subject.name} out of their {self.keys}; "
            f"they run {self._within} {self._taken()}."
        )

    def brief(self, left: BoolArray) -> str:
        """`cache pods keep it away`."""
        return f"anti-affinity of {self._who()} keeps it out"

    def cell(self, node: int) -> str:
        """`anti-affinity of cache`."""
        return f"of {named_or_counted(self.workloads, 'workload')}"

    def where(self, left: BoolArray) -> FieldPath:
        """Their field, not the pod's."""
        return FieldPath(f"podAntiAffinity of {named_or_counted(self.workloads, 'workload')}")


@dataclass(frozen=True, eq=False)
class NearRule(PodRule):
    """Required pod affinity: all terms are one fact, for one pod has to match them all."""

    kind: ClassVar[RuleKind] = "podAffinity"
    name: ClassVar[str] = "pod affinity"
    leaving: ClassVar[str] = "pod affinity leaves"

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`Pod affinity wants web-1 in a zone with ... pods; they run in eu-1a.`"""
        wanted = conjoined([selector_words(term.label_selector) for term in self.terms])
        running = int(self.counts.sum())
        if not self.topology.domains:
            rest = f"no node has the label {self.terms[0].topology_key}"
        elif not running:
            rest = "no such pod runs"
        else:
            rest = f"{count_of(running, 'such pod')}, {self._within} {self._taken()}"
        return (
            f"Pod affinity wants {self.subject.name} in the {self.keys} of pods with {wanted}: "
            f"{rest}."
        )

    def excludes(self, left: BoolArray, there: str) -> str:
        """`no pod that it has to be near runs there`."""
        return f"no pod that it has to be near runs{there or ' where it may go'}"

    def brief(self, left: BoolArray) -> str:
        """`pod affinity allows eu-1a`."""
        return "pod affinity allows " + (self._taken() or "no node")

    def cell(self, node: int) -> str:
        """`no mate in its zone`."""
        return f"no mate in its {self.keys}"


def selector_words(selector: LabelSelector | None) -> str:
    """`app=web, tier in a, b`; the two selectors that surprise are named."""
    if selector is None:
        return "no selector, which matches nothing"
    if selector.is_empty:
        return "any labels"
    parts = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for e in selector.match_expressions:
        values = ", ".join(e.values)
        parts.append(
            {"In": f"{e.key} in {values}", "NotIn": f"{e.key} not in {values}"}.get(
                e.operator, f"{'no ' if e.operator == 'DoesNotExist' else ''}{e.key}"
            )
        )
    return ", ".join(parts)


def find(subject: Subject) -> list[Rule]:
    """The pod's affinity, each of its anti-affinity terms, and the terms of others."""
    plugins = [p for p in subject.profile.filters if isinstance(p, InterPodAffinity)]
    if not plugins:
        return []
    spec = subject.group.spec.affinity
    near, apart = spec.pod_affinity.required, spec.pod_anti_affinity.required
    found: list[Rule] = []
    if near:
        alone = Affinity(pod_affinity=spec.pod_affinity)
        mask = _refused(plugins[0], subject, alone, REASON_AFFINITY)
        groups = frozenset.intersection(*(matched(subject, term) for term in near))
        found.append(NearRule(subject, NEAR_FIELD, mask, near, tuple(sorted(groups))))
    for index, term in enumerate(apart):
        alone = Affinity(pod_anti_affinity=PodAffinity(required=(term,)))
        mask = _refused(plugins[0], subject, alone, REASON_ANTI_AFFINITY)
        groups = matched(subject, term)
        field = f"{ANTI_FIELD}[{index}]"
        found.append(AntiAffinityRule(subject, field, mask, (term,), tuple(sorted(groups)), index))
    existing = _refused(plugins[0], subject, Affinity(), REASON_EXISTING)
    if existing.any():
        running = set(subject.cluster.group_of[subject.state.node_of >= 0].tolist())
        live = [(g, term) for g, term in terms_of_others(subject) if g.index in running]
        terms = tuple({id(term): term for _, term in live}.values())
        groups = frozenset(group.index for group, _ in live)
        found.append(OthersRule(subject, ANTI_FIELD, existing, terms, tuple(sorted(groups))))
    return found


def _refused(
    plugin: InterPodAffinity, subject: Subject, affinity: Affinity, reason: str
) -> BoolArray:
    """Nodes that the plugin refuses for this reason when the pod has these terms alone."""
    group = _with_affinity(subject.group, affinity)
    result = plugin.pre_filter(subject.state, group).filter
    size = subject.nodes.total
    if result is None:
        return np.zeros(size, np.bool_)
    verdicts = result.verdicts()
    meant = [v for v in np.unique(verdicts).tolist() if v and reason in result.status(v).reasons]
    return np.isin(verdicts, meant)


def _with_affinity(group: PodGroup, affinity: Affinity) -> PodGroup:
    return replace(group, spec=group.spec.replace(affinity=affinity))


def matched(subject: Subject, term: PodAffinityTerm) -> frozenset[int]:
    """The groups that a term of the pod is about."""
    cluster = subject.cluster
    scope = TermScope.of(term, subject.group.namespace)
    namespaces = scope.among(cluster.group_index.namespaces, cluster.namespaces)
    return frozenset(cluster.group_index.matching(term.label_selector, namespaces).tolist())


def terms_of_others(subject: Subject) -> Iterator[tuple[PodGroup, PodAffinityTerm]]:
    """Required anti-affinity against the pod, with the groups that carry it."""
    cluster, group = subject.cluster, subject.group
    labels = cluster.namespaces.get(group.namespace, {})
    for carried in subject.state.carried_terms.about(group, labels):
        if carried.apart and carried.weight is None:
            yield cluster.groups[carried.owner], carried.term
