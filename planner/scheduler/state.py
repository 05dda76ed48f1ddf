"""What changes while pods are being scheduled, and nothing else does.

The state starts from a snapshot and counts along as pods are placed and removed. Every change goes
into a log; filters and scores of a group catch up with it when the group's next pod comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from models.pod import Pod
from models.taints import Taint
from planner.cluster import PENDING, Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import NodeRules
from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.scheduler.carried_terms import CarriedTerms
from planner.scheduler.changes import ChangeLog
from planner.scheduler.framework import Change
from planner.scheduler.images import ImageIndex, image_index
from planner.scheduler.volume_state import VolumeState


class SchedulingState:
    """Who runs where right now, with the sums that filters and scores read."""

    def __init__(self, cluster: Cluster, named: Mapping[int, str] | None = None) -> None:
        """`named` are pending pods with a `spec.nodeName` that is still to be honoured."""
        self.cluster = cluster
        self.named = named or {}
        self.node_of: IntArray = cluster.node_of.copy()
        self.requests: IntArray = cluster.resources.requests
        self.non_zero_requests: IntArray = np.array(
            [group.spec.non_zero_requests for group in cluster.groups], np.int64
        ).reshape(-1, 2)
        self.used: IntArray = cluster.used.copy()
        pods = cluster.running
        self.non_zero_used: IntArray = sum_by(
            cluster.node_of[pods],
            self.non_zero_requests[cluster.group_of[pods]],
            len(cluster.nodes),
        )
        self.terminating = cluster.terminating.copy()
        self.log = ChangeLog()
        self.placed_at: dict[int, int] = {}
        """Pods placed since the snapshot; the numbers give the order in which they start."""
        self.volumes = VolumeState(cluster)

    @cached_property
    def all_nodes(self) -> IntArray:
        """The index of every node."""
        return np.arange(len(self.cluster.nodes))

    @cached_property
    def node_rules(self) -> NodeRules:
        """Node affinity and hard taints, judged once per distinct rule."""
        return NodeRules(self.cluster)

    @cached_property
    def cordoned(self) -> IntArray:
        """1 for nodes with `spec.unschedulable`."""
        nodes = self.cluster.nodes
        return np.fromiter((node.spec.unschedulable for node in nodes), np.int64, len(nodes))

    @cached_property
    def taint_sets(self) -> tuple[tuple[tuple[Taint, ...], ...], IntArray]:
        """The distinct sets of taints, of which there are few, and which of them a node has."""
        numbers: dict[tuple[Taint, ...], int] = {}
        of = [numbers.setdefault(node.spec.taints, len(numbers)) for node in self.cluster.nodes]
        return tuple(numbers), np.array(of, np.int64)

    @cached_property
    def images(self) -> ImageIndex:
        """Which nodes have which images."""
        return image_index(self.cluster)

    @cached_property
    def carried_terms(self) -> CarriedTerms:
        """The rules of all groups about other pods."""
        return CarriedTerms(self.cluster.groups)

    @cached_property
    def priorities(self) -> IntArray:
        """The priority of each group."""
        return np.array([group.priority for group in self.cluster.groups], np.int64)

    def group(self, pod: int) -> PodGroup:
        """The group of a pod."""
        return self.cluster.groups[int(self.cluster.group_of[pod])]

    def pod(self, pod: int) -> Pod:
        """The pod itself."""
        return self.cluster.pods[pod]

    def place(self, pod: int, node: int) -> None:
        """The pod runs on the node from now on."""
        self.node_of[pod] = node
        self.placed_at[pod] = len(self.log)
        self.log.append(self._shift(pod, node, 1))
        self.volumes.place(pod, node)

    def remove(self, pod: int, to: int = PENDING) -> None:
        """The pod leaves its node; it waits again, or is gone for good."""
        node = int(self.node_of[pod])
        self.node_of[pod] = to
        self.placed_at.pop(pod, None)
        self.log.append(self._shift(pod, node, -1))
        self.volumes.remove(pod, node)

    def terminate(self, pod: int) -> None:
        """The pod is told to go: it keeps its room, but spread no longer counts it."""
        node = int(self.node_of[pod])
        self.log.append(self._shift(pod, node, -1))
        self.terminating[pod] = True
        self.log.append(self._shift(pod, node, 1))

    def try_without(self, pods: list[int]) -> list[Change]:
        """Preemption's what-if: the room of these pods of one node is free; nothing is decided.

        Only the sums that filters read move: nothing is scored in a what-if.
        """
        return self._try(pods, -1)

    def try_with(self, pods: list[int]) -> list[Change]:
        """The end of that what-if for these pods."""
        return self._try(pods, 1)

    def _try(self, pods: list[int], delta: int) -> list[Change]:
        if not pods:
            return []
        node = int(self.node_of[pods[0]])
        groups = self.cluster.group_of[pods]
        self.used[node] += delta * self.requests[groups].sum(axis=0)
        terminating = self.terminating[pods].tolist()
        return [
            Change(group, node, delta, ends)
            for group, ends in zip(groups.tolist(), terminating, strict=True)
        ]

    def try_on(self, pod: int, node: int, delta: int) -> Change:
        """A what-if of a pod on a node that it is only nominated for."""
        return self._shift(pod, node, delta)

    def _shift(self, pod: int, node: int, delta: int) -> Change:
        group = int(self.cluster.group_of[pod])
        if delta > 0:
            self.used[node] += self.requests[group]
            self.non_zero_used[node] += self.non_zero_requests[group]
        else:
            self.used[node] -= self.requests[group]
            self.non_zero_used[node] -= self.non_zero_requests[group]
        return Change(group, node, delta, bool(self.terminating[pod]))

    def counts_by_node(self, groups: IntArray, *, terminating: bool) -> IntArray:
        """How many pods of these groups each node runs, with or without terminating ones."""
        pods = self.cluster.pods_of(groups)
        counted = self.node_of[pods] >= 0
        if not terminating:
            counted &= ~self.terminating[pods]
        return np.bincount(self.node_of[pods[counted]], minlength=len(self.cluster.nodes))

    def placement(self) -> Mapping[int, int]:
        """Pods whose node differs from the snapshot's."""
        moved = np.flatnonzero(self.node_of != self.cluster.node_of)
        return {int(pod): int(self.node_of[pod]) for pod in moved}

    def snapshot(self) -> Cluster:
        """The cluster as it is now."""
        return self.cluster.with_placement(self.placement())
