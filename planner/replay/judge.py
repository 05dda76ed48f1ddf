"""May this pod go to this node now? Asked of the scheduler's own filters."""

from __future__ import annotations

from planner.cluster.resources import STANDARD
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import UNSCHEDULABLE, Status, first_refusal
from planner.scheduler.plugins.node_resources_fit import INSUFFICIENT

OVERCOMMITTED = "capacity"
"""Stands in place of a plugin where the sum of requests alone is the judge."""


def refusal(scheduler: Scheduler, pod: int, node: int) -> Status | None:
    """The first filter that refuses the node, or None if the pod may be bound to it.

    The same verdict as `Scheduler.evaluate`, for one node only. Where a profile has the filter for
    capacity disabled, that is looked at without it: a kubelet still turns the pod away.
    """
    cycle = scheduler.cycle(pod)
    if cycle.rejection is not None:
        return cycle.rejection
    limit = cycle.limit
    if limit is not None and scheduler.state.cluster.nodes[node].name not in limit.nodes:
        return limit.status
    status = first_refusal(cycle.judges, node)
    if status is not None or cycle.judges_room:
        return status
    return _overcommitted(scheduler, pod, node)


def _overcommitted(scheduler: Scheduler, pod: int, node: int) -> Status | None:
    state = scheduler.state
    request: list[int] = state.requests[state.cluster.group_of[pod]].tolist()
    offered, used = state.cluster.resources.offers[node], state.used[node].tolist()
    short = [
        name
        for name, asked, offer, taken in zip(STANDARD, request, offered, used, strict=False)
        if asked > 0 and asked > offer - taken
    ]
    if not short:
        return None
    return Status(OVERCOMMITTED, UNSCHEDULABLE, tuple(map(INSUFFICIENT.format, short)))
