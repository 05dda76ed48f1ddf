"""NodeUnschedulable: cordoned nodes take only pods that tolerate the cordon's taint."""

from __future__ import annotations

from typing import ClassVar

from planner.cluster.groups import PodGroup
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    PreFilterResult,
    Status,
    static_result,
)
from planner.scheduler.framework.state import SchedulingState
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.taints import Taint

REASON = "node(s) were unschedulable"

_TAINT = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")


class NodeUnschedulable:
    """`spec.unschedulable`."""

    name: ClassVar[str] = "NodeUnschedulable"
    reasons: ClassVar[tuple[str, ...]] = (REASON,)

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse cordoned nodes, unless the pod tolerates the taint that a cordon brings."""
        tolerated = any(t.tolerates(_TAINT) for t in group.spec.tolerations)
        if tolerated:
            return SKIP
        status = Status(self.name, UNRESOLVABLE, (REASON,))
        return state.facts.once(self.name, lambda: static_result(state.cordoned, (status,)))
