"""A small cluster as people draw it: zones, nodes inside, and every pod by its workload.

Both maps, the one of the terminal and the one of Markdown, are drawn from this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster.owners import WorkloadRef
from planner.cluster.snapshot import PENDING, Cluster
from planner.cluster.topology import NO_DOMAIN
from planner.documents.inspection_nodes import zone_key
from planner_models.resources import CPU


@dataclass(frozen=True, order=True)
class PodView:
    """A pod and whose it is."""

    workload: WorkloadRef
    key: str


@dataclass(frozen=True)
class NodeView:
    """A node with its pods and what they request of its CPU."""

    name: str
    pods: tuple[PodView, ...]
    cpu_milli: int
    cordoned: bool


@dataclass(frozen=True)
class ZoneView:
    """A zone; without a name it is the nodes that lack the label."""

    name: str | None
    nodes: tuple[NodeView, ...]


@dataclass(frozen=True)
class ClusterView:
    """Everything that is drawn; `waiting` pods have no node."""

    zones: tuple[ZoneView, ...]
    waiting: tuple[PodView, ...]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return sum(len(zone.nodes) for zone in self.zones)

    @property
    def pods(self) -> tuple[PodView, ...]:
        """Every pod, node by node."""
        running = (pod for zone in self.zones for node in zone.nodes for pod in node.pods)
        return (*running, *self.waiting)


def view_of(cluster: Cluster) -> ClusterView:
    """The cluster as it is now, in the order of names."""
    waiting = _pods(cluster, cluster.pending.tolist())
    key = zone_key(cluster.nodes)
    if key is None:
        zones = (_zone(cluster, None, range(len(cluster.nodes))),) if cluster.nodes else ()
        return ClusterView(zones, waiting)
    topology = cluster.topology(key)
    domains = [*enumerate(topology.domains), (NO_DOMAIN, None)]
    found = (_zone(cluster, name, topology.nodes_of(domain).tolist()) for domain, name in domains)
    return ClusterView(tuple(zone for zone in found if zone.nodes), waiting)


def placed(cluster: Cluster, placement: Mapping[str, str | None]) -> Cluster:
    """The cluster with some pods (`namespace/name`) on other nodes, or on none.

    What a controller brings back under another name keeps its old one here.
    """
    return cluster.with_placement(
        {
            cluster.pod_index[pod]: PENDING if node is None else cluster.node_index[node]
            for pod, node in placement.items()
            if pod in cluster.pod_index and (node is None or node in cluster.node_index)
        }
    )


def _zone(cluster: Cluster, name: str | None, nodes: Iterable[int]) -> ZoneView:
    return ZoneView(name, tuple(_node(cluster, node) for node in nodes))


def _node(cluster: Cluster, index: int) -> NodeView:
    node = cluster.nodes[index]
    column = cluster.resources.names.index(CPU)
    return NodeView(
        name=node.name,
        pods=_pods(cluster, np.flatnonzero(cluster.node_of == index).tolist()),
        cpu_milli=int(cluster.used[index, column]),
        cordoned=node.spec.unschedulable,
    )


def _pods(cluster: Cluster, pods: Iterable[int]) -> tuple[PodView, ...]:
    workloads, group_of = cluster.workloads, cluster.group_of
    found = (PodView(workloads[int(group_of[pod])], cluster.pods[pod].key) for pod in pods)
    return tuple(sorted(found))
