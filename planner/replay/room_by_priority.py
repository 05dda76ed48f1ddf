"""Room on nodes, as it is and as a pod could get it by driving others off.

Whoever does not fit even without the pods below it drives nobody off. That is known without asking
the scheduler, which would take the pods of every node away and put them back, one by one.
"""

from __future__ import annotations

import math

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

ANYBODY = -math.inf
"""Below every priority: all pods count."""


class RoomByPriority:
    """What pods of a priority and above leave; kept along while pods come and go.

    Each priority is looked at once somebody asks for it.
    """

    def __init__(self, cluster: Cluster, node_of: IntArray) -> None:
        """`node_of` says where pods are now, and is asked again whenever a priority is new."""
        self._cluster = cluster
        self._node_of = node_of
        self._requests = cluster.resources.requests
        self._room: dict[float, IntArray] = {}

    def shift(self, group: int, node: int, delta: int) -> None:
        """Pods of the group came to the node (`delta` 1) or left it (-1)."""
        above = self._cluster.groups[group].priority
        for priority, room in self._room.items():
            if above >= priority:
                room[node] -= delta * self._requests[group]

    def fits(self, group: int, nodes: IntArray) -> BoolArray:
        """Whether a pod of the group has room on each of the nodes."""
        return self._holds(group, nodes, ANYBODY)

    def fits_without_lower(self, group: int, nodes: IntArray) -> BoolArray:
        """The same if all pods below it were gone."""
        return self._holds(group, nodes, self._cluster.groups[group].priority)

    def may_help(self, groups: IntArray, nodes: IntArray) -> BoolArray:
        """For each of the groups, whether one of the nodes has room if all pods below were gone."""
        found: BoolArray = np.zeros(len(groups), np.bool_)
        priorities = np.array([self._cluster.groups[group].priority for group in groups.tolist()])
        for priority in np.unique(priorities).tolist():
            some = np.flatnonzero(priorities == priority)
            request = self._requests[groups[some]][:, None]
            room = self._room_for(priority)[nodes][None]
            found[some] = ((request <= room) | (request == 0)).all(axis=2).any(axis=1)
        return found

    def _room_for(self, priority: float) -> IntArray:
        if priority not in self._room:
            self._room[priority] = self._left_by(priority)
        return self._room[priority]

    def _holds(self, group: int, nodes: IntArray, priority: float) -> BoolArray:
        request, room = self._requests[group], self._room_for(priority)[nodes]
        found: BoolArray = ((request <= room) | (request == 0)).all(axis=1)
        return found

    def _left_by(self, priority: float) -> IntArray:
        cluster = self._cluster
        high = np.array([group.priority >= priority for group in cluster.groups])
        pods = np.flatnonzero((self._node_of >= 0) & high[cluster.group_of])
        room: IntArray = cluster.resources.allocatable.copy()
        np.subtract.at(room, self._node_of[pods], self._requests[cluster.group_of[pods]])
        return room
