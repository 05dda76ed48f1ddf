"""A pod spec that carries some of its rules and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner_models.affinity import Affinity, NodeAffinity, PodAffinity
from planner_models.diagnosis import RuleKind
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import PodSpec
from planner_models.taints import Taint, Toleration


@dataclass(frozen=True)
class Kept:
    """The kinds of rules that stay; of spread constraints and anti-affinity terms, which ones."""

    kinds: frozenset[RuleKind]
    spreads: frozenset[int] = frozenset()
    apart: frozenset[int] = frozenset()


def spec_with_only(spec: PodSpec, kept: Kept, tolerations: Sequence[Toleration]) -> PodSpec:
    """The spec without the other rules; `tolerations` answer to every taint there is."""
    affinity = spec.affinity
    near = affinity.pod_affinity if "podAffinity" in kept.kinds else PodAffinity()
    nodes = affinity.node_affinity if "nodeAffinity" in kept.kinds else NodeAffinity()
    required = affinity.pod_anti_affinity.required
    return spec.replace(
        topology_spread_constraints=tuple(
            c for i, c in enumerate(spec.topology_spread_constraints) if i in kept.spreads
        ),
        affinity=Affinity(
            node_affinity=nodes,
            pod_affinity=near,
            pod_anti_affinity=PodAffinity(
                required=tuple(term for i, term in enumerate(required) if i in kept.apart)
            ),
        ),
        node_selector=spec.node_selector if "nodeAffinity" in kept.kinds else {},
        tolerations=(
            spec.tolerations if "taints" in kept.kinds else (*spec.tolerations, *tolerations)
        ),
    )


def tolerating_all(taint_sets: Iterable[Sequence[Taint]]) -> list[Toleration]:
    """Answers to every taint but the cordon's, which is a rule of its own."""
    keys = {taint.key for taints in taint_sets for taint in taints} - {UNSCHEDULABLE_TAINT}
    return [Toleration(key=key, operator="Exists") for key in sorted(keys)]
