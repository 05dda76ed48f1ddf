"""The claims behind a pod's volumes, and what attaching them to a node means.

A pod reaches storage through claims: named ones, which it may share, and those of generic ephemeral
volumes, which are named after the pod and belong to it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planner.cluster.groups import PodGroup
from planner.cluster.storage import Storage
from planner_models.pod import Pod
from planner_models.volume import PersistentVolumeClaim


@dataclass(frozen=True, eq=False)
class PodClaim:
    """One volume of a pod that goes through a claim; `claim` is None if there is none."""

    namespace: str
    name: str
    ephemeral: bool
    claim: PersistentVolumeClaim | None

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def not_found(self) -> str:
        """The API's words for a claim that does not exist."""
        return f'persistentvolumeclaim "{self.name}" not found'


class VolumeId(NamedTuple):
    """What the attach limits count once per node: a driver's volume.

    A claim that has no volume yet counts as one of its own; `claim` tells it from real handles.
    """

    driver: str
    handle: str
    claim: bool = False


def claims_of(storage: Storage, group: PodGroup) -> tuple[PodClaim, ...]:
    """The claims of a group's pods in the order of their volumes."""
    return tuple(_claims(storage.claims, group))


def _claims(claims: Mapping[str, PersistentVolumeClaim], group: PodGroup) -> Iterable[PodClaim]:
    namespace = group.namespace
    for volume in group.volumes:
        if volume.persistent_volume_claim is not None:
            name, ephemeral = volume.persistent_volume_claim.claim_name, False
        elif volume.ephemeral is not None:
            name, ephemeral = f"{group.example.name}-{volume.name}", True
        else:
            continue
        yield PodClaim(namespace, name, ephemeral, claims.get(f"{namespace}/{name}"))


def owned_by(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Whether the claim was made for the pod: the pod is its controller."""
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.uid and claim.namespace == pod.namespace


def delayed(claim: PersistentVolumeClaim, storage: Storage) -> bool:
    """Whether the scheduler decides about an unbound claim: WaitForFirstConsumer, no volume named.

    All other unbound claims (no class, an unknown one, Immediate) should have been bound already.
    """
    found = storage.classes.get(claim.storage_class or "")
    return (
        not claim.spec.volume_name
        and found is not None
        and found.volume_binding_mode == "WaitForFirstConsumer"
    )


def volumes_attached_for(
    storage: Storage, claims: Iterable[PodClaim], pod: Pod
) -> frozenset[VolumeId]:
    """The volumes that a node has to attach for a pod, as NodeVolumeLimits counts them.

    Claims that don't exist and volumes that no CSI driver serves are not counted. In-tree volumes
    that were migrated to CSI are not translated.
    """
    found = (
        _attached_for(storage, entry.claim)
        for entry in claims
        if entry.claim is not None and (not entry.ephemeral or owned_by(entry.claim, pod))
    )
    return frozenset(volume for volume in found if volume is not None)


def _attached_for(storage: Storage, claim: PersistentVolumeClaim) -> VolumeId | None:
    volume = storage.volumes.get(claim.spec.volume_name)
    if volume is not None:
        source = volume.spec.csi
        if source is None or not source.driver or not source.volume_handle:
            return None
        return VolumeId(source.driver, source.volume_handle)
    found = storage.classes.get(claim.storage_class or "")
    if found is None or not found.provisioner:
        return None
    return VolumeId(found.provisioner, claim.key, claim=True)
