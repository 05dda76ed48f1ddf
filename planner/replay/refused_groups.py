"""Groups whose pods need not be tried: no pod has left a node where that could help.

As kube-scheduler's queueing hints: a pod that waits for room alone is tried again only when
somebody leaves a node that has enough room in all.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.cluster.node_rules import BoolArray
from planner.scheduler.cycle import Evaluation


class RefusedGroups:
    """What the scheduler said of groups, and since when."""

    def __init__(self, freed: Sequence[int]) -> None:
        self._freed = freed
        self._groups: dict[int, tuple[int, BoolArray | None]] = {}
        """When each was refused, as a length of `freed`, and the nodes that might take it, if any
        might."""

    def note(self, group: int, evaluation: Evaluation) -> None:
        """It was refused just now; nothing is kept of those for which pods elsewhere matter."""
        if evaluation.local:
            nodes = evaluation.resolvable
            self._groups[group] = (len(self._freed), nodes if nodes.any() else None)

    def still(self, group: int) -> bool:
        """Whether nothing could have helped since."""
        if group not in self._groups:
            return False
        since, resolvable = self._groups[group]
        if resolvable is None or since == len(self._freed):
            return True
        if resolvable[self._freed[since:]].any():
            del self._groups[group]
            return False
        self._groups[group] = (len(self._freed), resolvable)
        return True

    def clear(self) -> None:
        """Everything is to be asked anew."""
        self._groups.clear()
