"""Groups whose pods need not be tried: no pod has left a node where that could help.

As kube-scheduler's queueing hints: a pod that waits for room alone is tried again only when
somebody leaves a node that has enough room in all, or when a cordon is lifted from one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

Fits = Callable[[int, IntArray], bool]
"""Whether one of these nodes may take a pod of the group now."""


class RefusedGroups:
    """What the scheduler said of groups, and since when."""

    def __init__(self, freed: Sequence[int]) -> None:
        self._freed = freed
        self._last = (0, 0)
        self._nodes: IntArray = np.zeros(0, np.int64)
        self._groups: dict[int, tuple[int, BoolArray | None]] = {}
        """When each was refused, as a length of `freed`, and the nodes that might take it, if any
        might."""

    def note(self, group: int, nodes: BoolArray | None) -> None:
        """It was refused just now, and might be taken by these; None: pods elsewhere matter."""
        if nodes is not None:
            self._groups[group] = (len(self._freed), nodes if nodes.any() else None)

    def still(self, group: int, fits: Fits) -> bool:
        """Whether nothing could have helped since: no node that was left has room now."""
        if group not in self._groups:
            return False
        since, resolvable = self._groups[group]
        if resolvable is None or since == len(self._freed):
            return True
        nodes = self._freed_since(since)
        nodes = nodes[resolvable[nodes]]
        if len(nodes) and fits(group, nodes):
            del self._groups[group]
            return False
        self._groups[group] = (len(self._freed), resolvable)
        return True

    def _freed_since(self, since: int) -> IntArray:
        """Most groups were refused at the same time: they look at the same nodes."""
        asked = (since, len(self._freed))
        if self._last != asked:
            self._last, self._nodes = asked, np.unique(self._freed[since:])
        return self._nodes

    def since(self, group: int) -> tuple[bool, BoolArray | None]:
        """Whether it was refused for want of nodes, and the nodes that might take it."""
        return group in self._groups, self._groups.get(group, (0, None))[1]

    def clear(self) -> None:
        """Everything is to be asked anew."""
        self._groups.clear()
