"""Nodes by zone and flavour, and what is requested of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from planner.cluster.snapshot import Cluster
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner_models.inspection import Flavour, NodeInspection, Unit, Utilisation, ZoneInspection
from planner_models.node import INSTANCE_TYPE, PLANNER_CORDON, ZONE, Node
from planner_models.quantity import format_cpu, format_resource
from planner_models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

SHOWN_ALWAYS = (CPU, MEMORY, PODS)
_BYTES = (MEMORY, EPHEMERAL_STORAGE)


def inspect_nodes(cluster: Cluster) -> NodeInspection:
    """All nodes, zone by zone."""
    key = zone_key(cluster.nodes)
    return NodeInspection(
        total=len(cluster.nodes),
        cordoned=sum(node.spec.unschedulable for node in cluster.nodes),
        cordoned_by_planner=tuple(_cordoned_by_planner(cluster.nodes)) or None,
        not_ready=sum(not node.ready for node in cluster.nodes),
        zone_key=key,
        zones=() if key is None else tuple(_zones(cluster, key)),
        flavours=_flavours(cluster.nodes),
    )


def _cordoned_by_planner(nodes: Iterable[Node]) -> Iterable[str]:
    for node in nodes:
        if node.spec.unschedulable and PLANNER_CORDON in node.metadata.annotations:
            yield node.name


def zone_key(nodes: Iterable[Node]) -> str | None:
    """The well-known zone label; where no node has it, another key that is called zone."""
    keys = {key for node in nodes for key in node.labels}
    if ZONE in keys:
        return ZONE
    return min((key for key in keys if key.rpartition("/")[2] == "zone"), default=None)


def utilisation(cluster: Cluster, nodes: IntArray) -> tuple[Utilisation, ...]:
    """What pods request on these nodes: cpu, memory and pods, and of the rest what is in use."""
    offered = cluster.resources.allocatable[nodes]
    asked = cluster.used[nodes]
    found = []
    for column, resource in enumerate(cluster.resources.names):
        requested, allocatable = _total(asked[:, column]), _total(offered[:, column])
        if resource in SHOWN_ALWAYS or requested:
            found.append(
                Utilisation(
                    resource=resource,
                    unit=_unit(resource),
                    requested=requested,
                    allocatable=allocatable,
                    percent=_percent(requested, allocatable),
                )
            )
    return tuple(found)


def _total(amounts: IntArray) -> int:
    """Added up in Python: amounts near 2^62 would overflow 64 bits."""
    return sum(amounts.tolist())


def _percent(requested: int, allocatable: int) -> int | None:
    """Rounded half up; nothing can be said in parts of nothing."""
    return (200 * requested + allocatable) // (2 * allocatable) if allocatable else None


def _unit(resource: str) -> Unit:
    if resource == CPU:
        return "milliCores"
    return "bytes" if resource in _BYTES or resource.startswith("hugepages-") else "pieces"


def _zones(cluster: Cluster, key: str) -> Iterable[ZoneInspection]:
    """Every zone by name; nodes without the label come last."""
    topology = cluster.topology(key)
    pods = np.bincount(cluster.node_of[cluster.running], minlength=len(cluster.nodes))
    for domain in (*range(len(topology.domains)), NO_DOMAIN):
        nodes = topology.nodes_of(domain)
        if len(nodes):
            yield ZoneInspection(
                zone=None if domain == NO_DOMAIN else topology.domains[domain],
                nodes=len(nodes),
                pods=int(pods[nodes].sum()),
                flavours=_flavours([cluster.nodes[n] for n in nodes]),
                utilisation=utilisation(cluster, nodes),
            )


def _flavours(nodes: Sequence[Node]) -> tuple[Flavour, ...]:
    """The most frequent first."""
    counts = Counter(flavour(node) for node in nodes)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Flavour(name=name, nodes=count) for name, count in ordered)


def flavour(node: Node) -> str:
    """The instance type; without that label what the node offers, such as `4 CPU 16Gi`."""
    named = node.labels.get(INSTANCE_TYPE)
    if named:
        return named
    offered = node.allocatable
    cpu, memory = offered.get(CPU, 0), offered.get(MEMORY, 0)
    return f"{format_cpu(cpu)} CPU {format_resource(MEMORY, memory)}"
