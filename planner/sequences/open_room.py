"""Which nodes have room for a pod now, kept along while pods come and go.

Only requests and the rules about nodes alone are looked at, for all nodes at once: what is refused
here is refused by the scheduler, too, and what is left has to be asked of its filters.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.framework.state import SchedulingState
from planner.solver.problem.problem import Problem

PARTS = 1_000
"""Amounts are compared in thousandths of the largest node, scarcity in thousandths."""
SCARCEST, SCARCITY_POWER = 10 * PARTS, 3
"""The scarcest resource decides, others only nearly equal amounts of it.

Of the powers 1, 2 and 3, the third placed most pods in the openb trace; the scarcity ends at ten
times what is free.
"""


class OpenRoom:
    """Rows of nodes by group, each brought up to date for the nodes that changed since."""

    def __init__(self, problem: Problem, state: SchedulingState) -> None:
        self._problem = problem
        self._state = state
        self._changes: list[int] = []
        self._rows: dict[int, tuple[BoolArray, int]] = {}
        self._largest = np.maximum(problem.allocatable.max(axis=0, initial=0), 1)
        self._weights = _scarcity(problem) ** SCARCITY_POWER

    def changed(self, node: int) -> None:
        """A pod has come to the node or left it."""
        self._changes.append(node)

    def open(self, group: int) -> BoolArray:
        """The nodes with room for a pod of the group that its rules about nodes admit."""
        known = self._rows.get(group)
        if known is None:
            allowed = self._problem.allowed(group)
            row = allowed & (self.lacking(group) <= 0).all(axis=1)
        elif known[1] == len(self._changes):
            return known[0]
        else:
            row, seen = known
            nodes = np.unique(self._changes[seen:])
            allowed = self._problem.allowed(group)[nodes]
            row[nodes] = allowed & (self.lacking(group)[nodes] <= 0).all(axis=1)
        self._rows[group] = (row, len(self._changes))
        return row

    def elsewhere(self, group: int, node: int) -> bool:
        """Whether another node has room for a pod of the group."""
        row = self.open(group)
        return int(np.count_nonzero(row)) > int(row[node])

    def lacking(self, group: int) -> IntArray:
        """What each node has too little of; what the pod doesn't ask for is never lacking."""
        request = self._problem.requests[group]
        free = self._problem.allocatable - self._state.used
        found: IntArray = np.where(request > 0, request - free, 0)
        return found

    def smallest_first(self, amounts: IntArray) -> IntArray:
        """The order of rows of amounts, one column for each resource; scarce ones weigh more."""
        sizes = (amounts * PARTS // self._largest) @ self._weights
        return np.argsort(sizes, kind="stable")

    def tightest(self, nodes: IntArray) -> int:
        """The node with the least room; the first one of several."""
        free = np.maximum(self._problem.allocatable[nodes] - self._state.used[nodes], 0)
        return int(nodes[self.smallest_first(free)[0]])


def homeless(problem: Problem) -> frozenset[int]:
    """Pods that no other node has room for now: who could drive others off in their place."""
    cluster = problem.cluster
    room = OpenRoom(problem, SchedulingState(cluster))
    lowest = min(cluster.groups[int(g)].priority for g in cluster.group_of[cluster.running])
    return frozenset(
        pod
        for (group, node), pods in problem.movable.items()
        if cluster.groups[group].priority > lowest and not room.elsewhere(group, node)
        for pod in pods
    )


def _scarcity(problem: Problem) -> IntArray:
    """What waiting pods ask for, as a part of what is free, for each resource."""
    free = np.maximum(problem.allocatable - problem.cluster.used, 0).sum(axis=0)
    wanted = np.zeros_like(free)
    for group, pods in problem.waiting.items():
        wanted += problem.requests[group] * len(pods)
    scarcity: IntArray = np.clip(wanted * PARTS // np.maximum(free, 1), 1, SCARCEST)
    return scarcity
