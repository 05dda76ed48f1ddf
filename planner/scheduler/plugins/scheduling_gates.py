"""SchedulingGates: a pod with gates does not enter the queue."""

from __future__ import annotations

from planner.scheduler.framework.plugin import UNRESOLVABLE, Status
from planner_models.pod import PodSpec

NAME = "SchedulingGates"
REASON = "waiting for scheduling gates: [{}]"


def pre_enqueue(spec: PodSpec) -> Status | None:
    """Why the pod is kept out of the queue, or None if it may enter."""
    if not spec.scheduling_gates:
        return None
    names = " ".join(gate.name for gate in spec.scheduling_gates)
    return Status(NAME, UNRESOLVABLE, (REASON.format(names),))
