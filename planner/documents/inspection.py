"""From a cluster to its `Inspection`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.cluster.snapshot import ELSEWHERE, GONE, PENDING, Cluster
from planner.cluster.spread import terminating
from planner.documents.inspection_nodes import inspect_nodes, utilisation
from planner.documents.inspection_spread import inspect_spread
from planner.documents.part_of_pods import part_notice
from planner_models.inspection import (
    Inspection,
    PodInspection,
    WorkloadInspection,
    WorkloadName,
)
from planner_models.pod import DEFAULT_SCHEDULER

UNBUDGETED = frozenset({"Pod", "DaemonSet", "Job", "Node"})
"""Workloads for which a missing budget is no news: evictions spare them, or they end anyway."""


def inspect_cluster(cluster: Cluster, asked: Collection[int] | None = None) -> Inspection:
    """What the cluster holds now; nodes in full, and of the pods those that were asked about."""
    if asked is not None:
        return _part(cluster, asked)
    leaving = terminating(cluster)
    workloads = _workloads(cluster, leaving)
    return Inspection(
        nodes=inspect_nodes(cluster),
        pods=_pods(cluster, leaving),
        utilisation=utilisation(cluster, np.arange(len(cluster.nodes))),
        workloads=workloads,
        budgets=len(cluster.budgets),
        without_budget=tuple(_without_budget(workloads)),
        spread=inspect_spread(cluster),
        notices=cluster.notices,
    )


def _part(cluster: Cluster, asked: Collection[int]) -> Inspection:
    """Workloads and spread rules of the pods; the load of nodes is that of all pods together."""
    others = set(range(len(cluster.pods))).difference(asked)
    rest = inspect_cluster(cluster.without(others))
    refs = {cluster.workloads[int(cluster.group_of[pod])] for pod in asked}
    names = {(ref.namespace, ref.kind, ref.name) for ref in refs}
    workloads = tuple(w for w in rest.workloads if (w.namespace, w.kind, w.name) in names)
    groups = {int(cluster.group_of[pod]) for pod in asked}
    return rest.model_copy(
        update={
            "nodes": inspect_nodes(cluster),
            "utilisation": utilisation(cluster, np.arange(len(cluster.nodes))),
            "workloads": workloads,
            "budgets": len({(w.namespace, name) for w in workloads for name in w.budgets}),
            "spread": inspect_spread(cluster, groups),
            "notices": (*cluster.notices, part_notice(cluster, asked)),
        }
    )


def _pods(cluster: Cluster, leaving: BoolArray) -> PodInspection:
    staying = ~leaving
    waiting = [cluster.pods[i] for i in np.flatnonzero((cluster.node_of == PENDING) & staying)]
    return PodInspection(
        running=int(np.count_nonzero((cluster.node_of >= 0) & staying)),
        pending=len(waiting),
        terminating=int(np.count_nonzero((cluster.node_of >= ELSEWHERE) & leaving)),
        elsewhere=int(np.count_nonzero((cluster.node_of == ELSEWHERE) & staying)),
        finished=cluster.finished,
        synthesised=sum(pod.synthesised for pod in waiting),
        gated=sum(bool(pod.spec.scheduling_gates) for pod in waiting),
        other_scheduler=sum(
            pod.spec.scheduler_name != DEFAULT_SCHEDULER
            for pod, node in zip(cluster.pods, cluster.node_of, strict=True)
            if node != GONE
        ),
    )


def _workloads(cluster: Cluster, leaving: BoolArray) -> tuple[WorkloadInspection, ...]:
    """Every workload with pods, and every controller at the top that has none."""
    states = (
        _per_group(cluster, (cluster.node_of >= 0) & ~leaving),
        _per_group(cluster, (cluster.node_of == PENDING) & ~leaving),
        _per_group(cluster, (cluster.node_of >= ELSEWHERE) & leaving),
        _per_group(cluster, (cluster.node_of == ELSEWHERE) & ~leaving),
    )
    totals: dict[WorkloadRef, list[int]] = {ref: [0] * len(states) for ref in _tops(cluster)}
    for ref, *counts in zip(cluster.workloads, *states, strict=True):
        total = totals.setdefault(ref, [0] * len(states))
        for i, count in enumerate(counts):
            total[i] += count
    budgets = _budgets(cluster)
    return tuple(
        WorkloadInspection(
            namespace=ref.namespace,
            kind=ref.kind,
            name=ref.name,
            desired=cluster.owners.desired(ref),
            running=running,
            pending=pending,
            terminating=ending,
            elsewhere=elsewhere,
            budgets=tuple(sorted(budgets.get(ref, ()))),
        )
        for ref, (running, pending, ending, elsewhere) in sorted(totals.items())
    )


def _per_group(cluster: Cluster, chosen: BoolArray) -> list[int]:
    counts = np.bincount(cluster.group_of[chosen], minlength=len(cluster.groups))
    return [int(count) for count in counts]


def _tops(cluster: Cluster) -> Iterable[WorkloadRef]:
    """Controllers that no other one controls; a Deployment's old ReplicaSets are part of it."""
    for ref, controller in cluster.owners.controllers.items():
        if controller.metadata.controller is None:
            yield ref


def _budgets(cluster: Cluster) -> dict[WorkloadRef, set[str]]:
    """The budgets over each workload's pods; in policy/v1 a budget without a selector has none."""
    found: dict[WorkloadRef, set[str]] = {}
    for budget in cluster.budgets:
        for group in cluster.group_index.matching(budget.spec.selector, (budget.namespace,)):
            found.setdefault(cluster.workloads[group], set()).add(budget.name)
    return found


def _without_budget(workloads: Sequence[WorkloadInspection]) -> Iterable[WorkloadName]:
    for workload in workloads:
        if workload.running and not workload.budgets and workload.kind not in UNBUDGETED:
            yield WorkloadName(namespace=workload.namespace, kind=workload.kind, name=workload.name)


def count_kinds(workloads: Iterable[WorkloadName]) -> list[tuple[str, int]]:
    """How many workloads of each kind, the most frequent first."""
    counts = Counter(workload.kind for workload in workloads)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
