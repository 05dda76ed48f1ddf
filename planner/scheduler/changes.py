"""What happened to a scheduling state, as arrays, so that many changes are applied at once.

A group that had no pod for a while catches up with thousands of changes in a few array operations;
one that has just placed a replica, with a single one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.cluster.topology import IntArray
from planner.scheduler.framework import Change

BoolArray = NDArray[np.bool_]

_GROUP, _NODE, _DELTA, _TERMINATING = range(4)


@dataclass(frozen=True, eq=False)
class Changes:
    """Consecutive changes; `deltas` are 1 where a pod came and -1 where one left."""

    groups: IntArray
    nodes: IntArray
    deltas: IntArray
    terminating: BoolArray

    @cached_property
    def touched(self) -> IntArray:
        """The nodes that changed, each once, in order."""
        if len(self.nodes) <= 1:
            return self.nodes
        changed = np.zeros(int(self.nodes.max()) + 1, np.bool_)
        changed[self.nodes] = True
        return np.flatnonzero(changed)


class ChangeLog:
    """All changes since the snapshot, in their order."""

    def __init__(self) -> None:
        self._rows: IntArray = np.empty((256, 4), np.int64)
        self._size = 0
        self._last: tuple[int, int, Changes] | None = None

    def __len__(self) -> int:
        return self._size

    def append(self, change: Change) -> None:
        """One more change; the room doubles when it is used up."""
        if self._size == len(self._rows):
            self._rows = np.concatenate((self._rows, np.empty_like(self._rows)))
        self._rows[self._size] = change
        self._size += 1

    def since(self, position: int) -> Changes:
        """What was appended from this position on; filters and then scores ask for the same."""
        if self._last is not None and self._last[:2] == (position, self._size):
            return self._last[2]
        rows = self._rows[position : self._size]
        groups, nodes, deltas = rows[:, _GROUP], rows[:, _NODE], rows[:, _DELTA]
        changes = Changes(groups, nodes, deltas, rows[:, _TERMINATING] != 0)
        self._last = (position, self._size, changes)
        return changes


class GroupSet:
    """Groups that a rule is about; finds their changes among many."""

    def __init__(self, groups: Iterable[int]) -> None:
        self._members = frozenset(groups)
        self.ids: IntArray = np.array(sorted(self._members), np.int64)

    def __contains__(self, group: int) -> bool:
        return group in self._members

    def among(self, groups: IntArray) -> IntArray:
        """The positions at which a member stands."""
        if len(self.ids) <= 1:
            return np.flatnonzero(groups == self.ids[0]) if len(self.ids) else _NONE
        if len(groups) == 1:
            return _FIRST if int(groups[0]) in self._members else _NONE
        places = np.minimum(np.searchsorted(self.ids, groups), len(self.ids) - 1)
        return np.flatnonzero(self.ids[places] == groups)


_NONE: IntArray = np.empty(0, np.int64)
_FIRST: IntArray = np.zeros(1, np.int64)
