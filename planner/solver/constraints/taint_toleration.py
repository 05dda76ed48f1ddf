"""TaintToleration: NoSchedule and NoExecute taints keep pods away, PreferNoSchedule costs.

A running pod on a node with a hard taint that it doesn't tolerate counts one in the excess level.
The taint that comes with a cordon is about newcomers and counts nothing.
"""

from __future__ import annotations

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray, NodeRules
from planner.cluster.topology import IntArray
from planner_models.node import UNSCHEDULABLE_TAINT, Node
from planner_models.pod import PodSpec
from planner_models.taints import Taint, Toleration

WEIGHT = 3
"""The weight of the plugin's score in the default profile."""
FULL = 100
"""A taint costs as much as a preferred term of the highest weight."""

_CORDON_TOLERATED = Toleration(key=UNSCHEDULABLE_TAINT, operator="Exists")


def admitted(rules: NodeRules, spec: PodSpec) -> BoolArray:
    """The nodes without a hard taint that the pod doesn't tolerate."""
    return rules.taints(spec.tolerations)


def tolerated(rules: NodeRules, spec: PodSpec) -> BoolArray:
    """The same for a pod that runs already: the cordon's taint doesn't matter."""
    return rules.taints((*spec.tolerations, _CORDON_TOLERATED))


def cost(cluster: Cluster, spec: PodSpec) -> IntArray | None:
    """WEIGHT x 100 for each PreferNoSchedule taint not tolerated; None if no node has any."""
    taints = [_preferring(node.spec.taints) for node in cluster.nodes]
    if not any(taints):
        return None
    answers = [t for t in spec.tolerations if t.effect in ("", "PreferNoSchedule")]
    counts = (
        sum(not any(toleration.tolerates(taint) for toleration in answers) for taint in each)
        for each in taints
    )
    return WEIGHT * FULL * np.fromiter(counts, np.int64, len(taints))


def prefers(node: Node) -> bool:
    """Whether a node would rather not be used by some pods."""
    return bool(_preferring(node.spec.taints))


def _preferring(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints if taint.effect == "PreferNoSchedule")
