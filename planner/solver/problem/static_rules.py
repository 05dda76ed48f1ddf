"""Rules that look at the node alone, joined: which nodes a group may be put on.

NodeUnschedulable, NodeAffinity, TaintToleration, NodeDeclaredFeatures and what bound volumes can
reach; and the labels without which PodTopologySpread and InterPodAffinity refuse a node. A running
pod may stay on a node that these rules refuse: they are IgnoredDuringExecution. If NodeAffinity or
TaintToleration refuse it, that counts as excess; features that a node lacks, a cordon, and the
taint that comes with it, are about newcomers only.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray, NodeRules, node_rules_of
from planner.solver.problem.inter_pod_affinity import required_keys
from planner.solver.problem.volume_reach import reach
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import PodSpec
from planner_models.taints import Toleration

_CORDON_TOLERATED = Toleration(key=UNSCHEDULABLE_TAINT, operator="Exists")


class StaticRules:
    """`allowed(g)` for every group, computed on first use; equal rules have one answer."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes = node_rules_of(cluster)
        self._allowed: dict[int, BoolArray] = {}
        self._landing: dict[int, BoolArray] = {}
        self._joined: dict[tuple[int, ...], BoolArray] = {}
        self._labelled: dict[tuple[int, tuple[str, ...]], BoolArray] = {}

    @property
    def nodes(self) -> NodeRules:
        """The rules of single nodes, by what a pod says about them."""
        return self._nodes

    def allowed(self, group: int) -> BoolArray:
        """The nodes that every static rule admits."""
        found = self._allowed.get(group)
        if found is None:
            found = self._allowed[group] = self._judge(self._cluster.groups[group])
        return found

    def landing(self, group: int) -> BoolArray:
        """Allowed nodes that have the labels which hard spread and required affinity ask for."""
        found = self._landing.get(group)
        if found is None:
            allowed = self.allowed(group)
            keys = _keys(self._cluster.groups[group])
            found = self._labelled.get((id(allowed), keys))
            if found is None:
                found = allowed.copy()
                for key in keys:
                    found &= self._nodes.labelled(key)
                found.flags.writeable = False
                self._labelled[id(allowed), keys] = found
            self._landing[group] = found
        return found

    def standing(self, spec: PodSpec) -> tuple[BoolArray, BoolArray]:
        """Nodes on which a running pod keeps NodeAffinity, and those for TaintToleration."""
        tolerations = (*spec.tolerations, _CORDON_TOLERATED)
        return self._nodes.affinity(spec), self._nodes.taints(tolerations)

    def misplaced(self, cells: Iterable[tuple[int, int]]) -> set[int]:
        """Groups of the (group, node) pairs that run where one of these two refuses them."""
        groups = self._cluster.groups
        return {
            g for g, node in cells if not all(rule[node] for rule in self.standing(groups[g].spec))
        }

    def _judge(self, group: PodGroup) -> BoolArray:
        """Without volumes, what the rules of nodes say alone: those arrays stay, and are few."""
        spec, nodes = group.spec, self._nodes
        rules = (
            nodes.affinity(spec),
            nodes.taints(spec.tolerations),
            nodes.uncordoned(spec.tolerations),
            nodes.declaring(spec.required_features),
        )
        which = tuple(map(id, rules))
        found = None if group.volumes else self._joined.get(which)
        if found is None:
            found = rules[0] & rules[1] & rules[2] & rules[3] & reach(self._cluster, group)
            found.flags.writeable = False
            if not group.volumes:
                self._joined[which] = found
        return found


def _keys(group: PodGroup) -> tuple[str, ...]:
    spread = {c.topology_key for c in group.spec.topology_spread_constraints if c.hard}
    return tuple(sorted(spread.union(required_keys(group))))
