"""Who could take a node before the pods that are to land on it.

Kube-scheduler takes waiting pods by priority, and those of the same priority in any order. So
whoever waits, fits on an opened node and is not below all that is to land there may be first. That
does no harm if those that were to land there fit where the other one was to go, and have waited all
along: then they change places. Who was evicted for it would wait on, and be in the way of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.replay.steps import Step
from planner.sequences.takers import Takers
from planner.solver.problem.problem import Problem


class FirstCome:
    """Who waits by now and where it is to go, if everybody lands as planned."""

    def __init__(self, problem: Problem, takers: Takers, steps: Sequence[Step]) -> None:
        self._takers = takers
        self._spare = _left_in_the_end(problem, steps)
        self._target = {step.pod: step.node for step in steps if step.lands}
        self._waits = np.zeros(takers.groups, np.int64)
        self._instead = np.zeros((takers.groups, takers.groups), np.int64)
        """By group that waits, and by any group: places of the first in which the second fits."""
        self._known: dict[tuple[int, int], IntArray] = {}
        for pod in problem.cluster.pending.tolist():
            self.waits(pod)

    def waits(self, pod: int) -> None:
        """The pod has no node from now on."""
        self._count(pod, 1)

    def lands(self, pod: int) -> None:
        """The pod has come to its node."""
        self._count(pod, -1)

    def anywhere(self) -> BoolArray:
        """The nodes that somebody who waits could take, if need be in the place of others."""
        return self._takers.by_groups(np.flatnonzero(self._waits))

    def _count(self, pod: int, change: int) -> None:
        group, node = self._takers.position(pod), self._target.get(pod)
        self._waits[group] += change
        if node is not None:
            self._instead[group] += change * self._fitting(group, node)

    def _fitting(self, group: int, node: int) -> IntArray:
        """Which groups fit in the place of this one on a node, as that is in the end."""
        found = self._known.get((group, node))
        if found is None:
            room = self._spare[node] + self._takers.request[group]
            fits = _within(self._takers.request, room) & self._takers.allowed[:, node]
            found = self._known[group, node] = fits.astype(np.int64)
        return found

    def harm(self, coming: Mapping[int, Sequence[int]], waiting: BoolArray) -> IntArray:
        """By node, how many others could be first: with harm by priority from the top, and at all.

        `waiting` says of each pod whether it waits already.
        """
        comers = _Comers(self._takers, coming, waiting)
        found = np.zeros((len(coming), self._takers.levels + 1), np.int64)
        for level in range(self._takers.levels):
            groups = np.flatnonzero((self._takers.level == level) & (self._waits > 0))
            others = np.maximum(self._waits - comers.waiting, 0)[:, groups]
            fits, free = comers.beaten_by(groups, level)
            harmful = fits & (~free | self._left_without(comers, groups, level))
            found[:, -2 - level] = (others * harmful).sum(axis=1)
            found[:, -1] += (others * fits).sum(axis=1)
        return found

    def _left_without(self, comers: _Comers, groups: IntArray, level: int) -> BoolArray:
        """By node and group, whether a comer would have no place, or was evicted for this one."""
        nowhere = (self._instead[groups] == 0).astype(np.int64)
        beaten = comers.pods * (self._takers.level <= level)
        evicted = (beaten > comers.waiting).any(axis=1, keepdims=True)
        found: BoolArray = (np.minimum(beaten, 1) @ nowhere.T > 0) | evicted
        return found


class _Comers:
    """The pods that are to land on some nodes: rows are nodes, columns are groups."""

    def __init__(
        self, takers: Takers, coming: Mapping[int, Sequence[int]], waiting: BoolArray
    ) -> None:
        self._takers = takers
        self._nodes = np.array([*coming], np.int64)
        self.pods = np.zeros((len(coming), takers.groups), np.int64)
        self.waiting = np.zeros_like(self.pods)
        for row, pods in enumerate(coming.values()):
            for pod in pods:
                self.pods[row, takers.position(pod)] += 1
                self.waiting[row, takers.position(pod)] += bool(waiting[pod])
        self._asked = self.pods[:, :, None] * takers.request

    def beaten_by(self, groups: IntArray, level: int) -> tuple[BoolArray, BoolArray]:
        """By node and group of this priority, who fits before a comer; and fits as the node is.

        Comers of a higher priority land first, and so does whoever is like those of the group.
        """
        takers = self._takers
        lowest = np.where(self.pods > 0, takers.level, takers.levels).min(axis=1)
        first = self._asked[:, takers.level > level].sum(axis=1)[:, None] + self._asked[:, groups]
        may = takers.allowed[groups][:, self._nodes].T & (lowest <= level)[:, None]
        request = takers.request[groups]
        room = takers.room_for(level, self._nodes)[:, None] - first
        free = takers.free(self._nodes)[:, None] - first
        return may & _within(request, room), may & _within(request, free)


def _within(request: IntArray, room: IntArray) -> BoolArray:
    """What is not asked for may lack."""
    found: BoolArray = np.asarray(((request <= room) | (request == 0)).all(axis=-1))
    return found


def _left_in_the_end(problem: Problem, steps: Sequence[Step]) -> IntArray:
    """The room of each node after all steps."""
    cluster = problem.cluster
    room: IntArray = cluster.resources.allocatable - cluster.used
    request = cluster.resources.requests[cluster.group_of]
    for step in steps:
        if step.lands:
            room[step.node] -= request[step.pod]
        if step.evicts:
            room[int(cluster.node_of[step.pod])] += request[step.pod]
    return room
