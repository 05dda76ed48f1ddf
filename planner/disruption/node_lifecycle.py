"""What the node lifecycle controller makes of the conditions of nodes.

It taints a node that is not ready, unreachable or under pressure, so that kube-scheduler puts
nothing there. A dump that was taken in between, or written by hand, may have the condition and lack
the taint; plans look at nodes as they are a moment later.
"""

from __future__ import annotations

from planner.cluster import Cluster
from planner_models.node import Node
from planner_models.taints import Taint

TAINT_OF = {
    ("Ready", "False"): "node.kubernetes.io/not-ready",
    ("Ready", "Unknown"): "node.kubernetes.io/unreachable",
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
"""Conditions of a node, and the NoSchedule taint for each."""


def with_condition_taints(cluster: Cluster) -> Cluster:
    """The cluster with the taints that the conditions of its nodes ask for."""
    tainted = ((index, _tainted(node)) for index, node in enumerate(cluster.nodes))
    records = {index: node for index, node in tainted if node is not cluster.nodes[index]}
    return cluster.with_nodes(records) if records else cluster


def _tainted(node: Node) -> Node:
    keys = {TAINT_OF.get((each.type, each.status)) for each in node.status.conditions} - {None}
    there = {taint.key for taint in node.spec.taints if taint.effect == "NoSchedule"}
    missing = tuple(
        Taint(key=key, effect="NoSchedule") for key in TAINT_OF.values() if key in keys - there
    )
    if not missing:
        return node
    return node.replace(spec=node.spec.replace(taints=(*node.spec.taints, *missing)))
