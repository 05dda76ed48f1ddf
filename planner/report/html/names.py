"""What the filter of a report knows by name, and the numbers that stand for it in the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.report.html.map_view import Tone
from planner.report.html.view import Names, Row


@dataclass(frozen=True, eq=False)
class Index:
    """The numbers of workloads, by namespace and name, and of nodes."""

    cluster: Cluster

    @cached_property
    def workloads(self) -> Mapping[WorkloadRef, int]:
        """The number of each workload."""
        return {ref: i for i, ref in enumerate(sorted(set(self.cluster.workloads)))}

    @property
    def names(self) -> Names:
        """The same the other way round."""
        return Names(
            tuple((ref.namespace, ref.short) for ref in self.workloads),
            tuple(node.name for node in self.cluster.nodes),
        )

    @cached_property
    def _several(self) -> bool:
        return len({pod.namespace for pod in self.cluster.pods}) > 1

    def pod(self, key: str) -> str:
        """A pod by name, with its namespace only where there are several."""
        return key if self._several else key.partition("/")[2]

    def workload_of(self, pod: str) -> int | None:
        """The workload of a pod by its key."""
        index = self.cluster.pod_index.get(pod)
        if index is None:
            return None
        return self.workloads[self.cluster.workloads[int(self.cluster.group_of[index])]]

    def nodes(self, names: Iterable[str | None]) -> tuple[int, ...]:
        """The nodes of these names that the cluster has."""
        found = (self.cluster.node_index.get(name) for name in names if name is not None)
        return tuple(index for index in found if index is not None)

    def row(
        self,
        cells: tuple[str, ...],
        pod: str,
        nodes: Iterable[str | None] = (),
        *,
        tone: Tone = "",
        step: int | None = None,
    ) -> Row:
        """A row about one pod."""
        return Row(cells, self.workload_of(pod), self.nodes(nodes), tone, step)
