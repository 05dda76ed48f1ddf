"""Which groups the scale path understands.

A group is *plain* if every hard spread constraint that it carries counts its own pods and nobody
else's, and no other rule between pods touches it: no required (anti-)affinity in either direction,
no host port, no claim. For plain groups the rules of one group never depend on where another group
is, except through room on nodes; that is what makes the closed form and the greedy step exact. All
other groups stay where they are here; the exact core decides them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.matching import TermScope
from planner.cluster.spread import SpreadConstraint
from planner.solver.problem import Problem


@dataclass(frozen=True)
class Reach:
    """Plain groups, and the constraints that each of them carries (all about itself)."""

    plain: frozenset[int]
    rules: Mapping[int, tuple[SpreadConstraint, ...]]


def reach_of(problem: Problem) -> Reach:
    """Sorts the groups that have anything to decide."""
    cluster = problem.cluster
    touched = set(_touched_by_terms(cluster))
    rules: dict[int, list[SpreadConstraint]] = defaultdict(list)
    for spread in problem.spreads:
        if _about_itself(spread):
            rules[spread.carriers[0].group].append(spread)
        else:
            touched.update(carrier.group for carrier in spread.carriers)
            touched.update(spread.matching.tolist())
    plain = frozenset(
        g for g in problem.groups if g not in touched and not _special(cluster.groups[g])
    )
    return Reach(plain, {g: tuple(found) for g, found in rules.items() if g in plain})


def _about_itself(spread: SpreadConstraint) -> bool:
    """One carrier, which is the only group that counts, and enough domains for minDomains."""
    carriers = spread.carriers
    alone = len(carriers) == 1 and carriers[0].self_match
    enough = int(spread.scope.domains.sum()) >= (spread.constraint.min_domains or 1)
    return alone and enough and spread.matching.tolist() == [carriers[0].group]


def _special(group: PodGroup) -> bool:
    spec = group.spec
    claims = any(v.persistent_volume_claim or v.ephemeral for v in group.volumes)
    return bool(spec.host_ports or claims or group.volumes or spec.resource_claims)


def _touched_by_terms(cluster: Cluster) -> Iterator[int]:
    """Carriers of required terms and a superset of the groups these are about.

    matchLabelKeys only narrow a selector, so leaving them out names too many groups, never too few.
    """
    index = cluster.group_index
    for group in cluster.groups:
        affinity = group.spec.affinity
        for term in (*affinity.pod_affinity.required, *affinity.pod_anti_affinity.required):
            yield group.index
            scope = TermScope.of(term, group.namespace)
            names = scope.among(index.namespaces, cluster.namespaces)
            yield from index.matching(term.label_selector, names).tolist()
