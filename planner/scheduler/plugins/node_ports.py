"""NodePorts: two pods of a node can't have the same host port."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.changes import Changes, GroupSet
from planner.scheduler.framework.plugin import (
    SKIP,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    Status,
)
from planner.scheduler.framework.state import SchedulingState

REASON = "node(s) didn't have free ports for the requested pod ports"

ANY_ADDRESS = "0.0.0.0"
HostPort = tuple[str, str, int]


class NodePorts:
    """(hostIP, protocol, hostPort) must be free."""

    name: ClassVar[str] = "NodePorts"
    reasons: ClassVar[tuple[str, ...]] = (REASON,)

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes that run a pod with a conflicting port; terminating pods hold theirs."""
        wanted = group.spec.host_ports
        if not wanted:
            return SKIP
        rivals = [
            other.index
            for other in state.cluster.groups
            if any(conflict(a, b) for a in wanted for b in other.spec.host_ports)
        ]
        return PreFilterResult(_PortFilter(state, np.array(rivals, np.int64)))


def conflict(one: HostPort, other: HostPort) -> bool:
    """The same port and protocol, on the same address or with one of them on every address."""
    return one[1:] == other[1:] and (one[0] == other[0] or ANY_ADDRESS in (one[0], other[0]))


class _PortFilter(Filter):
    local: ClassVar[bool] = True

    def __init__(self, state: SchedulingState, rivals: IntArray) -> None:
        self._rivals = GroupSet(rivals.tolist())
        self._count = state.counts_by_node(rivals, terminating=True)

    def verdicts(self) -> IntArray:
        """1 where a rival holds the port."""
        return (self._count > 0).astype(np.int64)

    def verdict_at(self, node: int) -> int:
        """The same for one node."""
        return int(self._count[node] > 0)

    def status(self, verdict: int) -> Status:
        """Taking the rival away would help."""
        return Status(NodePorts.name, UNSCHEDULABLE, (REASON,))

    def apply(self, changes: Changes) -> None:
        """Count rivals along."""
        found = self._rivals.among(changes.groups)
        np.add.at(self._count, changes.nodes[found], changes.deltas[found])

    def dry_run(self, change: Change) -> None:
        """Count a rival along."""
        if change.group in self._rivals:
            self._count[change.node] += change.delta
