"""How many more pods of one kind fit at most, counted node by node.

A node holds what its free room is enough for. Where a hard spread constraint counts the pods
themselves, the last one that comes to a domain finds at most `minimum + maxSkew - 1` there; the
minimum only grows while pods come, and no domain ever has more than it has now and its nodes can
hold. So no domain gets beyond the smallest of these numbers and maxSkew: that holds for any choice
of nodes, in any order. Other rules may allow less, never more.

Each move of a running pod takes one away from a node: there is room for as many more there as it is
large, and a domain's count is one off. So a few moves make room for few more, wherever they are.
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


def most_slots(cluster: Cluster, usable: BoolArray, group: int, moves: int = 0) -> int:
    """So many more pods of the group on these nodes, or fewer, with so many moves of others.

    Constraints over hosts tell how many each node takes; each of the others tells a sum.
    """
    slots = np.where(usable, _by_room(cluster, group), 0)
    made = _room_made(cluster, usable, group, moves)
    in_all = int(slots.sum()) + made
    constraints = [
        each
        for each in hard_constraints_of(cluster, np.array([group]))
        if any(carrier.self_match for carrier in each.carriers)
    ]
    for each in constraints:
        if each.scope.topology.single:
            domain_of = each.scope.topology.domain_of
            by_host = _by_domain(cluster, each, slots, made, moves)[domain_of]
            slots = np.where(domain_of >= 0, by_host, 0)
    sums = [int(_by_domain(cluster, each, slots, made, moves).sum()) for each in constraints]
    return min(ENOUGH, in_all, *sums)


def _room_made(cluster: Cluster, usable: BoolArray, group: int, moves: int) -> int:
    """More pods than these find no room because so many others have left."""
    request = cluster.resources.requests[group]
    asked = np.flatnonzero(request)
    if not moves or not len(asked):
        return 0
    leaving = cluster.running[usable[cluster.node_of[cluster.running]]]
    sizes = -(-cluster.resources.requests[:, asked] // request[asked])
    largest = np.sort(sizes.max(axis=1)[cluster.group_of[leaving]])[::-1]
    return int(largest[:moves].sum())


def _by_room(cluster: Cluster, group: int) -> IntArray:
    """What is free on each node, in whole pods."""
    request = cluster.resources.requests[group]
    asked = np.flatnonzero(request)
    if not len(asked):
        return np.full(len(cluster.nodes), ENOUGH // max(1, len(cluster.nodes)), np.int64)
    free = (cluster.resources.allocatable - cluster.used)[:, asked].clip(0)
    found: IntArray = (free // request[asked]).min(axis=1)
    return found


def _by_domain(
    cluster: Cluster, spread: SpreadConstraint, slots: IntArray, made: int, moves: int
) -> IntArray:
    """How many more each domain gets at most; on nodes without the key there are none.

    Any domain may have the room that moves have `made`, and one pod less or more for each move.
    """
    topology, takes_part = spread.scope.topology, spread.scope.domains
    has_key = topology.domain_of >= 0
    more = np.full(len(topology.domains), made, np.int64)
    np.add.at(more, topology.domain_of[has_key], slots[has_key])
    if not takes_part.any():
        return more
    there = counts_by_domain(nodes_counted_for(cluster, spread), spread)
    least = 0 if spread.too_few_domains else int((there + more)[takes_part].min()) + moves
    room = (least + moves + spread.constraint.max_skew - there).clip(0)
    return np.where(takes_part, np.minimum(more, room), more)
