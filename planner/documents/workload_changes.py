"""Counts per zone before and after, workload by workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import counted_key, hard_constraints, terminating
from planner.cluster.topology import IntArray, Topology
from planner.disruption.budgets import Allowances
from planner.documents.ready_pods import controller_of
from planner.sequences.outcome import Changed
from planner_models.plan import WorkloadChange

PINNED = frozenset({"DaemonSet", "Node"})
"""Workloads whose pods belong to their nodes: their counts say nothing."""


class _Row(NamedTuple):
    """A workload with its groups, what its budgets still allow, and the skew that it may have."""

    workload: WorkloadRef
    groups: list[int]
    budget: int | None
    max_skew: int | None


def workload_changes(
    before: Cluster, after: Cluster, changed: Changed, allowances: Allowances
) -> tuple[WorkloadChange, ...]:
    """Every workload with pods that run or wait, by name; who is leaving is not counted."""
    key = counted_key(before)
    topology = None if key is None else before.topology(key)
    live = (before.node_of >= 0) & ~terminating(before)
    live[[*changed.placed, *changed.unplaced]] = True
    groups: dict[WorkloadRef, list[int]] = {}
    for group in np.unique(before.group_of[live]).tolist():
        groups.setdefault(before.workloads[group], []).append(group)
    tables = [counts_per_domain(cluster, topology).tolist() for cluster in (before, after)]
    lists = (changed.placed, changed.moved, changed.unplaced)
    numbers = [Counter(before.group_of[list(pods)].tolist()) for pods in lists]
    skews = _max_skews(before, groups, topology) if changed.moved else {}
    found: list[WorkloadChange] = []
    shown = (workload for workload in groups if workload.kind not in PINNED)
    for workload in sorted(shown, key=attrgetter("namespace", "kind", "name")):
        budget = allowances.budget_left(groups[workload])
        row = _Row(workload, groups[workload], budget, skews.get(workload))
        found.append(_change(before, row, topology, tables, numbers))
    return _with_controllers(before, found)


def _with_controllers(
    cluster: Cluster, changes: Iterable[WorkloadChange]
) -> tuple[WorkloadChange, ...]:
    """Whoever wants to count the pods of a workload later has to know who owns them."""
    moving = {(each.namespace, each.workload) for each in changes if each.moved}
    owners: dict[tuple[str, str], set[str]] = {key: set() for key in moving}
    running = np.unique(cluster.group_of[cluster.running]).tolist() if moving else ()
    for group in running:
        workload, example = cluster.workloads[group], cluster.groups[group].example
        key, owner = (workload.namespace, workload.short), controller_of(example)
        if key in owners and owner is not None:
            owners[key].add(owner)
    return tuple(
        each.model_copy(
            update={"controllers": tuple(sorted(owners[each.namespace, each.workload]))}
        )
        if each.moved
        else each
        for each in changes
    )


def counts_per_domain(cluster: Cluster, topology: Topology | None) -> IntArray:
    """`counts[g, d]`, over the domains of the topology."""
    groups = len(cluster.groups)
    size = 0 if topology is None else len(topology.domains)
    if topology is None or not size:
        return np.zeros((groups, 0), np.int64)
    pods = np.flatnonzero((cluster.node_of >= 0) & ~terminating(cluster))
    domains = topology.domain_of[cluster.node_of[pods]]
    inside = domains >= 0
    cells = cluster.group_of[pods][inside] * size + domains[inside]
    return np.bincount(cells, minlength=groups * size).reshape(groups, size)


def _change(
    cluster: Cluster,
    row: _Row,
    topology: Topology | None,
    tables: list[list[list[int]]],
    numbers: list[Counter[int]],
) -> WorkloadChange:
    groups = row.groups
    before, after = (_total([table[group] for group in groups]) for table in tables)
    placed, moved, unplaced = (sum([number[group] for group in groups]) for number in numbers)
    uneven = max(after, default=0) - min(after, default=0) > 1
    return WorkloadChange(
        workload=row.workload.short,
        namespace=row.workload.namespace,
        topology_key=None if topology is None else topology.key,
        domains=() if topology is None else topology.domains,
        before=tuple(before),
        after=tuple(after),
        placed=placed,
        moved=moved,
        unplaced=unplaced,
        budget=row.budget,
        max_skew=row.max_skew,
        note=_note(cluster, groups, topology) if uneven and topology is not None else "",
    )


def _total(rows: list[list[int]]) -> list[int]:
    """Column by column; most workloads have one row."""
    return rows[0] if len(rows) == 1 else list(map(sum, zip(*rows, strict=True)))


def _max_skews(
    cluster: Cluster, workloads: Mapping[WorkloadRef, list[int]], topology: Topology | None
) -> dict[WorkloadRef, int]:
    """By workload, where the counts shown are those that its hard constraint judges by.

    That is: it counts the workload's own pods and no others, over all domains of all nodes.
    """
    found: dict[WorkloadRef, int] = {}
    if topology is None:
        return found
    live = {group for groups in workloads.values() for group in groups}
    for spread in hard_constraints(cluster):
        same = spread.constraint.topology_key == topology.key and spread.scope.eligible.all()
        workload = cluster.workloads[spread.carriers[0].group]
        counted = live.intersection(spread.matching.tolist())
        if same and not spread.too_few_domains and counted == set(workloads.get(workload, ())):
            skew = spread.constraint.max_skew
            found[workload] = min(skew, found.get(workload, skew))
    return found


def _note(cluster: Cluster, groups: Iterable[int], topology: Topology) -> str:
    """Why a workload may stay uneven."""
    constraints = [
        constraint
        for group in groups
        for constraint in cluster.groups[group].spec.topology_spread_constraints
        if constraint.topology_key == topology.key
    ]
    if not constraints:
        return "no spread rule"
    if not any(constraint.hard for constraint in constraints):
        return "ScheduleAnyway: not worth a move"
    return ""
