"""NodeDeclaredFeatures: a pod that asks for features lands where the node declares them.

A pod that runs elsewhere already breaks nothing: the filter is about newcomers.
"""

from __future__ import annotations

from planner.cluster.node_rules import BoolArray, NodeRules
from planner_models.pod import PodSpec


def admitted(rules: NodeRules, spec: PodSpec) -> BoolArray:
    """The nodes that declare every feature that the pod needs."""
    return rules.declaring(spec.required_features)
