"""What new nodes change for those who did not ask for them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import counted_pods, domain_counts, excess, hard_constraints
from planner_models.node import ZONE


@dataclass(frozen=True)
class SideEffects:
    """Zones that had no node, and workloads that are over the limits of their hard spread then.

    `excess` pods are over these limits, all of them together.
    """

    new_zones: tuple[str, ...] = ()
    uneven: tuple[WorkloadRef, ...] = ()
    excess: int = 0


def side_effects(before: Cluster, after: Cluster) -> SideEffects:
    """What is uneven only with the new nodes."""
    known = set(before.topology(ZONE).domains)
    now, then = _excess(before), _excess(after)
    grown = {ref: n for ref, n in then.items() if n > now.get(ref, 0)}
    return SideEffects(
        tuple(zone for zone in after.topology(ZONE).domains if zone not in known),
        tuple(sorted(grown)),
        sum(grown.values()),
    )


def _excess(cluster: Cluster) -> dict[WorkloadRef, int]:
    """Pods over the limit, by the workload that has the rule."""
    counted = counted_pods(cluster)
    found: dict[WorkloadRef, int] = {}
    for each in hard_constraints(cluster):
        over = int(excess(domain_counts(counted, each), each).sum())
        ref = cluster.workloads[each.carriers[0].group]
        found[ref] = found.get(ref, 0) + over
    return found
