"""TaintToleration, PreferNoSchedule: what it costs to be on a node that would rather not be used.

NoSchedule and NoExecute are static: see `static_rules`.
"""

from __future__ import annotations

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner_models.node import Node
from planner_models.pod import PodSpec
from planner_models.taints import Taint

WEIGHT = 3
"""The weight of the plugin's score in the default profile."""
FULL = 100
"""A taint costs as much as a preferred term of the highest weight."""


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
