"""NodeAffinity, preferred terms: what it costs to be on a node that they don't match.

Required node affinity and nodeSelector are static: see `static_rules`.
"""

from __future__ import annotations

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner_models.pod import PodSpec

WEIGHT = 2
"""The weight of the plugin's score in the default profile."""


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
