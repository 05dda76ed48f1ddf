"""VolumeRestrictions: disks that can't be shared on a node, claims that can't be shared at all."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.changes import Changes, GroupSet
from planner.scheduler.framework.plugin import (
    PASS,
    SKIP,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.volumes.claims import PodClaim
from planner_models.volume import RBDImage, Volume

REASON_DISK = "node(s) had no available disk"
REASON_CLAIM = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)

_DISK, _CLAIM = 1, 2


class VolumeRestrictions:
    """Inline disks and ReadWriteOncePod claims."""

    name: ClassVar[str] = "VolumeRestrictions"
    reasons: ClassVar[tuple[str, ...]] = ()

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes with a rival for a disk, and all nodes while a claim has a user."""
        volumes = state.volumes.of(group)
        shared = [e for e in volumes.claims if not e.ephemeral] if volumes is not None else []
        for entry in shared:
            if entry.claim is None:
                rejection = Status(self.name, UNRESOLVABLE, (entry.not_found,))
                return PreFilterResult(rejection=rejection)
        exclusive = [e for e in shared if _read_write_once_pod(e)]
        disks = [volume for volume in group.volumes if _restricted(volume)]
        if not exclusive and not disks:
            return SKIP
        return PreFilterResult(_RestrictionFilter(state, exclusive, disks))


class _RestrictionFilter(Filter):
    def __init__(
        self, state: SchedulingState, exclusive: list[PodClaim], disks: list[Volume]
    ) -> None:
        self._volumes = state.volumes
        self._groups = state.cluster.groups
        self._keys = {entry.key for entry in exclusive}
        self._names = {entry.name for entry in exclusive}
        self._on_trial = 0
        rivals = [g.index for g in self._groups if _rivals(disks, g.volumes)] if disks else []
        self._rivals = GroupSet(rivals)
        self._disk_users = state.counts_by_node(np.array(rivals, np.int64), terminating=True)

    def verdicts(self) -> IntArray:
        """A claim in use refuses every node; a disk in use its own, and is named first."""
        return np.where(self._disk_users > 0, _DISK, self._claim_verdict())

    def verdict_at(self, node: int) -> int:
        """The same for one node."""
        return _DISK if self._disk_users[node] > 0 else self._claim_verdict()

    def _claim_verdict(self) -> int:
        in_use = sum(self._volumes.users(key) > 0 for key in self._keys)
        return _CLAIM if in_use + self._on_trial > 0 else PASS

    def status(self, verdict: int) -> Status:
        """Taking the other user away would help."""
        reason = REASON_DISK if verdict == _DISK else REASON_CLAIM
        return Status(VolumeRestrictions.name, UNSCHEDULABLE, (reason,))

    def apply(self, changes: Changes) -> None:
        """Count users of the disks; those of claims are counted by the volume state."""
        found = self._rivals.among(changes.groups)
        np.add.at(self._disk_users, changes.nodes[found], changes.deltas[found])

    def dry_run(self, change: Change) -> None:
        """Preemption counts users by the claim's name alone, in whatever namespace they are."""
        if change.group in self._rivals:
            self._disk_users[change.node] += change.delta
        for volume in self._groups[change.group].volumes:
            source = volume.persistent_volume_claim
            if source is not None and source.claim_name in self._names:
                self._on_trial += change.delta


def _read_write_once_pod(entry: PodClaim) -> bool:
    return entry.claim is not None and "ReadWriteOncePod" in entry.claim.spec.access_modes


def _restricted(volume: Volume) -> bool:
    sources = (
        volume.gce_persistent_disk,
        volume.aws_elastic_block_store,
        volume.iscsi,
        volume.rbd,
    )
    return any(source is not None for source in sources)


def _rivals(disks: list[Volume], others: tuple[Volume, ...]) -> bool:
    return any(conflict(disk, other) for disk in disks for other in others)


def conflict(one: Volume, other: Volume) -> bool:
    """Whether two pods of a node can't have these volumes both.

    The same disk may be mounted read-only by several pods, except for AWS ones.
    """
    return (
        _same_gce(one, other)
        or _same_aws(one, other)
        or _same_iscsi(one, other)
        or (one.rbd is not None and other.rbd is not None and _same_rbd(one.rbd, other.rbd))
    )


def _same_gce(one: Volume, other: Volume) -> bool:
    a, b = one.gce_persistent_disk, other.gce_persistent_disk
    if a is None or b is None:
        return False
    return a.pd_name == b.pd_name and not (a.read_only and b.read_only)


def _same_aws(one: Volume, other: Volume) -> bool:
    a, b = one.aws_elastic_block_store, other.aws_elastic_block_store
    return a is not None and b is not None and a.volume_id == b.volume_id


def _same_iscsi(one: Volume, other: Volume) -> bool:
    a, b = one.iscsi, other.iscsi
    if a is None or b is None:
        return False
    return a.iqn == b.iqn and not (a.read_only and b.read_only)


def _same_rbd(a: RBDImage, b: RBDImage) -> bool:
    """Images are the same if they share a monitor and agree in pool and name."""
    return (
        not set(a.monitors).isdisjoint(b.monitors)
        and (a.pool, a.image) == (b.pool, b.image)
        and not (a.read_only and b.read_only)
    )
