"""Confirms conflicts on copies of the pod that carry only some of its rules.

Dropping a rule from a spec does more than making its own refusals vanish: a spread constraint also
decides which nodes the others count (they need the keys of all), and node affinity and tolerations
decide which domains take part. A conflict is called minimal only if it is one in both senses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from models.affinity import Affinity, NodeAffinity, PodAffinity
from models.diagnosis import RuleKind
from models.node import UNSCHEDULABLE_TAINT
from models.pod import PodSpec
from models.taints import Taint, Toleration
from planner.explain.rules import rules_of
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.subject import Subject

_NOT_IN_SPEC: frozenset[RuleKind] = frozenset(
    ("capacity", "unschedulable", "podAntiAffinityOfOthers", "nodeName", "ports", "volumes")
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


def _leaves_none(subject: Subject, kept: Collection[Rule]) -> bool:
    kinds = {rule.kind for rule in kept}
    refused = np.zeros(subject.places.total, np.bool_)
    for rule in rules_of(_with_only(subject, kept)):
        if rule.kind not in _NOT_IN_SPEC or rule.kind in kinds:
            refused |= rule.blocked
    return bool(refused.all())


def _with_only(subject: Subject, kept: Collection[Rule]) -> Subject:
    """The pod with these rules of its own and no others."""
    other = replace(subject)
    other.__dict__["group"] = replace(subject.group, spec=_spec_with_only(subject, kept))
    return other


def _spec_with_only(subject: Subject, kept: Collection[Rule]) -> PodSpec:
    spec = subject.group.spec
    kinds = {rule.kind for rule in kept}
    spreads = {rule.index for rule in kept if isinstance(rule, SpreadRule)}
    apart = {rule.index for rule in kept if isinstance(rule, AntiAffinityRule)}
    affinity = spec.affinity
    near = affinity.pod_affinity if "podAffinity" in kinds else PodAffinity()
    nodes = affinity.node_affinity if "nodeAffinity" in kinds else NodeAffinity()
    required = affinity.pod_anti_affinity.required
    return spec.replace(
        topology_spread_constraints=tuple(
            c for i, c in enumerate(spec.topology_spread_constraints) if i in spreads
        ),
        affinity=Affinity(
            node_affinity=nodes,
            pod_affinity=near,
            pod_anti_affinity=PodAffinity(
                required=tuple(term for i, term in enumerate(required) if i in apart)
            ),
        ),
        node_selector=spec.node_selector if "nodeAffinity" in kinds else {},
        tolerations=(
            spec.tolerations
            if "taints" in kinds
            else (*spec.tolerations, *_tolerating_all(subject))
        ),
    )


def _tolerating_all(subject: Subject) -> list[Toleration]:
    """Answers to every taint but the cordon's, which is a rule of its own."""
    taints: set[Taint] = {
        taint
        for taints in subject.state.taint_sets[0]
        for taint in taints
        if taint.key != UNSCHEDULABLE_TAINT
    }
    return [
        Toleration(key=key, operator="Exists") for key in sorted({taint.key for taint in taints})
    ]
