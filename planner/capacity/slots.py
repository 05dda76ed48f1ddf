"""How many more pods of one kind fit at most while running pods stay, counted node by node.

A node holds what its free room is enough for. Where a hard spread constraint counts the pods
themselves, the last one that comes to a domain finds at most `minimum + maxSkew - 1` there; the
minimum only grows while pods come, and no domain ever has more than it has now and its nodes can
hold. So no domain gets beyond the smallest of these numbers and maxSkew: that holds for any choice
of nodes, in any order. Other rules may allow less, never more.
"""

from __future__ import annotations

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import (
    SpreadConstraint,
    counts_by_domain,
    hard_constraints_of,
    nodes_counted_for,
)
from planner.cluster.topology import IntArray

ENOUGH = 2**40
"""More pods than anybody counts: for a node where nothing that they ask for is limited."""


def most_slots(cluster: Cluster, usable: BoolArray, group: int) -> int:
    """So many more pods of the group on these nodes, or fewer.

    Constraints over hosts tell how many each node takes; each of the others tells a sum.
    """
    slots = np.where(usable, _by_room(cluster, group), 0)
    constraints = [
        each
        for each in hard_constraints_of(cluster, np.array([group]))
        if any(carrier.self_match for carrier in each.carriers)
    ]
    for each in constraints:
        if each.scope.topology.single:
            domain_of = each.scope.topology.domain_of
            slots = np.where(domain_of >= 0, _by_domain(cluster, each, slots)[domain_of], 0)
    sums = [int(_by_domain(cluster, each, slots).sum()) for each in constraints]
    return min(ENOUGH, int(slots.sum()), *sums)


def _by_room(cluster: Cluster, group: int) -> IntArray:
    """What is free on each node, in whole pods."""
    request = cluster.resources.requests[group]
    asked = np.flatnonzero(request)
    if not len(asked):
        return np.full(len(cluster.nodes), ENOUGH // max(1, len(cluster.nodes)), np.int64)
    free = (cluster.resources.allocatable - cluster.used)[:, asked].clip(0)
    found: IntArray = (free // request[asked]).min(axis=1)
    return found


def _by_domain(cluster: Cluster, spread: SpreadConstraint, slots: IntArray) -> IntArray:
    """How many more each domain gets at most; on nodes without the key there are none."""
    topology, takes_part = spread.scope.topology, spread.scope.domains
    has_key = topology.domain_of >= 0
    more = np.zeros(len(topology.domains), np.int64)
    np.add.at(more, topology.domain_of[has_key], slots[has_key])
    if not takes_part.any():
        return more
    there = counts_by_domain(nodes_counted_for(cluster, spread), spread)
    least = 0 if spread.too_few_domains else int((there + more)[takes_part].min())
    room = (least + spread.constraint.max_skew - there).clip(0)
    return np.where(takes_part, np.minimum(more, room), more)
