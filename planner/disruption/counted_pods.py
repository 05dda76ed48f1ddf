"""The pods that a controller counts as its own: who is leaving does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.cluster import GONE, Cluster
from planner.cluster.owners import WorkloadRef


class CountedPods:
    """By controller, in the order of the input; looked up when somebody asks."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._found: dict[WorkloadRef, Sequence[int]] = {}

    def __getitem__(self, controller: WorkloadRef) -> Sequence[int]:
        if controller not in self._found:
            names = (controller.namespace, controller.kind, controller.name)
            self._found[controller] = self._counted(self._cluster.controlled.get(names, ()))
        return self._found[controller]

    def items(self) -> Iterator[tuple[WorkloadRef, Sequence[int]]]:
        """Every controller that has pods."""
        for names in self._cluster.controlled:
            ref = WorkloadRef(*names)
            if self[ref]:
                yield ref, self[ref]

    def _counted(self, pods: Sequence[int]) -> Sequence[int]:
        node_of, terminating = self._cluster.node_of, self._cluster.terminating
        return [pod for pod in pods if node_of[pod] != GONE and not terminating[pod]]
