"""Free volumes that claims could take.

Claims of the same shape (class, size, modes, selector) have the same candidates: the replicas of a
StatefulSet share them. What was promised meanwhile is left to the caller to leave out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.storage import Storage
from planner.cluster.topology import IntArray
from planner.scheduler.volumes.reach import STORAGE, NodeReach, Reach
from planner_models.selectors import LabelSelector
from planner_models.volume import PersistentVolume, PersistentVolumeClaim

NO_VOLUME = -1
_Shape = tuple[str, int, str, tuple[str, ...], LabelSelector | None]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Volumes by rank, the smallest first, apart by how many nodes they reach.

    Local volumes are many and reach one node each, so that they are kept as arrays; all others are
    few by reach.
    """

    volumes: IntArray
    """The volume of each rank."""
    local_ranks: IntArray
    local_nodes: IntArray
    wide: tuple[tuple[Reach, IntArray], ...]
    """Reaches with the ranks of their volumes."""

    def smallest(self, nodes: int, taken: BoolArray, earlier: Sequence[IntArray]) -> IntArray:
        """The smallest volume that is free and reaches the node, for each node, or NO_VOLUME.

        `earlier` are the choices of the pod's other claims, which it can't make again.
        """
        none = len(self.volumes)
        best = np.full(nodes, none)
        free = ~taken[self.volumes]
        ranks, hosts = self.local_ranks, self.local_nodes
        usable = free[ranks]
        for other in earlier:
            usable &= other[hosts] != self.volumes[ranks]
        np.minimum.at(best, hosts[usable], ranks[usable])
        for reach, wide in self.wide:
            self._widen(best, reach.nodes, wide[free[wide]], earlier)
        chosen: IntArray = np.append(self.volumes, NO_VOLUME)[best]
        return chosen

    def _widen(
        self, best: IntArray, nodes: IntArray, ranks: IntArray, earlier: Sequence[IntArray]
    ) -> None:
        """Nodes where an earlier claim chose a volume go on to the next larger one."""
        for rank in ranks.tolist():
            chosen = np.zeros(len(nodes), np.bool_)
            for other in earlier:
                chosen |= other[nodes] == self.volumes[rank]
            here = nodes[~chosen]
            best[here] = np.minimum(best[here], rank)
            nodes = nodes[chosen]
            if not len(nodes):
                return


class VolumeCandidates:
    """The volumes of a cluster that are not bound, by class and by the claim they name."""

    def __init__(self, storage: Storage, reach: NodeReach) -> None:
        self._reach = reach
        self._index = {name: i for i, name in enumerate(sorted(storage.volumes))}
        self._named: dict[tuple[str, str], list[PersistentVolume]] = defaultdict(list)
        self._unclaimed: dict[str, list[PersistentVolume]] = defaultdict(list)
        self._found: dict[_Shape, Candidates] = {}
        for name in self._index:
            volume = storage.volumes[name]
            if volume.metadata.deletion_timestamp is not None:
                continue
            reference = volume.spec.claim_ref
            if reference is not None:
                self._named[reference.namespace, reference.name].append(volume)
            elif volume.status.phase == "Available":
                self._unclaimed[volume.storage_class].append(volume)

    def naming(self, claim: PersistentVolumeClaim) -> list[int]:
        """Volumes of the claim's class whose `claimRef` names it and which fit."""
        return [
            self._index[volume.name]
            for volume in self._named.get((claim.namespace, claim.name), ())
            if volume.spec.claim_ref is not None
            and volume.spec.claim_ref.uid in ("", claim.metadata.uid)
            and volume.storage_class == (claim.storage_class or "")
            and _fits(claim, volume)
        ]

    def of(self, claim: PersistentVolumeClaim) -> Candidates:
        """Volumes that name no claim and fit this one."""
        name, selector = claim.storage_class or "", claim.spec.selector
        modes = tuple(sorted(claim.spec.access_modes))
        shape = (name, requested(claim), claim.spec.volume_mode, modes, selector)
        found = self._found.get(shape)
        if found is None:
            fitting = [
                volume
                for volume in self._unclaimed.get(name, ())
                if _fits(claim, volume)
                and set(modes) <= set(volume.spec.access_modes)
                and (selector is None or selector.matches(volume.metadata.labels))
            ]
            fitting.sort(key=lambda volume: volume.spec.capacity.get(STORAGE, 0))
            found = self._found[shape] = self._candidates(fitting)
        return found

    def _candidates(self, volumes: Sequence[PersistentVolume]) -> Candidates:
        local: list[tuple[int, int]] = []
        wide: dict[Reach, list[int]] = defaultdict(list)
        for rank, volume in enumerate(volumes):
            reach = self._reach.of_volume(volume)
            if len(reach.nodes) == 1:
                local.append((rank, int(reach.nodes[0])))
            elif len(reach.nodes):
                wide[reach].append(rank)
        return Candidates(
            np.array([self._index[volume.name] for volume in volumes], np.int64),
            np.array([rank for rank, _ in local], np.int64),
            np.array([node for _, node in local], np.int64),
            tuple((reach, np.array(ranks, np.int64)) for reach, ranks in wide.items()),
        )


def requested(claim: PersistentVolumeClaim) -> int:
    """The size a claim asks for."""
    return claim.spec.resources.requests.get(STORAGE, 0)


def _fits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    return (
        volume.spec.capacity.get(STORAGE, 0) >= requested(claim)
        and volume.spec.volume_mode == claim.spec.volume_mode
    )
