"""NodeUnschedulable: cordoned nodes receive nothing, unless a pod tolerates the cordon's taint.

Pods that run on a cordoned node break nothing: a cordon is about newcomers.
"""

from __future__ import annotations

from planner.cluster.node_rules import BoolArray, NodeRules
from planner_models.pod import PodSpec


def admitted(rules: NodeRules, spec: PodSpec) -> BoolArray:
    """The nodes that are not cordoned, or all of them for a pod that tolerates it."""
    return rules.uncordoned(spec.tolerations)
