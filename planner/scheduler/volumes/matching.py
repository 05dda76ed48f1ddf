"""What a pod's claims get on each node: free volumes, new ones, or nothing.

This is the scheduler's FindPodVolumes for all nodes at once. Bound claims must reach the node. An
unbound claim takes the smallest free volume that fits and reaches the node; failing that, its class
must be able to provision one for the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.storage import Storage
from planner.cluster.topology import IntArray
from planner.scheduler.volumes.candidates import NO_VOLUME, VolumeCandidates, requested
from planner.scheduler.volumes.claims import PodClaim
from planner.scheduler.volumes.promises import NOTHING, Bindings, Promises
from planner.scheduler.volumes.reach import NodeReach, Reach
from planner_models.volume import PersistentVolumeClaim

NODE_CONFLICT = 1
BIND_CONFLICT = 2
NOT_ENOUGH_SPACE = 4
VOLUME_MISSING = 8
"""The reasons against a node; a verdict is the sum of those that hold."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The verdict for each node, and the volume that each claim would take there."""

    verdicts: IntArray
    waiting: tuple[PersistentVolumeClaim, ...] = ()
    """Claims whose node was selected already."""
    choices: tuple[tuple[PersistentVolumeClaim, IntArray], ...] = ()
    names: Sequence[str] = ()

    def at(self, node: int) -> Bindings:
        """What the claims get on a node; nothing where the pod can't go."""
        if self.verdicts[node]:
            return NOTHING
        pairs: list[tuple[str, str]] = []
        provision = {claim.name for claim in self.waiting}
        for claim, choice in self.choices:
            if choice[node] == NO_VOLUME:
                provision.add(claim.name)
            else:
                pairs.append((claim.name, self.names[choice[node]]))
        return Bindings(tuple(sorted(pairs)), tuple(sorted(provision)))


class VolumeMatching:
    """Claims against the volumes of one cluster."""

    def __init__(self, storage: Storage, reach: NodeReach, nodes: int) -> None:
        self._storage = storage
        self._reach = reach
        self._nodes = nodes
        self._bound: dict[tuple[Reach | None, ...], IntArray] = {}

    @cached_property
    def _names(self) -> Sequence[str]:
        return sorted(self._storage.volumes)

    @cached_property
    def _candidates(self) -> VolumeCandidates:
        """Only claims that are not bound yet look for one."""
        return VolumeCandidates(self._storage, self._reach)

    def find(self, claims: Sequence[PodClaim], promises: Promises) -> Outcome:
        """Verdicts and choices over all nodes for a pod whose claims all exist."""
        present = [entry.claim for entry in claims if entry.claim is not None]
        verdicts = self._against_bound([c for c in present if c.fully_bound])
        unbound = [c for c in present if not c.fully_bound]
        if not unbound:
            return Outcome(verdicts)
        selected = {c.key: promises.selected(c.key) for c in unbound}
        waiting = [c for c in unbound if selected[c.key] is not None]
        choices = self._choose([c for c in unbound if selected[c.key] is None], promises)
        refused = self._against_provisioning(waiting, choices)
        for claim in waiting:
            elsewhere = np.arange(self._nodes) != selected[claim.key]
            refused[elsewhere] = BIND_CONFLICT
        return Outcome(verdicts | refused, tuple(waiting), tuple(choices), self._names)

    def _against_bound(self, claims: Sequence[PersistentVolumeClaim]) -> IntArray:
        """The first bound claim that does not suit a node speaks for all.

        Pods whose volumes have the same reach share the array, which is therefore read-only.
        """
        volumes = [self._storage.volumes.get(claim.spec.volume_name) for claim in claims]
        reaches = tuple(None if v is None else self._reach.of_volume(v) for v in volumes)
        verdicts = self._bound.get(reaches)
        if verdicts is None:
            verdicts = np.zeros(self._nodes, np.int64)
            for reach in reaches:
                if reach is None:
                    verdicts[verdicts == 0] = VOLUME_MISSING
                else:
                    verdicts[(verdicts == 0) & ~reach.mask] = NODE_CONFLICT
            verdicts.flags.writeable = False
            self._bound[reaches] = verdicts
        return verdicts

    def _choose(
        self, claims: Sequence[PersistentVolumeClaim], promises: Promises
    ) -> list[tuple[PersistentVolumeClaim, IntArray]]:
        """Small claims choose first; on each node a volume is chosen once."""
        choices: list[tuple[PersistentVolumeClaim, IntArray]] = []
        for claim in sorted(claims, key=requested):
            earlier = [choice for _, choice in choices]
            choices.append((claim, self._choice(claim, earlier, promises)))
        return choices

    def _choice(
        self, claim: PersistentVolumeClaim, earlier: Sequence[IntArray], promises: Promises
    ) -> IntArray:
        """A volume that names the claim, or was promised to it, goes first.

        Where it does not reach a node, the claim gets no other free volume there.
        """
        choice = self._candidates.of(claim).smallest(self._nodes, promises.taken, earlier)
        undecided = np.ones(self._nodes, np.bool_)
        own = {*self._candidates.naming(claim), *promises.promised(claim.key)}
        for index in sorted(own):
            here = undecided.copy()
            for other in earlier:
                here &= other != index
            reach = self._reach.of_volume(self._storage.volumes[self._names[index]])
            choice[here] = np.where(reach.mask[here], index, NO_VOLUME)
            undecided &= ~here
        return choice

    def _against_provisioning(
        self,
        waiting: Sequence[PersistentVolumeClaim],
        choices: Sequence[tuple[PersistentVolumeClaim, IntArray]],
    ) -> IntArray:
        """The first claim without a volume that can't be provisioned speaks for all."""
        refused = np.zeros(self._nodes, np.int64)
        everywhere = np.full(self._nodes, NO_VOLUME)
        for claim, choice in (*((c, everywhere) for c in waiting), *choices):
            storage_class = self._storage.classes[claim.storage_class or ""]
            needed = (choice == NO_VOLUME) & (refused == 0)
            allowed = self._reach.provisionable(storage_class)
            roomy = self._reach.roomy(claim, storage_class)
            refused[needed & ~allowed] = BIND_CONFLICT
            refused[needed & allowed & ~roomy] = NOT_ENOUGH_SPACE
        return refused
