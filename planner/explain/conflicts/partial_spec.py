"""A pod spec that carries some of its rules and no others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from planner_models.affinity import Affinity, NodeAffinity, PodAffinity
from planner_models.diagnosis import RuleKind
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import PodSpec
from planner_models.taints import Taint, Toleration

RulePart = tuple[RuleKind, int]
"""A kind of rule, and which spread constraint or anti-affinity term it is."""


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
