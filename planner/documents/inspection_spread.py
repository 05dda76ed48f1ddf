"""The hard spread constraints that running pods break."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from planner.cluster.snapshot import Cluster
from planner.cluster.spread import (
    SpreadConstraint,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    minimum,
)
from planner.cluster.topology import IntArray
from planner_models.inspection import DomainCount, SpreadInspection, SpreadViolation, WorkloadName


def inspect_spread(cluster: Cluster, groups: Collection[int] | None = None) -> SpreadInspection:
    """All violations, by workload and topology key; of some groups, of the rules that they have."""
    spreads, pods = hard_constraints(cluster), counted_pods(cluster)
    if groups is not None:
        spreads = tuple(s for s in spreads if any(c.group in groups for c in s.carriers))
    counted = ((spread, domain_counts(pods, spread)) for spread in spreads)
    violations = sorted(
        (_violation(cluster, s, counts) for s, counts in counted if excess(counts, s).any()),
        key=_order,
    )
    return SpreadInspection(
        constraints=len(spreads),
        excess=sum(violation.excess for violation in violations),
        violations=tuple(violations),
    )


def _order(violation: SpreadViolation) -> tuple[object, ...]:
    names = tuple((w.namespace, w.kind, w.name) for w in violation.workloads)
    return (names, violation.topology_key, violation.field, violation.max_skew)


def _violation(cluster: Cluster, spread: SpreadConstraint, counts: IntArray) -> SpreadViolation:
    above = excess(counts, spread)
    return SpreadViolation(
        workloads=tuple(_workloads(cluster, spread)),
        field=f"spec.topologySpreadConstraints[{spread.carriers[0].index}]",
        topology_key=spread.constraint.topology_key,
        max_skew=spread.constraint.max_skew,
        min_domains=spread.constraint.min_domains,
        minimum=minimum(counts, spread),
        domains=tuple(
            DomainCount(
                domain=spread.scope.topology.domains[d],
                count=int(counts[d]),
                excess=int(above[d]),
            )
            for d in np.flatnonzero(spread.scope.domains)
        ),
        excess=int(above.sum()),
    )


def _workloads(cluster: Cluster, spread: SpreadConstraint) -> Iterable[WorkloadName]:
    for ref in sorted({cluster.workloads[carrier.group] for carrier in spread.carriers}):
        yield WorkloadName(namespace=ref.namespace, kind=ref.kind, name=ref.name)
