"""Who could take which node while a plan is carried out, if need be in the place of others.

Where others land is not for a plan to say, so whoever waited once may still do so: who could take a
node are all groups that have waited, and not only those that should wait by now.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.problem.problem import Problem


class Takers:
    """Groups by position, with the nodes on which they have room without the pods below them."""

    def __init__(self, problem: Problem, moving: Sequence[int]) -> None:
        """`moving` are pods that will wait at some time, beside those that wait now."""
        cluster = self._cluster = problem.cluster
        groups = np.unique(cluster.group_of[[*cluster.pending.tolist(), *moving]])
        self._positions = {group: i for i, group in enumerate(groups.tolist())}
        self.request = cluster.resources.requests[groups]
        self.allowed = np.array([problem.allowed(group) for group in groups.tolist()])
        priorities = np.array([cluster.groups[group].priority for group in groups.tolist()])
        self._levels, self.level = np.unique(priorities, return_inverse=True)
        lowest = min((group.priority for group in cluster.groups), default=0)
        self._above: BoolArray = np.array(priorities > lowest, np.bool_)
        self._free: IntArray = cluster.resources.allocatable - cluster.used
        self._room = np.array([self._left_by(level) for level in self._levels.tolist()])
        """By level of priority, what pods from there on leave of each node."""
        waiting = set(cluster.group_of[cluster.pending].tolist())
        self._waited: BoolArray = np.isin(groups, sorted(waiting))
        self._takes: BoolArray = np.zeros((len(groups), len(self._free)), np.bool_)
        for node in range(len(self._free)):
            self._look(node)

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.request)

    @property
    def levels(self) -> int:
        """How many priorities they have."""
        return len(self._levels)

    def free(self, nodes: IntArray) -> IntArray:
        """What the nodes have left."""
        found: IntArray = self._free[nodes]
        return found

    def room_for(self, level: int, nodes: IntArray) -> IntArray:
        """The same without the pods below a level of priority."""
        found: IntArray = self._room[level, nodes]
        return found

    def anybody(self) -> BoolArray:
        """The nodes that somebody who has waited could take."""
        return _any(self._takes[np.flatnonzero(self._waited)])

    def outranks(self, pod: int) -> bool:
        """Whether there is anybody whom the pod could drive off."""
        return bool(self._above[self.position(pod)])

    def by_groups(self, positions: IntArray) -> BoolArray:
        """The nodes that a pod of one of these groups could take."""
        return _any(self._takes[positions])

    def any_of(self, pods: Sequence[int]) -> BoolArray:
        """The nodes that one of these pods could take."""
        return _any(self._takes[[self.position(pod) for pod in pods]])

    def rivals(
        self, nodes: IntArray, coming: Sequence[int], *, harmless: bool = False
    ) -> BoolArray:
        """Groups that could drive others off, and the nodes on which they fit as these are.

        Of those that have waited, and of the pods that are to come; also the `harmless` ones.
        """
        groups = self._waited.copy()
        groups[[self.position(pod) for pod in coming]] = True
        some = np.flatnonzero(groups if harmless else groups & self._above)
        request, free = self.request[some][:, None], self._free[nodes][None]
        found = self.allowed[np.ix_(some, nodes)]
        found &= ((request <= free) | (request == 0)).all(axis=2)
        return found

    def fit(self, node: int, pods: Sequence[int]) -> bool:
        """Whether the node has room for all of these."""
        return bool(self.hold(np.array([node]), self.asked(pods)[None])[0])

    def asked(self, pods: Sequence[int]) -> IntArray:
        """What these ask for together."""
        found: IntArray = self.request[[self.position(pod) for pod in pods]].sum(axis=0)
        return found

    def hold(self, nodes: IntArray, asked: IntArray) -> BoolArray:
        """Whether each of the nodes has room for what is asked of it, row by row."""
        found: BoolArray = ((asked <= self._free[nodes]) | (asked == 0)).all(axis=1)
        return found

    def leaves(self, pod: int, node: int) -> None:
        """The pod waits from now on."""
        self._waited[self.position(pod)] = True
        self._shift(pod, node, -1)

    def lands(self, pod: int, node: int) -> None:
        """The pod has found its node."""
        self._shift(pod, node, 1)

    def position(self, pod: int) -> int:
        """Where the pod's group is among the groups."""
        return self._positions[int(self._cluster.group_of[pod])]

    def _shift(self, pod: int, node: int, delta: int) -> None:
        request = delta * self.request[self.position(pod)]
        self._free[node] -= request
        self._room[self._levels <= self._cluster.pods[pod].priority, node] -= request
        self._look(node)

    def _look(self, node: int) -> None:
        room = self._room[self.level, node]
        fits = ((self.request <= room) | (self.request == 0)).all(axis=1)
        self._takes[:, node] = fits & self.allowed[:, node]

    def _left_by(self, priority: int) -> IntArray:
        cluster = self._cluster
        high = np.array([group.priority >= priority for group in cluster.groups])
        pods = cluster.running[high[cluster.group_of[cluster.running]]]
        room: IntArray = cluster.resources.allocatable.copy()
        requests = cluster.resources.requests[cluster.group_of[pods]]
        np.subtract.at(room, cluster.node_of[pods], requests)
        return room


def _any(rows: BoolArray) -> BoolArray:
    return np.asarray(rows.any(axis=0))
