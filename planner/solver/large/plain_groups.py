"""Which groups the search for large problems understands, and where they may land.

A group is *plain* if every hard spread constraint that it carries counts its own pods and nobody
else's, and no other rule between pods touches it: no required (anti-)affinity in either direction,
nothing that a node has only once, no claim. For plain groups the rules of one group never depend on
where another group is, except through room on nodes; that is what makes the closed form and the
greedy step exact. All other groups stay where they are here; the exact search decides them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.matching import TermScope
from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import SpreadConstraint
from planner.cluster.topology import IntArray
from planner.solver.large.plain_group import Rule
from planner.solver.problem.problem import Problem


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
    return alone and not spread.too_few_domains and spread.matching.tolist() == [carriers[0].group]


def _special(group: PodGroup) -> bool:
    spec = group.spec
    claims = any(v.persistent_volume_claim or v.ephemeral for v in group.volumes)
    return bool(spec.exclusive_on_node or claims or group.volumes or spec.resource_claims)


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


class Places:
    """Where groups may land, found once for all that agree in their node rules.

    Plain groups have no volumes, so affinity, tolerations, features that nodes have to declare and
    topology keys say everything.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._by_rules: dict[tuple[object, ...], BoolArray] = {}
        self._by_group: dict[int, BoolArray] = {}
        self._nodes: dict[tuple[int, int, int], IntArray] = {}

    def landing(self, group: int) -> BoolArray:
        """Nodes that static rules and topology keys admit."""
        found = self._by_group.get(group)
        if found is None:
            spec = self._problem.cluster.groups[group].spec
            keys = sorted({c.topology_key for c in spec.topology_spread_constraints if c.hard})
            selector = tuple(sorted(spec.node_selector.items()))
            own = (spec.affinity.node_affinity.required, spec.tolerations, spec.required_features)
            rules = (selector, *own, *keys)
            if rules not in self._by_rules:
                self._by_rules[rules] = self._problem.static.landing(group)
            found = self._by_group[group] = self._by_rules[rules]
        return found

    def nodes(self, group: int, rule: Rule | None = None, domain: int = 0) -> IntArray:
        """The same as a list, or the part of it in one domain."""
        landing = self.landing(group)
        key = (id(landing), id(rule), domain)
        found = self._nodes.get(key)
        if found is None:
            inside = landing if rule is None else landing & (rule.domain_of == domain)
            found = self._nodes[key] = np.flatnonzero(inside)
        return found
