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
        nodes = np.array(self._freed[since:], np.int64)
        if fits(group, nodes[resolvable[nodes]]):
            del self._groups[group]
            return False
        self._groups[group] = (len(self._freed), resolvable)
        return True

    def clear(self) -> None:
        """Everything is to be asked anew."""
        self._groups.clear()
