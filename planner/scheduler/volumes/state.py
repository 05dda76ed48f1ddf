"""The part of the scheduling state that is about volumes.

When a pod is placed, the scheduler's Reserve step promises the free volumes its claims found to
these claims, and ties claims to be provisioned to the node. Nothing else happens to storage while
pods are being scheduled: no claim gets bound, no volume is made. Removing the pod takes its
promises back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.scheduler.volumes.attachments import Attachments
from planner.scheduler.volumes.claims import (
    PodClaim,
    VolumeId,
    claims_of,
    delayed,
    volumes_attached_for,
)
from planner.scheduler.volumes.matching import Outcome, VolumeMatching
from planner.scheduler.volumes.promises import NOTHING, Bindings, Promises
from planner.scheduler.volumes.reach import NodeReach


@dataclass(frozen=True, eq=False)
class GroupVolumes:
    """What the pods of a group use: claims, and the volumes that a node attaches for them."""

    claims: tuple[PodClaim, ...]
    attached: frozenset[VolumeId]
    undecided: bool
    """Whether placing such a pod decides something: it has unbound claims, and all exist."""


@dataclass(frozen=True, eq=False)
class _Counted:
    attachments: Attachments
    promises: Promises
    users: Counter[str] = field(default_factory=Counter)
    held: dict[int, Bindings] = field(default_factory=dict)


class VolumeState:
    """Claims in use, volumes promised and volumes attached right now."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.reach = NodeReach(cluster)
        self._groups = _groups_with_claims(cluster)
        self._matching = VolumeMatching(cluster.storage, self.reach, len(cluster.nodes))
        self._counted: _Counted | None = None
        self._last: tuple[int, Outcome] | None = None

    @property
    def _now(self) -> _Counted:
        """Counted when the first pod with claims comes, goes or is asked about: many have none."""
        if self._counted is None:
            self._counted = _Counted(Attachments(self._cluster), Promises(self._cluster))
            self._start()
        return self._counted

    @property
    def attachments(self) -> Attachments:
        """The volumes that nodes have attached."""
        return self._now.attachments

    def of(self, group: PodGroup) -> GroupVolumes | None:
        """What a group's pods use, or None if they have no claims."""
        return self._groups.get(group.index)

    @property
    def promising(self) -> bool:
        """Whether placing some pod promises volumes: then the order of placements matters."""
        return any(volumes.undecided for volumes in self._groups.values())

    def users(self, claim: str) -> int:
        """How many volumes of placed pods go through a claim (`namespace/name`) that they share.

        Ephemeral volumes don't count: their claim has one user by construction.
        """
        return self._now.users[claim]

    def outcome(self, group: PodGroup) -> Outcome:
        """What the group's claims get on every node as things stand.

        The last answer is kept until a promise changes, for placing the pod right afterwards.
        """
        if self._last is None or self._last[0] != group.index:
            claims = self._groups[group.index].claims
            self._last = (group.index, self._matching.find(claims, self._now.promises))
        return self._last[1]

    def bindings(self, group: PodGroup, node: int) -> Bindings:
        """What the unbound claims of a pod of the group would get on the node."""
        volumes = self._groups.get(group.index)
        if volumes is None or not volumes.undecided:
            return NOTHING
        return self.outcome(group).at(node)

    def held(self, pod: int) -> Bindings:
        """What a placed pod's claims got."""
        return self._now.held.get(pod, NOTHING)

    def place(self, pod: int, node: int) -> None:
        """The Reserve step, for a pod that was put on a node."""
        volumes = self._of_pod(pod)
        if volumes is None:
            return
        group = self._cluster.groups[self._cluster.group_of[pod]]
        bindings = self.bindings(group, node)
        if bindings:
            self._now.held[pod] = bindings
            self._promise(group, bindings, node, 1)
        self._shift(volumes, node, 1)

    def remove(self, pod: int, node: int) -> None:
        """The pod left the node, and gives back what it took."""
        volumes = self._of_pod(pod)
        if volumes is None:
            return
        bindings = self._now.held.pop(pod, NOTHING)
        if bindings:
            group = self._cluster.groups[self._cluster.group_of[pod]]
            self._promise(group, bindings, node, -1)
        self._shift(volumes, node, -1)

    def _of_pod(self, pod: int) -> GroupVolumes | None:
        return self._groups.get(int(self._cluster.group_of[pod])) if self._groups else None

    def _promise(self, group: PodGroup, bindings: Bindings, node: int, delta: int) -> None:
        self._now.promises.shift(group.namespace, bindings, node, delta)
        self._last = None

    def _shift(self, volumes: GroupVolumes, node: int, delta: int) -> None:
        for entry in volumes.claims:
            if not entry.ephemeral:
                self._now.users[entry.key] += delta
        self.attachments.shift(volumes.attached, node, delta)

    def _start(self) -> None:
        """Count the pods of the snapshot; those that a plan moved hold what Reserve gives them."""
        if not self._groups:
            return
        cluster = self._cluster
        chosen = np.zeros(len(cluster.groups), np.bool_)
        chosen[list(self._groups)] = True
        for pod in np.flatnonzero(chosen[cluster.group_of] & (cluster.node_of >= 0)).tolist():
            node = int(cluster.node_of[pod])
            if cluster.pods[pod].node_name == cluster.nodes[node].name:
                self._shift(self._groups[int(cluster.group_of[pod])], node, 1)
            else:
                self.place(pod, node)


_MEMO = "volumes of groups"


def _groups_with_claims(cluster: Cluster) -> Mapping[int, GroupVolumes]:
    """By group; found once for all snapshots with these groups and this storage."""
    if _MEMO not in cluster.group_memo:
        known: tuple[GroupVolumes | None, ...] = cluster.each_group.get(_MEMO, ())
        each = (*known, *(_with_claims(cluster, g) for g in cluster.groups[len(known) :]))
        cluster.each_group[_MEMO] = each
        cluster.group_memo[_MEMO] = {i: found for i, found in enumerate(each) if found is not None}
    found: Mapping[int, GroupVolumes] = cluster.group_memo[_MEMO]
    return found


def _with_claims(cluster: Cluster, group: PodGroup) -> GroupVolumes | None:
    claims = claims_of(cluster.storage, group) if group.volumes else ()
    return _group_volumes(cluster, group, claims) if claims else None


def _group_volumes(cluster: Cluster, group: PodGroup, claims: tuple[PodClaim, ...]) -> GroupVolumes:
    unbound = [e.claim for e in claims if e.claim is not None and not e.claim.fully_bound]
    complete = all(entry.claim is not None for entry in claims)
    return GroupVolumes(
        claims,
        volumes_attached_for(cluster.storage, claims, group.example),
        bool(unbound) and complete and all(delayed(claim, cluster.storage) for claim in unbound),
    )
