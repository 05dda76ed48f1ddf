"""Why a pod is evicted: the rule that it breaks where it is, with its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.spread import SpreadConstraint, counted_pods, domain_counts, hard_constraints
from planner.documents.broken_rules import reason
from planner.evictions.goals import drains
from planner.replay.violations import Violation
from planner_models.node import HOSTNAME


@dataclass(frozen=True)
class Cause:
    """The kind of rule, absent where a pod only makes room, and the numbers in words."""

    rule: str | None
    text: str


def causes(cluster: Cluster, broken: Iterable[Violation]) -> Mapping[int, Cause]:
    """For each pod that breaks a rule, one of these: nodes to be emptied first, hosts last."""
    spreads = _Spreads(cluster)
    found: dict[int, Cause] = {}
    order = sorted(
        broken,
        key=lambda v: (not drains(cluster, v), v.topology_key == HOSTNAME, -v.excess),
    )
    for violation in order:
        cause = Cause(violation.rule, _text(cluster, violation, spreads))
        for pod in violation.pods:
            found.setdefault(pod, cause)
    return found


def _text(cluster: Cluster, violation: Violation, spreads: _Spreads) -> str:
    if violation.rule == "topologySpread":
        return spreads.text(violation)
    if drains(cluster, violation):
        return f"{violation.domain} is to be emptied"
    return reason(violation)


class _Spreads:
    """`eu-1a 6 of 12, eu-1c 0`: the full domain, all pods, and the emptiest domain."""

    def __init__(self, cluster: Cluster) -> None:
        self._counted = counted_pods(cluster)
        self._by_carrier: dict[tuple[int, int], SpreadConstraint] = {
            (carrier.group, carrier.index): spread
            for spread in hard_constraints(cluster)
            for carrier in spread.carriers
        }

    def text(self, violation: Violation) -> str:
        spread = self._by_carrier[violation.group, violation.index]
        counts = domain_counts(self._counted, spread)
        there = np.flatnonzero(spread.scope.domains)
        least = int(there[np.argmin(counts[there])])
        full = f"{violation.domain} {violation.count} of {int(counts[there].sum())}"
        names = spread.scope.topology.domains
        if spread.too_few_domains:
            return f"{full}, minDomains {spread.constraint.min_domains}: {len(there)} there are"
        return f"{full}, {names[least]} {int(counts[least])}"
