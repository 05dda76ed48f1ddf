"""The terms of pod affinity and anti-affinity, and the groups they are about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.matching import TermScope
from planner.cluster.topology import IntArray
from planner_models.affinity import PodAffinityTerm


@dataclass(frozen=True, eq=False)
class Term:
    """A term that a group carries, and the groups whose pods it is about (itself, maybe)."""

    group: int
    index: int
    key: str
    about: IntArray
    weight: int = 0
    """Of a preferred term; negative for anti-affinity."""


def required_keys(group: PodGroup) -> list[str]:
    """A node without these labels fails required affinity, whoever runs there."""
    return sorted({term.topology_key for term in group.spec.affinity.pod_affinity.required})


def about(cluster: Cluster, term: PodAffinityTerm, group: PodGroup) -> IntArray:
    """The groups that a term carried by a group is about."""
    index = cluster.group_index
    names = TermScope.of(term, group.namespace).among(index.namespaces, cluster.namespaces)
    return index.matching(term.label_selector, names)


def apart(cluster: Cluster, groups: Iterable[int]) -> list[Term]:
    """The required anti-affinity of these groups."""
    return [
        Term(g, i, term.topology_key, about(cluster, term, cluster.groups[g]))
        for g in groups
        for i, term in enumerate(cluster.groups[g].spec.affinity.pod_anti_affinity.required)
    ]


def preferred(cluster: Cluster, groups: Iterable[int]) -> list[Term]:
    """The preferred terms of these groups, of both kinds."""
    found: list[Term] = []
    for g in groups:
        group = cluster.groups[g]
        for sign, terms in (
            (1, group.spec.affinity.pod_affinity.preferred),
            (-1, group.spec.affinity.pod_anti_affinity.preferred),
        ):
            for i, each in enumerate(terms):
                term = each.pod_affinity_term
                meant = about(cluster, term, group)
                found.append(Term(g, i, term.topology_key, meant, sign * each.weight))
    return found


def mates(cluster: Cluster, group: PodGroup) -> IntArray:
    """The groups that match all required affinity terms, which is who has to be near."""
    terms = group.spec.affinity.pod_affinity.required
    found = [frozenset(about(cluster, term, group).tolist()) for term in terms]
    return np.array(sorted(frozenset.intersection(*found)) if found else [], np.int64)
