"""Claims, volumes and classes that pending pods need and that the input does not have.

kube-scheduler would say that they don't exist and that nothing helps. Here it may as well be that
nobody asked kubectl for them, so that no verdict about such a pod is worth much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from planner.cluster.snapshot import PENDING
from planner.cluster.storage import Storage
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory, counted, name_some
from planner_models.notice import Notice
from planner_models.pod import Pod
from planner_models.volume import PersistentVolumeClaim, Volume

KINDS = {"pvc": "PersistentVolumeClaim", "pv": "PersistentVolume", "sc": "StorageClass"}
"""By the name that kubectl has for them."""

DEFAULT = "the default StorageClass"


def missing_storage(
    inventory: Inventory, pods: Sequence[Pod], node_of: IntArray
) -> Iterator[Notice]:
    """A notice for each kind of which something is missing, with the command that gets it."""
    claims = {claim.key: claim for claim in inventory.claims}
    volumes = {volume.name for volume in inventory.persistent_volumes}
    lookup = _Lookup(claims, volumes, {each.name for each in inventory.storage_classes})
    for pod in (pods[i] for i in np.flatnonzero(node_of == PENDING).tolist()):
        lookup.look_for_all(pod)
    for short, kind in KINDS.items():
        absent = lookup.absent[short]
        if absent:
            verb = "is" if len(absent) == 1 else "are"
            yield Notice(
                code=f"unknown{kind}",
                text=(
                    f"{counted(len(absent), f'{kind} object')} that pending pods need {verb} not "
                    "in the input, so nothing is proven about them. "
                    f"Add: kubectl get {short} -A -o json"
                ),
                objects=name_some(absent),
            )


def missing_for(storage: Storage, pod: Pod) -> Mapping[str, set[str]]:
    """What one pod needs and the input does not have, by kubectl's name of the kind."""
    lookup = _Lookup(storage.claims, storage.volumes.keys(), storage.classes.keys())
    lookup.look_for_all(pod)
    return {short: absent for short, absent in lookup.absent.items() if absent}


class _Lookup:
    def __init__(
        self,
        claims: Mapping[str, PersistentVolumeClaim],
        volumes: Set[str],
        classes: Set[str],
    ) -> None:
        self._claims = claims
        self._volumes = volumes
        self._classes = classes
        self.absent: dict[str, set[str]] = {short: set() for short in KINDS}

    def look_for_all(self, pod: Pod) -> None:
        for volume in pod.volumes:
            self.look_for(pod, volume)

    def look_for(self, pod: Pod, volume: Volume) -> None:
        """A generic ephemeral volume makes its claim itself, once the pod is there."""
        if volume.ephemeral is not None:
            claim = self._claims.get(f"{pod.namespace}/{pod.name}-{volume.name}")
            template = volume.ephemeral.volume_claim_template
            self._look_behind(claim or PersistentVolumeClaim.defaults().replace(spec=template.spec))
        elif volume.persistent_volume_claim is not None:
            key = f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}"
            claim = self._claims.get(key)
            if claim is None:
                self.absent["pvc"].add(key)
            else:
                self._look_behind(claim)

    def _look_behind(self, claim: PersistentVolumeClaim) -> None:
        """The volume of a bound claim; the class of one that is still to be bound.

        A claim without a class gets the default one, of which an input without any says nothing.
        """
        if claim.spec.volume_name:
            self.absent["pv"] |= {claim.spec.volume_name} - self._volumes
        elif claim.storage_class:
            self.absent["sc"] |= {claim.storage_class} - self._classes
        elif claim.storage_class is None and not self._classes:
            self.absent["sc"].add(DEFAULT)
