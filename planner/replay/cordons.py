"""Cordons: a node that takes no more pods, and whom else that concerns."""

from __future__ import annotations

from planner.cluster import Cluster
from planner.scheduler.profile import Profile
from planner_models.node import UNSCHEDULABLE_TAINT, Node
from planner_models.taints import Taint

CORDON = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")
_HONOURING = "whether constraints of groups honour taints"


def cordoned_node(node: Node, cordoned: bool) -> Node:
    """The node with a cordon, or without any."""
    taints = [taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE_TAINT]
    if cordoned:
        taints.append(CORDON)
    return node.replace(spec=node.spec.replace(unschedulable=cordoned, taints=tuple(taints)))


def is_cordoned(node: Node) -> bool | None:
    """Whether the node is as a cordon leaves it, or as its end does; None if it is neither."""
    taints = [taint for taint in node.spec.taints if taint.key == UNSCHEDULABLE_TAINT]
    if taints != ([CORDON] if node.spec.unschedulable else []):
        return None
    return node.spec.unschedulable


def taints_honoured(cluster: Cluster, profile: Profile) -> bool:
    """Whether the taint of a cordon means more than that the node takes no pod."""
    defaults = profile.resolved.args.pod_topology_spread.default_constraints
    if any(constraint.node_taints_policy == "Honor" for constraint in defaults):
        return True
    memo = cluster.group_memo
    if _HONOURING not in memo:
        specs = {id(group.spec): group.spec for group in cluster.groups}.values()
        own = (each for spec in specs for each in spec.topology_spread_constraints)
        memo[_HONOURING] = any(each.node_taints_policy == "Honor" for each in own)
    found: bool = memo[_HONOURING]
    return found
