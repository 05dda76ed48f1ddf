"""PodTopologySpread in words: which domains a constraint leaves to the pod, and the counts why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import effective_selector
from planner.cluster.topology import IntArray
from planner.explain.rules.counted_spread import CountedSpread, matching_groups
from planner.explain.rules.rule import NARROWS, Facts, FieldPath, Rule, of_type
from planner.explain.rules.volumes import VolumeRule
from planner.explain.rules.volumes import find as find_volumes
from planner.explain.situation.lookalikes import lookalike, meant_key
from planner.explain.situation.subject import Subject
from planner.scheduler.framework.default_selector import default_selector
from planner.words import NAMED, capitalised, conjoined, count_of, named_or_counted, short_key
from planner_models.diagnosis import RuleKind
from planner_models.notice import Notice
from planner_models.topology_spread import TopologySpreadConstraint

COUNTS_SHOWN = 50
"""With more domains the document says how far the counts are apart."""
OWN_FIELD = "spec.topologySpreadConstraints"
DEFAULTS_FIELD = "pluginConfig.PodTopologySpread.defaultConstraints"


@dataclass(frozen=True, eq=False)
class SpreadRule(CountedSpread):
    """One hard constraint, in words."""

    kind: ClassVar[RuleKind] = "topologySpread"
    phase: ClassVar[int] = NARROWS

    @property
    def name(self) -> str:
        """`zone spread`."""
        return f"{self.key} spread"

    # Its words in the long explanation

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`zone lets web go to eu-1c only: ...`."""
        who = self.subject.name if first else "it"
        if not self.eligible.any():
            return f"{self.key} spread has no domain: no node takes part with the label {self.key}."
        if not (self.open_domains & self.eligible).any():
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
            shut = self.counts[~self.open_domains & self.eligible]
            highest = int(self.counts[self.open_domains & self.eligible].max(initial=0))
            most = count_of(highest, "matching pod")
            return f"these have at most {most}, the others {_range(shut)}"
        parts: list[str] = []
        for count in sorted({int(c) for c in self.counts[self.eligible]}, reverse=True):
            names = self.names_of((self.counts == count) & self.eligible)
            each = "" if len(names) == 1 else " each"
            if parts:
                parts.append(f"{conjoined(names)} {count}{each}")
            else:
                verb = "has" if len(names) == 1 else "have"
                number = count_of(count, "matching pod")
                parts.append(f"{conjoined(names)} {verb} {number}{each}")
        return ", ".join(parts)

    def _one_more(self) -> str:
        shut = ~self.open_domains & self.eligible
        skew = _range(self.skew[shut])
        limit = f"(maxSkew {self.constraint.max_skew})"
        names = self.names_of(shut)
        text = conjoined(names, "or") if len(names) <= NAMED else "any of these"
        if not self.self_match:
            there = "there" if len(names) > NAMED else f"in {text}"
            return f"the skew {there} is {skew} {limit}; the pod itself does not match"
        within = self.subject.nodes.within(self.constraint.topology_key)
        return f"one more {within} {text} would make the skew {skew} {limit}"

    def _below_min_domains(self) -> str:
        names = self.names_of(self.eligible)
        listed = f" ({', '.join(names)})" if len(names) <= NAMED else ""
        plural = "every one of them" if len(names) > 1 else "it"
        return (
            f"{self.key} has {count_of(len(names), 'domain')}{listed}, fewer than minDomains "
            f"{self.constraint.min_domains}. Then kube-scheduler takes the minimum as 0, and "
            f"{plural} may hold at most {self.constraint.max_skew} (maxSkew). "
            f"{'Each has' if len(names) > 1 else 'It has'} {_range(self.counts[self.eligible])}."
        )

    def remark(self) -> str:
        """Domains count although the pod's volumes can't reach them."""
        for volume in find_volumes(self.subject):
            if (self.eligible & self.open_domains & ~self.domains_of(volume.allowed)).any():
                return f" {capitalised(self.key)}s that the volume can't reach count all the same."
        return ""

    def located(self, nodes: BoolArray) -> str:
        """`node2 is in zoneA.`"""
        domains = np.unique(self.topology.domain_of[nodes])
        if not len(domains) or domains[0] < 0 or len(domains) > 2 or int(nodes.sum()) > NAMED:
            return ""
        names = conjoined([self.topology.domains[i] for i in domains.tolist()])
        verb = "is" if int(nodes.sum()) == 1 else "are"
        within = self.subject.nodes.within(self.constraint.topology_key)
        return f"{self.subject.nodes.describe(nodes)} {verb} {within} {names}."

    def counts_all_the_same(self, tainted: BoolArray) -> str:
        """A tainted domain is a domain all the same, unless nodeTaintsPolicy says otherwise."""
        counted = (self.eligible & self.domains_of(self.allowed & tainted)).any()
        if self.constraint.node_taints_policy != "Ignore" or not counted:
            return ""
        return (
            f"They count as a {self.key} all the same, because nodeTaintsPolicy is "
            "Ignore (the default)."
        )

    def bypassed(self) -> str:
        """`2 of 4 nodes are bypassed, because they lack the label zone: ...`."""
        nodes, missing = self.subject.cluster.nodes, np.flatnonzero(self.missing).tolist()
        if not missing:
            return ""
        key, typos = self.constraint.topology_key, self.mislabelled
        plain = [nodes[i].name for i in missing if i not in typos]
        parts = [named_or_counted(plain, "node")] if plain else []
        question = ""
        if typos:
            index, typo = next(iter(typos.items()))
            value = nodes[index].labels[typo]
            more = f" and {len(typos) - 1} more like it" if len(typos) > 1 else ""
            parts.append(f"{nodes[index].name}{more}, which has {typo}={value}")
            question = f" Did you mean {key}={value}?"
        elif self.meant_key is not None:
            question = f" Did you mean the topologyKey {self.meant_key}?"
        verb, they = ("is", "it lacks") if len(missing) == 1 else ("are", "they lack")
        return (
            f"{len(missing)} of {len(nodes)} nodes {verb} bypassed, because {they} the label "
            f"{key}: {', and '.join(parts)}.{question}"
        )

    @cached_property
    def meant_key(self) -> str | None:
        """What the topology key was meant to be, if it is mistyped."""
        return meant_key(self.subject.cluster.nodes, self.constraint.topology_key)

    @cached_property
    def mislabelled(self) -> dict[int, str]:
        """Nodes that have, instead of the label, one that looks like it; with that one.

        Keys that nodes have beside the topology key mean something else; and if it is the topology
        key that is mistyped, the nodes are right.
        """
        if self.meant_key is not None:
            return {}
        nodes = self.subject.cluster.nodes
        labelled = np.flatnonzero(~self.missing).tolist()[:100]
        usual = frozenset(key for i in labelled for key in nodes[i].labels)
        wanted = self.constraint.topology_key
        found = (
            (i, lookalike(nodes[i].labels, wanted, usual)) for i in np.flatnonzero(self.missing)
        )
        return {int(i): key for i, key in found if key is not None}

    # Its words in headlines and single sentences

    def alone(self) -> str:
        """`web wants 3 zones (minDomains) and there are 2, all at their limit`."""
        number = int(self.eligible.sum())
        if not number:
            return f"no node takes part in {self.name}, so none takes {self.subject.headline}"
        if not self.few_domains:
            return super().alone()
        limit = "all at their limit" if number > 1 else "at its limit"
        are = "there are" if number > 1 else "there is"
        return (
            f"{self.subject.short} wants {count_of(self.constraint.min_domains or 1, self.key)} "
            f"(minDomains) and {are} {number}, {limit}"
        )

    def brief(self, left: BoolArray) -> str:
        """`zone spread allows eu-1c only`."""
        names = self.names_of(self.open_domains & self.eligible)
        where = conjoined(names) if len(names) <= 3 else f"{len(names)} domains"
        return f"{self.name} allows {where} only" if names else f"{self.name} allows no domain"

    def leaves(self, left: BoolArray) -> str:
        """`only eu-1c is allowed`."""
        names = self.open_names(left)
        verb = "is" if len(names) == 1 else "are"
        return f"only {named_or_counted(names, 'domain')} {verb} allowed"

    def excludes(self, left: BoolArray, there: str) -> str:
        """`zone spread leaves no node there`."""
        return f"{self.name} leaves no node{there}"

    # Tables and the document

    def cell(self, node: int) -> str:
        """`3 - 1 > 1`: count with the pod, minimum, maxSkew."""
        domain = int(self.topology.domain_of[node])
        if domain < 0:
            return f"no label {self.key}"
        at_limit = int(self.skew[domain]) == self.constraint.max_skew
        sign = ">" if self.blocked[node] else "=" if at_limit else "<"
        new = int(self.counts[domain]) + self.self_match
        return f"{new} - {self.minimum} {sign} {self.constraint.max_skew}"

    def verdict(self, node: int) -> str:
        """Its numbers, for nodes that pass as well."""
        return f"{'no' if self.blocked[node] else 'ok'}   {self.cell(node)}"

    def columns(self) -> Mapping[str, Sequence[str]]:
        """Each node's domain."""
        key = self.constraint.topology_key
        if self.subject.nodes.per_node(key):
            return {}
        return {self.key.upper(): [n.labels.get(key, "-") for n in self.subject.cluster.nodes]}

    def reason(self, nodes: BoolArray) -> str:
        """`zone spread, 41 - 39 > 1`, if these nodes share the numbers."""
        cells = {self.cell(i) for i in np.flatnonzero(nodes).tolist()[:1000]}
        return f"{self.name}, {next(iter(cells))}" if len(cells) == 1 else self.name

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
            found["allowedDomains"] = self.names_of(self.open_domains)
        else:
            found["lowest"], found["highest"] = int(self.counts.min()), int(self.counts.max())
        return found  # type: ignore[return-value] # every value above is a JSON value

    def where(self, left: BoolArray) -> FieldPath:
        """The field `minDomains` itself, where it alone decides."""
        if self.few_domains and not self.open_domains.any():
            return FieldPath(f"{self.field}.minDomains")
        return FieldPath(OWN_FIELD if self.in_spec else DEFAULTS_FIELD, self.index)

    def hints(self, rules: Sequence[Rule]) -> Iterator[Notice]:
        """What is bypassed or not counted, although one might think so."""
        if self.missing.any():
            names = self.subject.nodes.names(self.missing)[:NAMED]
            yield Notice(code="bypassedNodes", text=self.bypassed(), objects=tuple(names))
        if self.constraint.match_label_keys:
            plain = self.constraint.replace(match_label_keys=())
            everybody = matching_groups(self.subject, plain).tolist()
            if set(everybody) - set(self.counted_groups):
                keys = conjoined(list(self.constraint.match_label_keys))
                text = f"matchLabelKeys {keys} makes {self.name} count each revision alone"
                yield Notice(code="matchLabelKeys", text=text)
        counted = self.subject.running_of(self.counted_groups)
        leaving = int((counted & self.subject.state.terminating).sum())
        if leaving:
            are = "is" if leaving == 1 else "are"
            text = f"{count_of(leaving, 'terminating pod')} {are} not counted for {self.name}"
            yield Notice(code="terminatingNotCounted", text=text)
        if self.few_domains and self.constraint.min_domains:
            text = (
                f"minDomains is {self.constraint.min_domains} and {self.key} has "
                f"{count_of(int(self.eligible.sum()), 'domain')}: the minimum is taken as 0"
            )
            yield Notice(code="minDomains", text=text)
        yield from self._partly_tainted()
        for volume in of_type(rules, VolumeRule):
            away = self.names_of(self.eligible & ~self.domains_of(volume.allowed))
            if volume.reaches_only and away:
                text = (
                    f"the volume of {conjoined(volume.claims)} can't reach "
                    f"{conjoined(away[:NAMED])}, which {short_key(self.key)} spread counts"
                )
                yield Notice(code="volumeAgainstSpread", text=text)

    def _partly_tainted(self) -> Iterator[Notice]:
        """Only some nodes of a domain are tainted, so it counts although it is half closed."""
        if self.constraint.node_taints_policy != "Honor":
            return
        open_nodes = self.subject.state.node_rules.taints(self.subject.group.spec.tolerations)
        mixed = self.names_of(self.domains_of(open_nodes) & self.domains_of(~open_nodes))
        if mixed:
            text = (
                f"{conjoined(mixed[:NAMED])} counts for {self.name} although some of its nodes "
                "have taints that the pod does not tolerate; pods on those nodes don't count"
            )
            yield Notice(code="partlyTainted", text=text)


def _range(numbers: IntArray) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"


def find(subject: Subject) -> list[Rule]:
    """The pod's hard constraints, or the profile's where it has none."""
    constraints = _hard(subject)
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


def _rule(
    subject: Subject, index: int, constraint: TopologySpreadConstraint, takes_part: BoolArray
) -> SpreadRule:
    state, group = subject.state, subject.group
    eligible = takes_part.copy()
    if constraint.node_affinity_policy == "Honor":
        eligible &= state.node_rules.affinity(group.spec)
    if constraint.node_taints_policy == "Honor":
        eligible &= state.node_rules.taints(group.spec.tolerations)
    topology = state.cluster.topology(constraint.topology_key)
    per_node = state.counts_by_node(matching_groups(subject, constraint), terminating=False)
    counts = np.zeros(len(topology.domains), np.int64)
    np.add.at(counts, topology.domain_of[eligible], per_node[eligible])
    domains = np.zeros(len(topology.domains), np.bool_)
    domains[topology.domain_of[eligible]] = True
    selector = effective_selector(constraint, group)
    own = bool(group.spec.topology_spread_constraints)
    rule = SpreadRule(
        subject=subject,
        field=f"{OWN_FIELD if own else DEFAULTS_FIELD}[{index}]",
        blocked=takes_part,
        constraint=constraint,
        index=index,
        topology=topology,
        counts=counts,
        eligible=domains,
        self_match=int(selector is not None and selector.matches(group.labels)),
    )
    return replace(rule, blocked=np.append(~rule.open_domains, True)[topology.domain_of])
