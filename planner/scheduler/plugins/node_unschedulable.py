"""NodeUnschedulable: cordoned nodes take only pods that tolerate the cordon's taint."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from models.node import UNSCHEDULABLE_TAINT
from models.taints import Taint
from planner.cluster.groups import PodGroup
from planner.scheduler.framework import (
    UNRESOLVABLE,
    PreFilterResult,
    StaticFilter,
    Status,
)
from planner.scheduler.state import SchedulingState

REASON = "node(s) were unschedulable"

_TAINT = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")


class NodeUnschedulable:
    """`spec.unschedulable`."""

    name: ClassVar[str] = "NodeUnschedulable"

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse cordoned nodes, unless the pod tolerates the taint that a cordon brings."""
        tolerated = any(t.tolerates(_TAINT) for t in group.spec.tolerations)
        refused = np.zeros_like(state.cordoned) if tolerated else state.cordoned
        status = Status(self.name, UNRESOLVABLE, (REASON,))
        return PreFilterResult(StaticFilter(refused, (status,)))
