"""NodeName: a pod that names its node goes nowhere else."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    PreFilterResult,
    StaticFilter,
    Status,
)
from planner.scheduler.framework.state import SchedulingState

REASON = "node(s) didn't match the requested node name"


class NodeName:
    """`spec.nodeName` of a pod that was not bound yet."""

    name: ClassVar[str] = "NodeName"
    reasons: ClassVar[tuple[str, ...]] = (REASON,)

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse every node but the named one."""
        wanted = group.node_name
        if not wanted:
            return SKIP
        nodes = state.cluster.nodes
        others = np.fromiter((node.name != wanted for node in nodes), np.int64, len(nodes))
        return PreFilterResult(StaticFilter(others, (Status(self.name, UNRESOLVABLE, (REASON,)),)))
