"""Which nodes a pod's own node rules admit: nodeSelector, required node affinity, hard taints,
features that nodes declare.

The answers are boolean arrays over the nodes. Requirements are judged once per distinct label value
and not once per node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from planner.cluster.snapshot import Cluster
from planner.cluster.topology import IntArray
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import PodSpec
from planner_models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from planner_models.taints import HARD_EFFECTS, Taint, Toleration, first_untolerated

BoolArray: TypeAlias = NDArray[np.bool_]

CORDON = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")


class NodeRules:
    """The node rules of many pods over one set of nodes; equal rules are judged once.

    `node_rules_of` gives those of a snapshot.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._all = _frozen(np.ones(len(cluster.nodes), np.bool_))
        self._affinity: dict[tuple[object, ...], BoolArray] = {}
        self._requirements: dict[NodeSelectorRequirement, BoolArray] = {}
        self._tolerations: dict[tuple[Toleration, ...], BoolArray] = {}
        self._features: dict[tuple[str, ...], BoolArray] = {}
        self._taints, self._taints_of = _distinct_taints([n.spec.taints for n in cluster.nodes])
        self._open = _frozen(
            np.array([not node.spec.unschedulable for node in cluster.nodes], np.bool_)
        )

    def affinity(self, spec: PodSpec) -> BoolArray:
        """Nodes that the NodeAffinity filter passes: nodeSelector and required node affinity."""
        required = spec.affinity.node_affinity.required
        if required is None and not spec.node_selector:
            return self._all
        key = (*sorted(spec.node_selector.items()), required)
        found = self._affinity.get(key)
        if found is None:
            found = self._all
            for label, value in spec.node_selector.items():
                found = found & self._with_label(label, frozenset((value,)).__contains__)
            if required is not None:
                found = found & self.matching(required)
            self._affinity[key] = _frozen(found)
        return found

    def taints(self, tolerations: tuple[Toleration, ...]) -> BoolArray:
        """Nodes without a NoSchedule or NoExecute taint that the tolerations leave unanswered."""
        found = self._tolerations.get(tolerations)
        if found is None:
            admitted = [
                first_untolerated(taints, tolerations, HARD_EFFECTS) is None
                for taints in self._taints
            ]
            found = _frozen(np.array(admitted, np.bool_)[self._taints_of])
            self._tolerations[tolerations] = found
        return found

    def uncordoned(self, tolerations: tuple[Toleration, ...]) -> BoolArray:
        """Nodes that are not cordoned; all of them if the taint of a cordon is tolerated."""
        tolerated = any(toleration.tolerates(CORDON) for toleration in tolerations)
        return self._all if tolerated else self._open

    def declaring(self, features: tuple[str, ...]) -> BoolArray:
        """Nodes that declare all of these features."""
        if not features:
            return self._all
        found = self._features.get(features)
        if found is None:
            declared = (node.status.declared_features for node in self._cluster.nodes)
            having = [all(feature in each for feature in features) for each in declared]
            found = self._features[features] = _frozen(np.array(having, np.bool_))
        return found

    def labelled(self, key: str) -> BoolArray:
        """Nodes that have the label."""
        return self._cluster.topology(key).domain_of >= 0

    def matching(self, selector: NodeSelector) -> BoolArray:
        """Nodes that one of the terms matches."""
        terms = [self.term(term) for term in selector.node_selector_terms]
        found: BoolArray = np.logical_or.reduce(terms)
        return found

    def term(self, term: NodeSelectorTerm) -> BoolArray:
        """Nodes that fulfil all of a term; an empty one matches none."""
        found = ~self._all if term.is_empty else self._all
        for requirement in term.match_expressions:
            found = found & self._requirement(requirement)
        for field in term.match_fields:
            index = self._cluster.node_index.get(field.values[0])
            named = ~self._all
            if index is not None:
                named[index] = True
            found = found & (named if field.operator == "In" else ~named)
        return found

    def _requirement(self, requirement: NodeSelectorRequirement) -> BoolArray:
        found = self._requirements.get(requirement)
        if found is None:
            key = requirement.key
            found = self._requirements[requirement] = self._with_label(
                key, lambda value: requirement.matches({} if value is None else {key: value})
            )
        return found

    def _with_label(self, key: str, holds: Callable[[str | None], bool]) -> BoolArray:
        """Nodes by what holds for their value of the label; None stands for its absence."""
        topology = self._cluster.topology(key)
        verdicts = [*(holds(value) for value in topology.domains), holds(None)]
        return np.array(verdicts, np.bool_)[topology.domain_of]


def node_rules_of(cluster: Cluster) -> NodeRules:
    """The same for all snapshots of these nodes, so that nothing is judged again."""
    key = ("node rules", b"")
    if key not in cluster.memo:
        cluster.memo[key] = NodeRules(cluster)
    found: NodeRules = cluster.memo[key]
    return found


def _distinct_taints(
    taints: Sequence[tuple[Taint, ...]],
) -> tuple[tuple[tuple[Taint, ...], ...], IntArray]:
    distinct: dict[tuple[Taint, ...], int] = {}
    of = np.fromiter((distinct.setdefault(t, len(distinct)) for t in taints), np.int64, len(taints))
    return tuple(distinct), of


def _frozen(array: BoolArray) -> BoolArray:
    array.flags.writeable = False
    return array
