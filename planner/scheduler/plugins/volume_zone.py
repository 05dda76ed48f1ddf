"""VolumeZone: zone and region labels of a bound volume pin the pod, beside its node affinity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.storage import Storage
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    PreFilterResult,
    StaticFilter,
    Status,
)
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.volumes.claims import PodClaim, delayed
from planner.scheduler.volumes.reach import NodeReach
from planner_models.node import REGION, ZONE
from planner_models.volume import PersistentVolume, PersistentVolumeClaim

REASON = "node(s) had no available volume zone"

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
CURRENT = {BETA_ZONE: ZONE, BETA_REGION: REGION, ZONE: ZONE, REGION: REGION}
"""The label that a topology label is called today."""
DELIMITER = "__"


class VolumeZone:
    """Topology labels of PersistentVolumes; those of ephemeral volumes are not looked at."""

    name: ClassVar[str] = "VolumeZone"
    reasons: ClassVar[tuple[str, ...]] = ()

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes in other zones; nodes without any zone or region label pass."""
        volumes = state.volumes.of(group)
        shared = [e for e in volumes.claims if not e.ephemeral] if volumes is not None else []
        storage = state.cluster.storage
        topologies: list[tuple[str, frozenset[str]]] = []
        for entry in shared:
            found = _volume_of(storage, entry)
            if isinstance(found, str):
                return PreFilterResult(rejection=Status(self.name, UNRESOLVABLE, (found,)))
            if found is not None:
                topologies += zones_of(found)
        if not topologies:
            return SKIP
        refused = _refused(state.volumes.reach, topologies).astype(np.int64)
        status = Status(self.name, UNRESOLVABLE, (REASON,))
        return PreFilterResult(StaticFilter(refused, (status,)))


def _volume_of(storage: Storage, entry: PodClaim) -> PersistentVolume | str | None:
    """The claim's volume, why there can't be one, or None if it is still to be chosen."""
    claim = entry.claim
    if claim is None:
        return entry.not_found
    name = claim.spec.volume_name
    if name:
        return storage.volumes.get(name) or f'persistentvolume "{name}" not found'
    return None if delayed(claim, storage) else _unbound(storage, claim)


def _unbound(storage: Storage, claim: PersistentVolumeClaim) -> str:
    if not claim.storage_class:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    if claim.storage_class not in storage.classes:
        return f'storageclass.storage.k8s.io "{claim.storage_class}" not found'
    return "PersistentVolume had no name"


def zones_of(volume: PersistentVolume) -> list[tuple[str, frozenset[str]]]:
    """The topology labels of a volume with their values; `a__b` names two zones.

    A label with an empty part is ignored.
    """
    found: list[tuple[str, frozenset[str]]] = []
    for key in CURRENT:
        value = volume.metadata.labels.get(key)
        parts = frozenset(part.strip() for part in (value or "").split(DELIMITER))
        if "" not in parts:
            found.append((key, parts))
    return found


def _refused(reach: NodeReach, topologies: list[tuple[str, frozenset[str]]]) -> BoolArray:
    """A node's label of the same key is compared, else that of today's key."""
    pinned: BoolArray = np.logical_or.reduce([reach.labelled(key) for key in CURRENT])
    refused = np.zeros_like(pinned)
    for key, values in topologies:
        same = reach.labelled(key)
        matching = np.where(same, reach.having(key, values), reach.having(CURRENT[key], values))
        refused |= ~matching
    return refused & pinned
