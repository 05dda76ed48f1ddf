"""Nodes that are added for the time of an upgrade: each like one that is there."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cluster import Cluster
from planner.replay.cordons import cordoned_node
from planner.scenario import AddNodes, apply_changes
from planner_models.node import Node

SUFFIX = "extra"


def with_extra_nodes(cluster: Cluster, models: Sequence[int]) -> Cluster:
    """The cluster with one more node like each of these, open for pods.

    Nodes are sorted by name, so the indexes of the others may be different ones.
    """
    if not models:
        return cluster
    more = [AddNodes(_like(cluster.nodes[model]), 1) for model in models]
    return apply_changes(cluster, more).cluster


def _like(model: Node) -> Node:
    named = model.metadata.replace(name=f"{model.name}-{SUFFIX}")
    return cordoned_node(model.replace(metadata=named), False)
