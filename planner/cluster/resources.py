"""Resources as integer arrays: milli-cores for cpu, whole units for everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner_models.node import Node
from planner_models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

STANDARD = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
LIMIT = 2**62 - 1
"""Amounts and sums are cut here, so that one can always be added to another within 64 bits."""


@dataclass(frozen=True, eq=False)
class ResourceTable:
    """`allocatable[n, r]` and `requests[g, r]` over the named resources.

    cpu, memory, ephemeral-storage and pods come first, then the extended ones by name. Every pod
    requests one of `pods`.
    """

    names: tuple[str, ...]
    allocatable: IntArray
    requests: IntArray

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The column of each resource."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def by_resource(self) -> IntArray:
        """`by_resource[r, n]`: allocatable again, where all nodes are looked at together."""
        return np.ascontiguousarray(self.allocatable.T)

    @cached_property
    def offers(self) -> list[list[int]]:
        """`offers[n][r]`: allocatable in plain numbers, where one node is."""
        offers: list[list[int]] = self.allocatable.tolist()
        return offers

    def column(self, name: str) -> int:
        """The column of one resource."""
        return self.index[name]


def resource_table(nodes: Sequence[Node], groups: Sequence[PodGroup]) -> ResourceTable:
    """All resources that a node offers or a pod asks for."""
    offered = [node.allocatable for node in nodes]
    asked = [{**group.spec.requests, PODS: 1} for group in groups]
    others = {name for amounts in (*offered, *asked) for name in amounts} - set(STANDARD)
    names = (*STANDARD, *sorted(others))
    return ResourceTable(names, _matrix(offered, names), _matrix(asked, names))


def with_groups(
    table: ResourceTable, groups: Sequence[PodGroup], *, appended: bool
) -> ResourceTable:
    """The same nodes with other groups, or with more of them `appended` to those that it has.

    What only new ones ask for no node offers.
    """
    more = [{**group.spec.requests, PODS: 1} for group in groups[len(table.requests) :]]
    if appended and {name for amounts in more for name in amounts} <= set(table.names):
        requests = np.vstack((table.requests, _matrix(more, table.names)))
        return ResourceTable(table.names, table.allocatable, requests)
    asked = [{**group.spec.requests, PODS: 1} for group in groups]
    others = {name for amounts in asked for name in amounts} | set(table.names)
    names = (*STANDARD, *sorted(others - set(STANDARD)))
    allocatable = np.zeros((len(table.allocatable), len(names)), np.int64)
    allocatable[:, [names.index(name) for name in table.names]] = table.allocatable
    return ResourceTable(names, allocatable, _matrix(asked, names))


def _matrix(rows: Sequence[Mapping[str, int]], names: Sequence[str]) -> IntArray:
    amounts = [[min(row.get(name, 0), LIMIT) for name in names] for row in rows]
    return np.array(amounts, np.int64).reshape(len(rows), len(names))


def rows_of(by_resource: IntArray, columns: IntArray, nodes: IntArray | None) -> IntArray:
    """A copied row for each of these resources, over some nodes or all of them."""
    rows: IntArray = by_resource[columns if nodes is None else (columns[:, None], nodes)]
    return rows


def sum_by(index: IntArray, amounts: IntArray, size: int) -> IntArray:
    """Rows of `amounts` added up by `index`: what the pods of each node request together."""
    total = np.zeros((size, amounts.shape[1]), np.int64)
    if amounts.size and int(amounts.max()) * len(amounts) > LIMIT:
        return _careful_sum_by(index, amounts, total)
    for resource in range(amounts.shape[1]):
        np.add.at(total[:, resource], index, amounts[:, resource])
    return total


def _careful_sum_by(index: IntArray, amounts: IntArray, total: IntArray) -> IntArray:
    """Row by row for absurdly large amounts, whose sums would wrap around."""
    for row, amount in zip(index, amounts, strict=True):
        total[row] = np.minimum(total[row] + amount, LIMIT)
    return total
