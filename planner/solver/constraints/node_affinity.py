"""NodeAffinity: nodeSelector and required node affinity admit nodes, preferred terms rate them.

A running pod on a node that its rules don't admit any more counts one in the excess level.
"""

from __future__ import annotations

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray, NodeRules
from planner.cluster.topology import IntArray
from planner_models.pod import PodSpec

WEIGHT = 2
"""The weight of the plugin's score in the default profile."""


def admitted(rules: NodeRules, spec: PodSpec) -> BoolArray:
    """The nodes that nodeSelector and required node affinity match."""
    return rules.affinity(spec)


def cost(cluster: Cluster, spec: PodSpec) -> IntArray | None:
    """Per node the weight of the preferred terms that don't match it; None if there are none."""
    preferred = spec.affinity.node_affinity.preferred
    if not preferred:
        return None
    total = np.zeros(len(cluster.nodes), np.int64)
    for each in preferred:
        term = each.preference
        missed = np.fromiter(
            (not term.matches(node.labels, node.name) for node in cluster.nodes),
            np.bool_,
            len(cluster.nodes),
        )
        total[missed] += WEIGHT * each.weight
    return total
