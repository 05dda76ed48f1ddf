"""Volumes: where they can be reached, and what can't be shared.

VolumeBinding and VolumeZone are static: see `volume_reach`. VolumeRestrictions: a ReadWriteOncePod
claim has one user in the whole cluster, an inline disk one user per node (several if all read
only), wherever a user lands. NodeVolumeLimits: the volumes that a node attaches for its pods, plus
those that are attached anyway, stay within the limit of the driver, wherever a pod with such a
volume lands.

Unbound claims are judged one by one. Where several want the same free volume or share an unbound
claim, the order of placements decides: the notes say so, and whoever orders the steps asks the
scheduler.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.solver.model.exclusion import Side, alone, apart
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.problem.volume_reach import claims_of
from planner_models.volume import PersistentVolumeClaim, Volume

VolumeId = tuple[str, str]
"""(driver, handle); an unbound claim stands for the volume it will get."""


def add(model: Model) -> None:
    """ReadWriteOncePod claims, inline disks and attach limits."""
    users = [g for g in model.problem.cluster.groups if g.volumes]
    with model.rule("VolumeRestrictions"):
        _add_exclusive_claims(model, users)
        _add_disks(model, users)
    with model.rule("NodeVolumeLimits"):
        _add_limits(model, users)


def _add_exclusive_claims(model: Model, groups: list[PodGroup]) -> None:
    everywhere = np.zeros(len(model.problem.cluster.nodes), np.int64)
    by_claim: dict[str, list[int]] = defaultdict(list)
    for group in groups:
        for entry in claims_of(model.problem.cluster.storage, group):
            if not entry.ephemeral and entry.claim is not None and _exclusive(entry.claim):
                by_claim[entry.key].append(group.index)
    for _, users in sorted(by_claim.items()):
        alone(model, Side.of(model, users, everywhere, 1), relax=False)


def _exclusive(claim: PersistentVolumeClaim) -> bool:
    return "ReadWriteOncePod" in claim.spec.access_modes


def _add_disks(model: Model, groups: list[PodGroup]) -> None:
    nodes = np.arange(len(model.problem.cluster.nodes))
    with_disks = [g for g in groups if any(_is_disk(volume) for volume in g.volumes)]
    sides = {g.index: Side.of(model, (g.index,), nodes, len(nodes)) for g in with_disks}
    for i, one in enumerate(with_disks):
        if _conflict(one, one):
            alone(model, sides[one.index], relax=False)
        for other in with_disks[i + 1 :]:
            if _conflict(one, other):
                apart(model, sides[one.index], sides[other.index], relax=False)


def _is_disk(volume: Volume) -> bool:
    return bool(
        volume.gce_persistent_disk or volume.aws_elastic_block_store or volume.iscsi or volume.rbd
    )


def _conflict(one: PodGroup, other: PodGroup) -> bool:
    return any(_same_disk(a, b) for a in one.volumes for b in other.volumes)


def _same_disk(one: Volume, other: Volume) -> bool:
    """The same disk, not read-only on both sides; AWS disks can't be shared at all."""
    if one.gce_persistent_disk and other.gce_persistent_disk:
        a, b = one.gce_persistent_disk, other.gce_persistent_disk
        return a.pd_name == b.pd_name and not (a.read_only and b.read_only)
    if one.aws_elastic_block_store and other.aws_elastic_block_store:
        return one.aws_elastic_block_store.volume_id == other.aws_elastic_block_store.volume_id
    if one.iscsi and other.iscsi:
        return one.iscsi.iqn == other.iscsi.iqn and not (
            one.iscsi.read_only and other.iscsi.read_only
        )
    if one.rbd and other.rbd:
        same = (one.rbd.pool, one.rbd.image) == (other.rbd.pool, other.rbd.image)
        shared = not set(one.rbd.monitors).isdisjoint(other.rbd.monitors)
        return same and shared and not (one.rbd.read_only and other.rbd.read_only)
    return False


def _add_limits(model: Model, groups: list[PodGroup]) -> None:
    cluster = model.problem.cluster
    limits = _limits(cluster)
    if not limits:
        return
    listed = _listed(cluster)
    volumes = {g.index: _attached(cluster, g) for g in groups}
    for (driver, node), limit in sorted(limits.items()):
        users: dict[str, list[int]] = defaultdict(list)
        for group, attached in volumes.items():
            for handle in sorted(h for d, h in attached if d == driver):
                users[handle].append(group)
        if users:
            _add_limit(model, node, limit, users, listed[driver, node])


def _add_limit(
    model: Model, node: int, limit: int, users: dict[str, list[int]], listed: set[str]
) -> None:
    """Volumes in use on the node, listed or not, against the limit."""
    here = np.full(len(model.problem.cluster.nodes), -1)
    here[node] = 0
    used, arrivals, now = Linear(constant=len(listed)), Linear(), len(listed)
    for handle, groups in users.items():
        side = Side.of(model, groups, here, 1)
        if handle not in listed:
            now += side.now[0] > 0
            if side.fixed[0]:
                used.constant += 1
                continue
            if side.counts[0].vars:
                used.add(model.lands(side.counts[0]))
        arrivals = arrivals.plus(side.arrivals[0])
    if used.vars or arrivals.vars:
        model.shared(used, arrivals, limit, now)


def _limits(cluster: Cluster) -> dict[tuple[str, int], int]:
    return {
        (driver.name, cluster.node_index[name]): driver.allocatable.count
        for name, csi_node in cluster.storage.csi_nodes.items()
        if name in cluster.node_index
        for driver in csi_node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _listed(cluster: Cluster) -> dict[tuple[str, int], set[str]]:
    listed: dict[tuple[str, int], set[str]] = defaultdict(set)
    for attachment in cluster.storage.attachments:
        spec = attachment.spec
        node = cluster.node_index.get(spec.node_name)
        volume = cluster.storage.volumes.get(spec.source.persistent_volume_name)
        if node is not None and volume is not None and volume.spec.csi is not None:
            listed[spec.attacher, node].add(volume.spec.csi.volume_handle)
    return listed


def _attached(cluster: Cluster, group: PodGroup) -> set[VolumeId]:
    """The driver's volumes that a node attaches for a pod of the group."""
    storage = cluster.storage
    found: set[VolumeId] = set()
    for entry in claims_of(storage, group):
        if entry.claim is None:
            continue
        volume = storage.volumes.get(entry.claim.spec.volume_name)
        storage_class = storage.classes.get(entry.claim.storage_class or "")
        if volume is not None:
            if volume.spec.csi is not None and volume.spec.csi.volume_handle:
                found.add((volume.spec.csi.driver, volume.spec.csi.volume_handle))
        elif storage_class is not None and storage_class.provisioner:
            found.add((storage_class.provisioner, f"claim {entry.key}"))
    return found
