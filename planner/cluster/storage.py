"""Storage objects by name, as the volume plugins look them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner_models.volume import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)


@dataclass(frozen=True, eq=False)
class Storage:
    """Claims are named `namespace/name`, everything else by its name alone."""

    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    csi_nodes: Mapping[str, CSINode] = field(default_factory=dict)
    csi_drivers: Mapping[str, CSIDriver] = field(default_factory=dict)
    capacities: tuple[CSIStorageCapacity, ...] = ()
    attachments: tuple[VolumeAttachment, ...] = ()
