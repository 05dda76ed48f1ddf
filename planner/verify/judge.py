"""May this pod go to this node now? Asked of the scheduler's own filters."""

from __future__ import annotations

import numpy as np

from planner.cluster.resources import STANDARD
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework import PASS, UNSCHEDULABLE, Status
from planner.scheduler.plugins.node_resources_fit import INSUFFICIENT

OVERCOMMITTED = "capacity"
"""Stands in place of a plugin where the sum of requests alone is the judge."""


def refusal(scheduler: Scheduler, pod: int, node: int) -> Status | None:
    """The first filter that refuses the node, or None if the pod may be bound to it.

    The same verdict as `Scheduler.evaluate`, for one node only. Capacity is looked at once more
    without the filter: a profile may have it disabled, and a kubelet still turns the pod away.
    """
    cycle = scheduler.cycle(pod)
    if cycle.rejection is not None:
        return cycle.rejection
    name = scheduler.state.cluster.nodes[node].name
    if cycle.limit is not None and name not in cycle.limit.nodes:
        return cycle.limit.status
    for _, each in cycle.filters:
        verdict = each.verdict_at(node)
        if verdict != PASS:
            return each.status(verdict)
    return _overcommitted(scheduler, pod, node)


def _overcommitted(scheduler: Scheduler, pod: int, node: int) -> Status | None:
    state = scheduler.state
    request = state.requests[state.cluster.group_of[pod], : len(STANDARD)]
    free = state.cluster.resources.allocatable[node] - state.used[node]
    short = np.flatnonzero((request > 0) & (request > free[: len(STANDARD)]))
    if not len(short):
        return None
    reasons = tuple(INSUFFICIENT.format(STANDARD[i]) for i in short)
    return Status(OVERCOMMITTED, UNSCHEDULABLE, reasons)
