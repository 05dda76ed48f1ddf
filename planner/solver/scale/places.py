"""Where groups may land, as masks and lists of nodes, shared between groups that agree."""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.problem import Problem
from planner.solver.scale.task import Rule


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
