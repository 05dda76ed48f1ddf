"""What is requested of every node, stage by stage of a story."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.resources import sum_by
from planner.cluster.topology import IntArray
from planner.report.html.story import Story
from planner.report.html.words import many
from planner.report.text.wording import decimal
from planner.words import count_of
from planner_models.quantity import format_cpu, format_resource
from planner_models.resources import CPU, MEMORY

OVER = 10
"""The level of a node of which more is requested than it has."""


@dataclass(frozen=True, eq=False)
class Usage:
    """CPU, memory and pods of the nodes of a story."""

    story: Story

    @cached_property
    def _columns(self) -> list[int]:
        return [self.story.cluster.resources.names.index(name) for name in (CPU, MEMORY)]

    @cached_property
    def _use(self) -> tuple[IntArray, ...]:
        """`use[stage][node]`: milli-cores, bytes and pods."""
        cluster = self.story.cluster
        requests = cluster.resources.requests[:, self._columns]
        requests = np.column_stack((requests, np.ones(len(requests), np.int64)))
        found = []
        for places in self.story.places:
            pods = np.flatnonzero(places >= 0)
            asked = requests[cluster.group_of[pods]]
            found.append(sum_by(places[pods], asked, len(cluster.nodes)))
        return tuple(found)

    @cached_property
    def _offered(self) -> IntArray:
        return self.story.cluster.resources.allocatable[:, self._columns]

    def cpu(self, node: int) -> tuple[int, ...]:
        """Percent of the node's CPU at every stage."""
        return self._percent(node, 0)

    def memory(self, node: int) -> tuple[int, ...]:
        """Percent of the node's memory at every stage."""
        return self._percent(node, 1)

    def _percent(self, node: int, column: int) -> tuple[int, ...]:
        offered = int(self._offered[node, column])
        return tuple(_rounded(int(use[node, column]), offered) for use in self._use)

    def used(self, node: int) -> tuple[str, ...]:
        """`2.4/4`: CPU requested and offered at every stage."""
        offered = decimal(int(self._offered[node, 0]), 1000)
        return tuple(f"{decimal(int(use[node, 0]), 1000)}/{offered}" for use in self._use)

    def levels(self, node: int) -> tuple[int, ...]:
        """By the fuller of CPU and memory, in tenths, at every stage."""
        shares = map(max, zip(self.cpu(node), self.memory(node), strict=True))
        return tuple(OVER if share > 100 else min(share // 10, OVER - 1) for share in shares)

    def text(self, node: int, stage: int) -> str:
        """`2.4 of 4 CPU, 3.5Gi of 16Gi memory, 6 pods`."""
        cpu, memory, pods = self._use[stage][node].tolist()
        offered_cpu, offered_memory = self._offered[node].tolist()
        return (
            f"{format_cpu(cpu)} of {format_cpu(offered_cpu)} CPU, "
            f"{format_resource(MEMORY, memory)} of {format_resource(MEMORY, offered_memory)} "
            f"memory, {count_of(pods, 'pod')}"
        )

    def summaries(self, nodes: IntArray) -> tuple[str, ...]:
        """`4 nodes, 25 pods, 59% CPU` at every stage."""
        offered = sum(self._offered[nodes, 0].tolist())
        found = []
        for use in self._use:
            cpu, _, pods = map(sum, zip(*use[nodes].tolist(), strict=True))
            share = f", {_rounded(cpu, offered)}% CPU" if offered else ""
            found.append(f"{many(len(nodes), 'node')}, {many(pods, 'pod')}{share}")
        return tuple(found)


def _rounded(asked: int, offered: int) -> int:
    """Percent, half up; nothing can be said in parts of nothing."""
    return (200 * asked + offered) // (2 * offered) if offered else 0
