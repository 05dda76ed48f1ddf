"""VolumeBinding: a pod goes where its bound volumes are and where its unbound claims find some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    Filter,
    PreFilterResult,
    StaticFilter,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.volumes.claims import PodClaim, delayed, owned_by
from planner.scheduler.volumes.matching import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_MISSING,
)
from planner_models.pod import Pod

REASONS = {
    NODE_CONFLICT: "node(s) didn't match PersistentVolume's node affinity",
    BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    NOT_ENOUGH_SPACE: "node(s) did not have enough free storage",
    VOLUME_MISSING: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
REASON_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


class VolumeBinding:
    """Node affinity of bound volumes; free volumes or provisioning for unbound claims."""

    name: ClassVar[str] = "VolumeBinding"
    reasons: ClassVar[tuple[str, ...]] = ()

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse pods whose claims are unusable, then nodes that their volumes can't reach."""
        volumes = state.volumes.of(group)
        if volumes is None:
            return SKIP
        reason = next(_unusable(volumes.claims, group.example), None)
        if reason is None and any(_immediate(state, entry) for entry in volumes.claims):
            reason = REASON_IMMEDIATE
        if reason is not None:
            return PreFilterResult(rejection=Status(self.name, UNRESOLVABLE, (reason,)))
        if volumes.undecided:
            return PreFilterResult(_BindingFilter(state, group))
        return PreFilterResult(StaticFilter(state.volumes.outcome(group).verdicts, _STATUSES))


class _BindingFilter(Filter):
    """Read anew each time: pods placed meanwhile may have taken free volumes.

    A pod that preemption takes away leaves its volumes as they are.
    """

    def __init__(self, state: SchedulingState, group: PodGroup) -> None:
        self._volumes = state.volumes
        self._group = group

    def verdicts(self) -> IntArray:
        """The sum of the reasons against each node."""
        return self._volumes.outcome(self._group).verdicts

    def status(self, verdict: int) -> Status:
        """Preemption frees no volume."""
        return _STATUSES[verdict - 1]


def _status(verdict: int) -> Status:
    reasons = sorted(text for reason, text in REASONS.items() if verdict & reason)
    return Status(VolumeBinding.name, UNRESOLVABLE, tuple(reasons))


_STATUSES = tuple(_status(verdict) for verdict in range(1, sum(REASONS) + 1))


def _unusable(claims: Iterable[PodClaim], pod: Pod) -> Iterator[str]:
    """What is wrong with the claims themselves."""
    for entry in claims:
        claim = entry.claim
        if claim is None:
            yield (
                "waiting for ephemeral volume controller to create the persistentvolumeclaim "
                f'"{entry.name}"'
                if entry.ephemeral
                else entry.not_found
            )
        elif claim.status.phase == "Lost":
            yield (
                f'persistentvolumeclaim "{entry.name}" bound to non-existent '
                f'persistentvolume "{claim.spec.volume_name}"'
            )
        elif claim.metadata.deletion_timestamp is not None:
            yield f'persistentvolumeclaim "{entry.name}" is being deleted'
        elif entry.ephemeral and not owned_by(claim, pod):
            yield f"PVC {entry.key} was not created for pod {pod.key} (pod is not owner)"


def _immediate(state: SchedulingState, entry: PodClaim) -> bool:
    claim = entry.claim
    return claim is not None and not claim.fully_bound and not delayed(claim, state.cluster.storage)
