"""Confirms conflicts on copies of the pod that carry only some of its rules.

Dropping a rule from a spec does more than making its own refusals vanish: a spread constraint also
decides which nodes the others count (they need the keys of all), and node affinity and tolerations
decide which domains take part. A conflict is called minimal only if it is one in both senses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from planner.explain.conflicts.only import Kept, spec_with_only, tolerating_all
from planner.explain.rules import rules_of
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject
from planner_models.diagnosis import RuleKind

_NOT_IN_SPEC: frozenset[RuleKind] = frozenset(
    (
        "capacity",
        "unschedulable",
        "podAntiAffinityOfOthers",
        "nodeName",
        "ports",
        "volumes",
        "declaredFeatures",
    )
)
"""Rules that are left out by not asking them: nothing else depends on them."""


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
    refused = np.zeros(subject.places.total, np.bool_)
    for rule in rules_of(_with_only(subject, kept)):
        if rule.kind not in _NOT_IN_SPEC or rule.kind in kinds:
            refused |= rule.blocked
    return bool(refused.all())


def _with_only(subject: Subject, kept: Collection[Rule]) -> Subject:
    """The pod with these rules of its own and no others."""
    rules = Kept(
        kinds=frozenset(rule.kind for rule in kept),
        spreads=frozenset(rule.index for rule in kept if isinstance(rule, SpreadRule)),
        apart=frozenset(rule.index for rule in kept if isinstance(rule, AntiAffinityRule)),
    )
    spec = spec_with_only(subject.group.spec, rules, tolerating_all(subject.state.taint_sets[0]))
    other = replace(subject)
    other.__dict__["group"] = replace(subject.group, spec=spec)
    return other
