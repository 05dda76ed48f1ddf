"""Whether a final state is admissible, judged pod by pod by code that is no part of the solver.

Both read the same snapshot, `planner.cluster`, with its node rules and spread counts.

The final counts become a placement of single pods (who stays, who moves, who lands). Then, over all
pods: capacity, node affinity, cordons and taints for everything that lands, and for each hard
spread constraint of a landing pod its domain's count against the minimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import NodeRules
from planner.cluster.spread import (
    CountedPods,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    minimum,
)
from planner.cluster.topology import IntArray


@dataclass(frozen=True)
class Verdict:
    """What a placement amounts to, and what is wrong with it."""

    placed: int
    excess: int
    moves: int
    problems: tuple[str, ...]


def placement_of(
    cluster: Cluster,
    counts: Mapping[tuple[int, int], int],
    movable: Mapping[tuple[int, int], tuple[int, ...]],
    waiting: Mapping[int, tuple[int, ...]],
) -> IntArray:
    """`node_of` after the change: as many as possible stay, the others fill what is left."""
    node_of = cluster.node_of.copy()
    hand: dict[int, list[int]] = {g: list(pods) for g, pods in waiting.items()}
    for (g, n), pods in movable.items():
        gone = pods[counts.get((g, n), 0) :]
        node_of[list(gone)] = -1
        hand.setdefault(g, []).extend(gone)
    for (g, n), count in sorted(counts.items()):
        for _ in range(count - len(movable.get((g, n), ()))):
            node_of[hand[g].pop()] = n
    return node_of


def judge(cluster: Cluster, node_of: IntArray) -> Verdict:
    """Everything that a final state has to keep."""
    after = cluster.with_placement(dict(enumerate(node_of.tolist())))
    before = cluster.node_of
    problems: list[str] = []
    ran = before >= 0
    if (node_of[ran] < 0).any():
        problems.append(f"{int((node_of[ran] < 0).sum())} running pods lost their node")
    landed = np.flatnonzero((node_of >= 0) & (node_of != before))
    problems += _capacity(cluster, after, landed)
    problems += _static(cluster, node_of, landed)
    total, broken = _spread(after, landed)
    return Verdict(
        placed=int(((before == -1) & (node_of >= 0)).sum()),
        excess=total,
        moves=int((ran & (node_of != before)).sum()),
        problems=(*problems, *broken),
    )


def _capacity(cluster: Cluster, after: Cluster, landed: IntArray) -> list[str]:
    used, room = after.used, cluster.resources.allocatable
    worse = (used > np.maximum(room, cluster.used)).any(axis=1)
    asked = np.zeros(used.shape, np.bool_)
    np.logical_or.at(
        asked, after.node_of[landed], cluster.resources.requests[cluster.group_of[landed]] > 0
    )
    over = worse | (asked & (used > room)).any(axis=1)
    return [f"{cluster.nodes[n].name} is over its capacity" for n in np.flatnonzero(over)]


def _static(cluster: Cluster, node_of: IntArray, landed: IntArray) -> list[str]:
    rules = NodeRules(cluster)
    cordoned = np.array([node.spec.unschedulable for node in cluster.nodes])
    found = []
    for g in np.unique(cluster.group_of[landed]).tolist():
        spec = cluster.groups[g].spec
        allowed = rules.affinity(spec) & rules.taints(spec.tolerations) & ~cordoned
        nodes = node_of[landed[cluster.group_of[landed] == g]]
        wrong = nodes[~allowed[nodes]]
        found += [f"group {g} may not be on {cluster.nodes[n].name}" for n in wrong]
    return found


def _spread(after: Cluster, landed: IntArray) -> tuple[int, list[str]]:
    pods: CountedPods = counted_pods(after)
    landings: dict[int, set[int]] = {}
    for pod in landed.tolist():
        landings.setdefault(int(after.group_of[pod]), set()).add(int(after.node_of[pod]))
    total, found = 0, []
    for spread in hard_constraints(after):
        counts = domain_counts(pods, spread)
        total += int(excess(counts, spread).sum())
        high = minimum(counts, spread) + spread.constraint.max_skew
        for carrier in spread.carriers:
            for node in landings.get(carrier.group, ()):
                domain = int(spread.scope.topology.domain_of[node])
                if domain < 0 or counts[domain] > high:
                    found.append(f"group {carrier.group} lands in an overfull domain {domain}")
    return total, found
