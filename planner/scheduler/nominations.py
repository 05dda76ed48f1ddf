"""Pods that wait for a node which preemption has promised them.

They hold no room yet, but others of lower or equal priority must not take it: such a pod has to
pass the filters of the node both with and without the pods that are nominated there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.scheduler.framework.plugin import Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.plugins.what_if import refusal_beside


class Nominations:
    """Which pod is nominated for which node right now."""

    def __init__(self, state: SchedulingState) -> None:
        self._state = state
        self._node_of: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._node_of)

    def node_of(self, pod: int) -> int | None:
        """The node that is promised to the pod."""
        return self._node_of.get(pod)

    def add(self, pod: int, node: int) -> None:
        """Promise the node; pods of lower priority lose their promises of the same node."""
        priority = self._priority(pod)
        for other in self._on(node):
            if self._priority(other) < priority:
                del self._node_of[other]
        self._node_of[pod] = node

    def remove(self, pod: int) -> None:
        """The pod runs, or looks elsewhere."""
        self._node_of.pop(pod, None)

    def ahead_of(self, pod: int) -> Mapping[int, Sequence[int]]:
        """By node, the nominated pods that this one has to make way for."""
        if not self._node_of:
            return {}
        priority = self._priority(pod)
        found: dict[int, list[int]] = {}
        for other, node in self._node_of.items():
            if other != pod and self._priority(other) >= priority:
                found.setdefault(node, []).append(other)
        return found

    def refusals(self, pod: int, cycle: GroupCycle) -> dict[int, Status]:
        """Nodes that refuse the pod once the pods nominated there are counted."""
        filters = [each for _, each in cycle.filters]
        found: dict[int, Status] = {}
        for node, others in self.ahead_of(pod).items():
            status = refusal_beside(self._state, filters, others, node)
            if status is not None:
                found[node] = status
        return found

    def _on(self, node: int) -> list[int]:
        return [pod for pod, promised in self._node_of.items() if promised == node]

    def _priority(self, pod: int) -> int:
        return self._state.pod(pod).priority
