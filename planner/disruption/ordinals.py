"""The numbers of a StatefulSet's pods: an ordered set makes a pod when all below are ready."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.counted_pods import CountedPods


def ordinal_of(name: str) -> int | None:
    """The number at the end of a StatefulSet pod's name."""
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isascii() and tail.isdigit() else None


class Ordinals:
    """The pods of each StatefulSet of a snapshot by their number."""

    def __init__(self, cluster: Cluster, pods_of: CountedPods) -> None:
        self._cluster = cluster
        self._pods_of = pods_of
        self._ready: dict[WorkloadRef, frozenset[int]] = {}

    def lowest(self, ref: WorkloadRef) -> int:
        """The number that the set begins with, as far as its pods tell."""
        return min((number for number, _ in self._numbered(ref)), default=0)

    def unready_below(self, ref: WorkloadRef, start: int, ordinal: int) -> str | None:
        """The first pod below that the set waits for, before it makes this one."""
        ready = self._ready_of(ref)
        waits = (f"{ref.name}-{below}" for below in range(start, ordinal) if below not in ready)
        return next(waits, None)

    def _ready_of(self, ref: WorkloadRef) -> frozenset[int]:
        if ref not in self._ready:
            node_of, pods = self._cluster.node_of, self._cluster.pods
            self._ready[ref] = frozenset(
                number
                for number, pod in self._numbered(ref)
                if pods[pod].ready and node_of[pod] >= 0
            )
        return self._ready[ref]

    def _numbered(self, ref: WorkloadRef) -> Iterator[tuple[int, int]]:
        for pod in self._pods_of[ref]:
            number = ordinal_of(self._cluster.pods[pod].name)
            if number is not None:
                yield number, pod
