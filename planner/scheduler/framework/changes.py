"""What happened to a scheduling state, as arrays, so that many changes are applied at once.

A group that had no pod for a while catches up with thousands of changes in a few array operations;
one that has just placed a replica, with a single one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import Change

_GROUP, _NODE, _DELTA, _TERMINATING = range(4)
_FEW = 4
"""Up to this many changes are quicker looked at one by one."""


class Changes:
    """Consecutive changes of a log; `few` has them one by one if there are not many."""

    def __init__(self, log: ChangeLog, start: int, end: int) -> None:
        self._log = log
        self._start = start
        self._end = end
        self.few = log.listed(start, end) if end - start <= _FEW else None

    def of(self, groups: Iterable[int]) -> list[Change]:
        """Those of pods of these groups, one by one; quick where few of many are."""
        return self._log.of(groups, self._start, self._end)

    @cached_property
    def _rows(self) -> IntArray:
        if self.few is not None:
            return np.asarray(self.few, np.int64).reshape(-1, 4)
        return self._log.rows(self._start, self._end)

    @property
    def groups(self) -> IntArray:
        """The group of each pod that came or left."""
        return self._rows[:, _GROUP]

    @property
    def nodes(self) -> IntArray:
        """Where it came or left."""
        return self._rows[:, _NODE]

    @property
    def deltas(self) -> IntArray:
        """1 where a pod came and -1 where one left."""
        return self._rows[:, _DELTA]

    @cached_property
    def terminating(self) -> BoolArray:
        """Whether it was being deleted."""
        terminating: BoolArray = self._rows[:, _TERMINATING] != 0
        return terminating

    @cached_property
    def touched(self) -> IntArray:
        """The nodes that changed, each once, in order."""
        if self.few is not None:
            return np.array(sorted({change.node for change in self.few}), np.int64)
        changed = np.zeros(int(self.nodes.max()) + 1, np.bool_)
        changed[self.nodes] = True
        return np.flatnonzero(changed)


class ChangeLog:
    """All changes since the snapshot, in their order.

    They become rows of an array when somebody asks for many at once: single steps, as plans take
    them, never do.
    """

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._rows: IntArray = np.empty((256, 4), np.int64)
        self._written = 0
        self._last = Changes(self, 0, 0)
        self._last_range = (0, 0)
        self._places: dict[int, list[int]] = {}
        self._sorted = 0

    def __len__(self) -> int:
        return len(self._changes)

    def append(self, change: Change) -> None:
        """One more change."""
        self._changes.append(change)

    def since(self, position: int) -> Changes:
        """What was appended from this position on; filters and then scores ask for the same."""
        wanted = (position, len(self._changes))
        if self._last_range != wanted:
            self._last, self._last_range = Changes(self, *wanted), wanted
        return self._last

    def listed(self, start: int, end: int) -> list[Change]:
        """A part of them, one by one."""
        return self._changes[start:end]

    def of(self, groups: Iterable[int], start: int, end: int) -> list[Change]:
        """Those of pods of these groups in a part; places are sorted by group as they come."""
        changes, places = self._changes, self._places
        for place in range(self._sorted, len(changes)):
            places.setdefault(changes[place].group, []).append(place)
        self._sorted = len(changes)
        found: list[Change] = []
        for group in groups:
            of_group = places.get(group, ())
            first, last = bisect_left(of_group, start), bisect_left(of_group, end)
            found += [changes[place] for place in of_group[first:last]]
        return found

    def rows(self, start: int, end: int) -> IntArray:
        """A part as rows, of which each is written once; the room doubles when it is used up."""
        while end > len(self._rows):
            self._rows = np.concatenate((self._rows, np.empty_like(self._rows)))
        if self._written < end:
            self._rows[self._written : end] = self._changes[self._written : end]
            self._written = end
        return self._rows[start:end]


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
