"""Rules that look at the node alone, joined: which nodes a group may be put on.

NodeUnschedulable, NodeAffinity, TaintToleration, NodeDeclaredFeatures and what bound volumes can
reach; and the labels without which PodTopologySpread and InterPodAffinity refuse a node. A running
pod may stay on a node that these rules refuse: they are IgnoredDuringExecution.
"""

from __future__ import annotations

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray, NodeRules
from planner.solver.constraints import (
    inter_pod_affinity_terms,
    node_affinity,
    node_declared_features,
    node_unschedulable,
    taint_toleration,
)
from planner.solver.volume_reach import reach


class StaticRules:
    """`allowed(g)` for every group, computed on first use."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.nodes = NodeRules(cluster)
        self._allowed: dict[int, BoolArray] = {}
        self._landing: dict[int, BoolArray] = {}

    def allowed(self, group: int) -> BoolArray:
        """The nodes that every static rule admits."""
        found = self._allowed.get(group)
        if found is None:
            found = self._judge(self._cluster.groups[group])
            found.flags.writeable = False
            self._allowed[group] = found
        return found

    def landing(self, group: int) -> BoolArray:
        """Allowed nodes that have the labels which hard spread and required affinity ask for."""
        found = self._landing.get(group)
        if found is None:
            found = self.allowed(group).copy()
            for key in _keys(self._cluster.groups[group]):
                found &= self.nodes.labelled(key)
            found.flags.writeable = False
            self._landing[group] = found
        return found

    def _judge(self, group: PodGroup) -> BoolArray:
        return (
            node_affinity.admitted(self.nodes, group.spec)
            & taint_toleration.admitted(self.nodes, group.spec)
            & node_unschedulable.admitted(self.nodes, group.spec)
            & node_declared_features.admitted(self.nodes, group.spec)
            & reach(self._cluster, group)
        )


def _keys(group: PodGroup) -> list[str]:
    spread = {c.topology_key for c in group.spec.topology_spread_constraints if c.hard}
    return sorted(spread.union(inter_pod_affinity_terms.required_keys(group)))
