"""One eviction, or a few, that make room where somebody waits: what one would try by hand first.

A unit is one pod of a node, or two, without which a pod that waits has room there. Units are tried
alone and two at a time, those with the fewest evictions first. Pods of one group on one node are as
good as each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations, combinations_with_replacement

from planner.cluster import Cluster
from planner.cluster.node_rules import node_rules_of

Unit = tuple[int, ...]
MOST_UNITS = 60


def few_evictions(cluster: Cluster, movable: Collection[int], most: int) -> Iterator[Unit]:
    """Pods to evict from a cluster in which somebody waits, the fewest first."""
    units = sorted(_units(cluster, movable), key=lambda unit: (len(unit), unit))[:MOST_UNITS]
    pairs = (
        (*one, *other)
        for one, other in combinations(units, 2)
        if cluster.node_of[one[0]] != cluster.node_of[other[0]]
    )
    every = (unit for unit in chain(units, pairs) if len(unit) <= most)
    yield from sorted(every, key=len)


def _units(cluster: Cluster, movable: Collection[int]) -> Iterator[Unit]:
    """Minimal ones: no pod of a pair would do alone."""
    requests, rules = cluster.resources.requests, node_rules_of(cluster)
    free = cluster.resources.allocatable - cluster.used
    waiting = sorted({int(group) for group in cluster.group_of[cluster.pending]})
    admitted = [
        rules.affinity(cluster.groups[g].spec)
        & rules.taints(cluster.groups[g].spec.tolerations)
        & rules.uncordoned(cluster.groups[g].spec.tolerations)
        for g in waiting
    ]
    for node, groups in sorted(_by_node(cluster, movable).items()):
        here = [requests[g] for g, nodes in zip(waiting, admitted, strict=True) if nodes[node]]
        lacking = [need for need in here if (need > free[node]).any()]
        alone: set[int] = set()
        for chosen in chain(((g,) for g in groups), combinations_with_replacement(groups, 2)):
            unit = _of(groups, chosen)
            room = free[node] + requests[list(chosen)].sum(axis=0)
            if unit is None or alone.intersection(chosen):
                continue
            if any((need <= room).all() for need in lacking):
                alone.update(chosen if len(chosen) == 1 else ())
                yield unit


def _of(groups: Mapping[int, Sequence[int]], chosen: Sequence[int]) -> Unit | None:
    """The first pods of these groups; None if there are not so many."""
    if len(chosen) == 1:
        return (groups[chosen[0]][0],)
    one, other = chosen
    if one != other:
        return (groups[one][0], groups[other][0])
    return None if len(groups[one]) == 1 else (groups[one][0], groups[one][1])


def _by_node(cluster: Cluster, movable: Collection[int]) -> dict[int, dict[int, list[int]]]:
    """Pods that may go, by node and group."""
    found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for pod in sorted(movable):
        found[int(cluster.node_of[pod])][int(cluster.group_of[pod])].append(pod)
    return found
