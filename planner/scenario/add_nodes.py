"""More nodes, like a template, with the pods that DaemonSets make for them."""

from __future__ import annotations

from collections.abc import Collection

from planner.cluster import Cluster
from planner.scenario.changes import AddNodes
from planner.scenario.made_pods import with_missing_pods
from planner.sources.synthesise import Workloads
from planner_models.node import HOSTNAME, Node
from planner_models.workload import DaemonSet


def added_nodes(cluster: Cluster, change: AddNodes) -> tuple[Cluster, tuple[str, ...]]:
    """The cluster with these nodes, and their names."""
    names = names_of(change.template.name, change.count, {node.name for node in cluster.nodes})
    nodes = [_like(change.template, name) for name in names]
    daemons = [c for c in cluster.owners.controllers.values() if isinstance(c, DaemonSet)]
    changed = with_missing_pods(cluster, Workloads(daemon_sets=daemons), nodes, added=nodes)
    return changed, names


def names_of(name: str, count: int, taken: Collection[str]) -> tuple[str, ...]:
    """The template's own name for a single node, if it is free; otherwise numbers behind it."""
    if count == 1 and name not in taken:
        return (name,)
    found: list[str] = []
    number = 0
    while len(found) < count:
        number += 1
        if f"{name}-{number}" not in taken:
            found.append(f"{name}-{number}")
    return tuple(found)


def _like(template: Node, name: str) -> Node:
    labels = {**template.labels, HOSTNAME: name}
    return template.replace(metadata=template.metadata.replace(name=name, labels=labels))
