"""What changes while pods are being scheduled, and nothing else does.

The state starts from a snapshot and counts along as pods are placed and removed. Every change goes
into a log; filters and scores of a group catch up with it when the group's next pod comes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from operator import is_
from typing import TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import NodeRules
from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.scheduler.framework.carried_terms import CarriedTerms
from planner.scheduler.framework.changes import ChangeLog
from planner.scheduler.framework.facts import Facts, ImageIndex, TaintSets, facts_of
from planner.scheduler.framework.plugin import Change, Follower
from planner.scheduler.volumes.state import VolumeState
from planner_models.pod import Pod

S = TypeVar("S", bound=Follower)


class SchedulingState:
    """Who runs where right now, with the sums that filters and scores read."""

    def __init__(self, cluster: Cluster, named: Mapping[int, str] | None = None) -> None:
        """`named` are pending pods with a `spec.nodeName` that is still to be honoured."""
        self.cluster = cluster
        self.named = named or {}
        self.node_of: IntArray = cluster.node_of.copy()
        self.requests: IntArray = cluster.resources.requests
        self.non_zero_requests: IntArray = self.facts.non_zero_requests
        self.used: IntArray = cluster.used.copy(order="F")
        """`used[n, r]`, with the nodes of a resource side by side: most questions are of all."""
        pods = cluster.running
        self.non_zero_used: IntArray = np.asfortranarray(
            sum_by(
                cluster.node_of[pods],
                self.non_zero_requests[cluster.group_of[pods]],
                len(cluster.nodes),
            )
        )
        self.terminating = cluster.terminating.copy()
        self.log = ChangeLog()
        self.placed_at: dict[int, int] = {}
        """Pods placed since the snapshot; the numbers give the order in which they start."""
        self.volumes = VolumeState(cluster)
        self._shared: WeakValueDictionary[Hashable, Follower] = WeakValueDictionary()
        self._shared_of = self._basis()

    def begin_log(self) -> None:
        """Forget what changed so far: a copy of a state shares the log with it until then."""
        self.log = ChangeLog()

    @cached_property
    def facts(self) -> Facts:
        """What nodes and groups alone say."""
        return facts_of(self.cluster)

    @cached_property
    def all_nodes(self) -> IntArray:
        """The index of every node."""
        return self.facts.all_nodes

    @cached_property
    def node_rules(self) -> NodeRules:
        """Node affinity and hard taints, judged once per distinct rule."""
        return self.facts.node_rules

    @cached_property
    def cordoned(self) -> IntArray:
        """1 for nodes with `spec.unschedulable`."""
        return self.facts.cordoned

    @cached_property
    def taint_sets(self) -> TaintSets:
        """The distinct sets of taints, of which there are few, and which of them a node has."""
        return self.facts.taint_sets

    @cached_property
    def images(self) -> ImageIndex:
        """Which nodes have which images."""
        return self.facts.images

    @cached_property
    def carried_terms(self) -> CarriedTerms:
        """The rules of all groups about other pods."""
        return self.facts.carried_terms

    @cached_property
    def priorities(self) -> IntArray:
        """The priority of each group."""
        return self.facts.priorities

    def shared(self, key: Hashable, make: Callable[[], S]) -> S:
        """A filter or score that all groups have in common which ask for the same, as `key` tells.

        It follows the log, and is there for as long as a group has it. A copy of the state, and one
        whose sums or log were exchanged, has its own.
        """
        basis = self._basis()
        if not _same(basis, self._shared_of):
            self._shared, self._shared_of = WeakValueDictionary(), basis
        found = cast("S | None", self._shared.get(key))
        if found is None:
            found = self._shared[key] = make()
        else:
            found.catch_up()
        return found

    def _basis(self) -> tuple[object, ...]:
        """What is followed, and what it counts from."""
        return id(self), self.cluster, self.log, self.used, self.non_zero_used

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

    def try_shift(self, pods: list[int], delta: int) -> list[Change]:
        """Preemption's what-if: these pods of one node are away (-1), or back again (1).

        Only the sums that filters read move: nothing is scored in a what-if.
        """
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
        used, non_zero_used = self.used[node], self.non_zero_used[node]
        if delta > 0:
            used += self.requests[group]
            non_zero_used += self.non_zero_requests[group]
        else:
            used -= self.requests[group]
            non_zero_used -= self.non_zero_requests[group]
        return Change(group, node, delta, bool(self.terminating[pod]))

    def counts_by_node(self, groups: IntArray, *, terminating: bool) -> IntArray:
        """How many pods of these groups each node runs, with or without terminating ones."""
        nodes = self.nodes_of(groups, terminating=terminating)
        return np.bincount(nodes, minlength=len(self.cluster.nodes))

    def nodes_of(self, groups: IntArray, *, terminating: bool) -> IntArray:
        """The node of each running pod of these groups, with or without terminating ones."""
        pods = self.cluster.pods_of(groups)
        nodes = self.node_of[pods]
        counted = nodes >= 0
        if not terminating:
            counted &= ~self.terminating[pods]
        return nodes[counted]

    def placement(self) -> Mapping[int, int]:
        """Pods whose node differs from the snapshot's."""
        moved = np.flatnonzero(self.node_of != self.cluster.node_of)
        return {int(pod): int(self.node_of[pod]) for pod in moved}

    def snapshot(self) -> Cluster:
        """The cluster as it is now."""
        return self.cluster.with_placement(self.placement())


def _same(basis: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """The very same objects; the first is the number of the state itself."""
    return basis[0] == other[0] and all(map(is_, basis[1:], other[1:]))
