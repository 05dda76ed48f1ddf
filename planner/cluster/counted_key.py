"""The label by whose domains pods are counted where one has to be chosen."""

from __future__ import annotations

from collections import Counter

from planner.cluster.snapshot import Cluster
from planner_models.node import ZONE


def counted_key(cluster: Cluster) -> str | None:
    """The zone label; without it the key that most pods spread over by a hard rule, if any."""
    if any(ZONE in node.labels for node in cluster.nodes):
        return ZONE
    keys = Counter(
        constraint.topology_key
        for group in cluster.groups
        for constraint in group.spec.topology_spread_constraints
        if constraint.hard
    )
    return min(keys, key=lambda key: (-keys[key], key), default=None)
