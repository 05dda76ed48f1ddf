"""NodeVolumeLimits: a node can attach only so many volumes of a CSI driver."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    StaticFilter,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.volumes.claims import VolumeId

REASON = "node(s) exceed max volume count"


class NodeVolumeLimits:
    """`allocatable.count` of the drivers of a CSINode."""

    name: ClassVar[str] = "NodeVolumeLimits"
    reasons: ClassVar[tuple[str, ...]] = ()

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes where the pod's volumes would be one too many.

        A claim that doesn't exist is refused node by node. With the default plugins the pod doesn't
        come that far.
        """
        volumes = state.volumes.of(group)
        if volumes is None:
            return SKIP
        for entry in volumes.claims:
            if entry.claim is None:
                reason = f"looking up PVC {entry.key}: {entry.not_found}"
                everywhere = np.ones(len(state.cluster.nodes), np.int64)
                status = Status(self.name, UNRESOLVABLE, (reason,))
                return PreFilterResult(StaticFilter(everywhere, (status,)))
        if not state.volumes.attachments.limited(volumes.attached):
            return SKIP
        return PreFilterResult(_LimitFilter(state, volumes.attached))


class _LimitFilter(Filter):
    def __init__(self, state: SchedulingState, volumes: frozenset[VolumeId]) -> None:
        self._state = state
        self._volumes = volumes
        self._away: Counter[VolumeId] = Counter()

    def verdicts(self) -> IntArray:
        """1 where the limit would be exceeded."""
        return self._state.volumes.attachments.exceeded(self._volumes).astype(np.int64)

    def verdict_at(self, node: int) -> int:
        """The same for one node, without the volumes that are away on trial."""
        attachments = self._state.volumes.attachments
        return int(attachments.exceeded_at(node, self._volumes, self._away))

    def status(self, verdict: int) -> Status:
        """Taking pods with other volumes away would help."""
        return Status(NodeVolumeLimits.name, UNSCHEDULABLE, (REASON,))

    def dry_run(self, change: Change) -> None:
        """Remember whose volumes are away on trial."""
        volumes = self._state.volumes.of(self._state.cluster.groups[change.group])
        for volume in volumes.attached if volumes is not None else ():
            self._away[volume] -= change.delta
