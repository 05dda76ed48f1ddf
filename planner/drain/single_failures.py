"""How many pods wait if one node, or one zone, fails and is removed.

Whoever has a controller is made anew, and kube-scheduler places what it can; pods without one, and
those of DaemonSets, are gone with their node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.disruption.budgets import allowances
from planner.replay.trial import Manner, Trial
from planner.replay.verify import cordoned_node
from planner.scheduler.profile import Profile
from planner_models.node import ZONE, Node

Failing = Literal["zone", "node"]


@dataclass(frozen=True)
class Failure:
    """What is lost together."""

    kind: Failing
    name: str
    nodes: tuple[int, ...]


def single_failures(cluster: Cluster, kind: Failing, gone: Collection[int]) -> Iterator[Failure]:
    """Every zone, or every node, that still has a node after some are gone."""
    if kind == "node":
        for index, node in enumerate(cluster.nodes):
            if index not in gone:
                yield Failure("node", node.name, (index,))
        return
    topology = cluster.topology(ZONE)
    for domain, name in enumerate(topology.domains):
        nodes = tuple(n for n in topology.nodes_of(domain).tolist() if n not in gone)
        if nodes:
            yield Failure("zone", name, nodes)


def without_nodes(cluster: Cluster, nodes: Collection[int]) -> Cluster:
    """The cluster as if these nodes were not in it; other nodes and pods keep their indexes.

    They have no labels, no room, and take no pod. Their pods wait if a controller makes them anew.
    """
    if not nodes:
        return cluster
    chosen = list(nodes)
    allocatable = cluster.resources.allocatable.copy()
    allocatable[chosen] = 0
    lost = np.flatnonzero(np.isin(cluster.node_of, chosen)).tolist()
    node_of = cluster.node_of.copy()
    for pod in lost:
        node_of[pod] = PENDING if _made_anew(cluster, pod) else GONE
    return replace(
        cluster,
        nodes=tuple(_ghost(n) if i in nodes else n for i, n in enumerate(cluster.nodes)),
        resources=replace(cluster.resources, allocatable=allocatable),
        node_of=node_of,
    )


def _ghost(node: Node) -> Node:
    bare = node.replace(metadata=node.metadata.replace(labels={}))
    return cordoned_node(bare, True)


def _made_anew(cluster: Cluster, pod: int) -> bool:
    found = cluster.pods[pod]
    return (
        not found.terminating
        and found.owner is not None
        and found.owner.kind not in ("DaemonSet", "Node")
    )


class Failures:
    """Failures of a cluster from which some nodes are gone already."""

    def __init__(self, cluster: Cluster, gone: Collection[int], profile: Profile) -> None:
        self._gone = frozenset(gone)
        self._cluster = without_nodes(cluster, self._gone)
        self._given = cluster
        self._profile = profile
        self._waiting = len(self._cluster.pending)

    def all(self, kind: Failing) -> tuple[Failure, ...]:
        """Every failure of a kind."""
        return tuple(single_failures(self._given, kind, self._gone))

    def waiting(self, failure: Failure, seeds: int = 1) -> int:
        """How many more pods wait after a failure, under the worst of the seeds."""
        lost = without_nodes(self._cluster, failure.nodes)
        trial = Trial(lost, self._profile, allowances(lost), ())
        ends = (trial.run((), Manner(seed)).node_of for seed in range(seeds))
        return max(int(np.count_nonzero(end == PENDING)) for end in ends) - self._waiting

    def survived(self, kinds: Collection[Failing], seeds: int) -> bool:
        """Whether none of these failures leaves a pod waiting that did not wait before."""
        return all(
            self.waiting(failure, seeds) <= 0 for kind in kinds for failure in self.all(kind)
        )
