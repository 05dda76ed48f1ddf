"""Nodes that are added for the time of an upgrade: each like one that is there.

Like its model in all but its name: labels, taints, room, and the pods that run on every such node.
Its pods are told apart from the model's by the node's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from planner.cluster import Cluster
from planner.disruption.movability import WITH_THEIR_NODE, immovable
from planner.replay.verify import cordoned_node
from planner_models.node import HOSTNAME, Node

SUFFIX = "extra"


def with_extra_nodes(cluster: Cluster, models: Sequence[int]) -> Cluster:
    """The cluster with one more node like each of these, behind all others and open for pods."""
    if not models:
        return cluster
    taken = set(cluster.node_index)
    added = [_like(cluster.nodes[model], number, taken) for number, model in enumerate(models, 1)]
    count = len(cluster.nodes)
    resources = cluster.resources
    wider = replace(
        cluster,
        nodes=(*cluster.nodes, *added),
        resources=replace(
            resources,
            allocatable=np.concatenate((resources.allocatable, resources.allocatable[models])),
        ),
        arrival=np.append(cluster.arrival, np.arange(count, count + len(added))),
    )
    return _with_daemons(wider, {model: count + i for i, model in enumerate(models)})


def _like(model: Node, number: int, taken: set[str]) -> Node:
    name = f"{model.name}-{SUFFIX}"
    while name in taken:
        name = f"{model.name}-{SUFFIX}-{number}"
        number += 1
    taken.add(name)
    labels = {**model.labels}
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    named = model.replace(metadata=model.metadata.replace(name=name, labels=labels))
    return cordoned_node(named, False)


def _with_daemons(cluster: Cluster, copies: dict[int, int]) -> Cluster:
    running = np.flatnonzero(np.isin(cluster.node_of, list(copies))).tolist()
    daemons = [
        pod
        for pod in running
        if immovable(cluster.pods[pod]) in WITH_THEIR_NODE and not cluster.pods[pod].terminating
    ]
    if not daemons:
        return cluster
    size = len(cluster.pods)
    pods = [
        msgspec.structs.replace(
            cluster.pods[pod], name=f"{cluster.pods[pod].name}-{SUFFIX}", uid=""
        )
        for pod in daemons
    ]
    more = cluster.with_more(pods, cluster.group_of[daemons])
    return more.with_placement(
        {size + i: copies[int(cluster.node_of[pod])] for i, pod in enumerate(daemons)}
    )
