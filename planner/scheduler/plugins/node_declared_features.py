"""NodeDeclaredFeatures: a pod goes only where the kubelet says that it can do what the pod needs.

On by default since v1.36, and the last of the default profile's filters.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    PreFilterResult,
    Status,
    static_result,
)
from planner.scheduler.framework.state import SchedulingState

REASON = "node(s) didn't match Pod's required features"


class NodeDeclaredFeatures:
    """`status.declaredFeatures` of nodes against what the pod's spec asks for."""

    name: ClassVar[str] = "NodeDeclaredFeatures"
    reasons: ClassVar[tuple[str, ...]] = (REASON,)

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes that lack one of the features; most pods ask for none."""
        wanted = frozenset(group.spec.required_features)
        if not wanted:
            return SKIP
        return state.facts.once((self.name, wanted), lambda: self._lacking(state, wanted))

    def _lacking(self, state: SchedulingState, wanted: frozenset[str]) -> PreFilterResult:
        nodes = state.cluster.nodes
        lacking = (not wanted.issubset(node.status.declared_features) for node in nodes)
        status = Status(self.name, UNRESOLVABLE, (REASON,))
        return static_result(np.fromiter(lacking, np.int64, len(nodes)), (status,))
