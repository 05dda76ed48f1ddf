"""Confirms conflicts on copies of the pod that carry only some of its rules.

Dropping a rule from a spec does more than making its own refusals vanish: a spread constraint also
decides which nodes the others count (they need the keys of all), and node affinity and tolerations
decide which domains take part. A conflict is called minimal only if it is one in both senses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from planner.explain.rules import rules_of
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject
from planner.rules.catalogue import SEPARABLE
from planner_models.affinity import Affinity, NodeAffinity, PodAffinity
from planner_models.diagnosis import RuleKind
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import PodSpec
from planner_models.taints import Taint, Toleration

RulePart = tuple[RuleKind, int]
"""A kind of rule, and which spread constraint or anti-affinity term it is."""


def is_minimal(subject: Subject, conflict: Sequence[Rule]) -> bool:
    """Whether these rules alone leave no node, and without any one of them some node is left."""
    if not _leaves_none(subject, conflict):
        return False
    return not any(
        _leaves_none(subject, [rule for rule in conflict if rule is not spared])
        for spared in conflict
    )


def shrunk(subject: Subject, rules: Sequence[Rule]) -> tuple[Rule, ...] | None:
    """A minimal conflict found by leaving rules out of the spec one by one; None if none is."""
    kept = list(rules)
    if not _leaves_none(subject, kept):
        return None
    for rule in sorted(rules, key=lambda rule: -rule.changeable):
        fewer = [other for other in kept if other is not rule]
        if _leaves_none(subject, fewer):
            kept = fewer
    return tuple(kept) if is_minimal(subject, kept) else None


def _leaves_none(subject: Subject, kept: Collection[Rule]) -> bool:
    kinds = {rule.kind for rule in kept}
    refused = np.zeros(subject.nodes.total, np.bool_)
    for rule in rules_of(_with_only(subject, kept)):
        if rule.kind in SEPARABLE or rule.kind in kinds:
            refused |= rule.blocked
    return bool(refused.all())


def _with_only(subject: Subject, kept: Collection[Rule]) -> Subject:
    """The pod with these rules of its own and no others."""
    parts = {rule.part for rule in kept}
    spec = spec_with_only(subject.group.spec, parts, tolerating_all(subject.state.taint_sets[0]))
    other = replace(subject)
    other.__dict__["group"] = replace(subject.group, spec=spec)
    return other


def spec_with_only(
    spec: PodSpec, kept: Collection[RulePart], tolerations: Sequence[Toleration]
) -> PodSpec:
    """The spec without the other rules; `tolerations` answer to every taint there is."""
    kinds = {kind for kind, _ in kept}
    affinity, by_node = spec.affinity, "nodeAffinity" in kinds
    spreads = enumerate(spec.topology_spread_constraints)
    terms = enumerate(affinity.pod_anti_affinity.required)
    apart = tuple(term for i, term in terms if ("podAntiAffinity", i) in kept)
    return spec.replace(
        topology_spread_constraints=tuple(c for i, c in spreads if ("topologySpread", i) in kept),
        affinity=Affinity(
            node_affinity=affinity.node_affinity if by_node else NodeAffinity(),
            pod_affinity=affinity.pod_affinity if "podAffinity" in kinds else PodAffinity(),
            pod_anti_affinity=PodAffinity(required=apart),
        ),
        node_selector=spec.node_selector if by_node else {},
        tolerations=spec.tolerations if "taints" in kinds else (*spec.tolerations, *tolerations),
    )


def tolerating_all(taint_sets: Iterable[Sequence[Taint]]) -> list[Toleration]:
    """Answers to every taint but the cordon's, which is a rule of its own."""
    keys = {taint.key for taints in taint_sets for taint in taints} - {UNSCHEDULABLE_TAINT}
    return [Toleration(key=key, operator="Exists") for key in sorted(keys)]
