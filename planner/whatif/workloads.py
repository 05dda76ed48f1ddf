"""Running pods by workload, and what a failure makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.cluster.topology import IntArray
from planner.scenario import Requested, Settled
from planner.scenario.lost_pods import OF_NODES
from planner.scenario.outcome import requested_cpu
from planner_models.resources import CPU


@dataclass(frozen=True)
class Hit:
    """A workload, and how many of its pods go down."""

    workload: WorkloadRef
    down: int
    of: int


class Workloads:
    """The workloads of one cluster before anything fails."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        numbers: dict[WorkloadRef, int] = {}
        of = [numbers.setdefault(ref, len(numbers)) for ref in cluster.workloads]
        self._refs = list(numbers)
        self.of_group = np.array(of, np.int64)
        pinned = [ref.kind in OF_NODES for ref in self._refs]
        self._pinned = np.array(pinned, np.bool_)
        self._cpu = requested_cpu(cluster, frozenset())

    def _running(self, cluster: Cluster, down: frozenset[int]) -> IntArray:
        here = (cluster.node_of >= 0) & ~cluster.terminating
        here &= ~np.isin(cluster.node_of, list(down))
        return self._counted(cluster, here)

    def _counted(self, cluster: Cluster, chosen: BoolArray) -> IntArray:
        groups = cluster.group_of[chosen]
        found: IntArray = np.bincount(self.of_group[groups], minlength=len(self._refs))
        return np.where(self._pinned, 0, found)

    @cached_property
    def _now(self) -> tuple[IntArray, IntArray]:
        """Running, and waiting."""
        waits = (self._cluster.node_of == PENDING) & ~self._cluster.terminating
        return self._running(self._cluster, frozenset()), self._counted(self._cluster, waits)

    @cached_property
    def down(self) -> IntArray:
        """By node: pods that go down with it and do not belong to it."""
        return np.bincount(self._pods[0], minlength=len(self._cluster.nodes))

    @cached_property
    def _pods(self) -> tuple[IntArray, IntArray]:
        """The node and the workload of each pod that runs and belongs to no node, by node."""
        cluster = self._cluster
        number = self.of_group[cluster.group_of]
        here = (cluster.node_of >= 0) & ~cluster.terminating & ~self._pinned[number]
        order = np.argsort(cluster.node_of[here], kind="stable")
        return cluster.node_of[here][order], number[here][order]

    def missing(self, settled: Settled) -> IntArray:
        """By workload: pods that do not run; as `WorkloadOutcome.missing` counts them."""
        cluster = settled.cluster
        running, waited = self._now
        waits = (cluster.node_of == PENDING) & ~cluster.terminating
        unreplaced = np.zeros(len(self._refs), np.int64)
        lost = np.zeros(len(self._refs), np.bool_)
        for each in settled.changed.lost:
            if each.fate != "daemon":
                number = self.of_group[cluster.group_of[each.pod]]
                lost[number] = True
                unreplaced[number] += each.fate != "replaced"
        gone = np.where(lost, running - self._running(cluster, settled.changed.down), 0)
        waiting = unreplaced + self._counted(cluster, waits) - waited
        found: IntArray = np.maximum(0, np.maximum(gone, waiting))
        return found

    def hardest(self, nodes: Sequence[int], hurt: set[int]) -> Hit | None:
        """Of workloads with pods that do not run, if any, the one that loses the largest share."""
        where, whose = self._pods
        parts = [whose[np.searchsorted(where, n) : np.searchsorted(where, n + 1)] for n in nodes]
        lost = np.bincount(np.concatenate(parts), minlength=len(self._refs))
        affected = {int(self.of_group[group]) for group in hurt}
        running = self._now[0]
        candidates = sorted({*np.flatnonzero(lost).tolist(), *affected}, key=self._refs.__getitem__)

        def severity(number: int) -> tuple[bool, float, int]:
            down = int(lost[number])
            return number in affected, down / max(1, int(running[number])), down

        worst = max(candidates, key=severity, default=None)
        if worst is None:
            return None
        return Hit(self._refs[worst], int(lost[worst]), int(running[worst]))

    def cpu_without(self, node: int, groups: Sequence[int]) -> Requested:
        """CPU when the node is lost and all its pods run elsewhere but those of these groups."""
        cluster = self._cluster
        column = cluster.resources.column(CPU)
        pods = cluster.pods_on(node)
        pods = pods[~cluster.terminating[pods]]
        of = cluster.group_of[pods]
        gone = self._pinned[self.of_group[of]] | np.isin(of, list(groups))
        used = self._cpu.used - int(cluster.resources.requests[of[gone], column].sum())
        allocatable = int(cluster.resources.allocatable[node, column])
        return Requested(used, self._cpu.allocatable - allocatable)
