"""How many volumes of each CSI driver the nodes have attached, as pods come and go.

A node attaches a volume once, however many of its pods use it. Volumes that a VolumeAttachment
lists count whether a pod uses them or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.volumes.claims import VolumeId

NO_LIMIT = -1


class Attachments:
    """Attached volumes per node and driver against the limits of the nodes' CSINodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._size = len(cluster.nodes)
        self._limits = _limits(cluster)
        self._listed = _listed(cluster)
        self._users: dict[VolumeId, dict[int, int]] = defaultdict(dict)
        self._counts: dict[str, IntArray] = {}
        for node, volumes in self._listed.items():
            for volume in volumes:
                self._count(volume.driver)[node] += 1

    def shift(self, volumes: Iterable[VolumeId], node: int, delta: int) -> None:
        """A pod that uses these volumes came to the node (1) or left it (-1)."""
        for volume in volumes:
            users = self._users[volume]
            before = users.get(node, 0)
            after = before + delta
            if after:
                users[node] = after
            else:
                users.pop(node, None)
            if (before > 0) != (after > 0) and volume not in self._listed.get(node, ()):
                self._count(volume.driver)[node] += 1 if after else -1

    def limited(self, volumes: Iterable[VolumeId]) -> bool:
        """Whether some node limits a driver of these volumes."""
        return any(volume.driver in self._limits for volume in volumes)

    def exceeded(self, volumes: frozenset[VolumeId]) -> BoolArray:
        """Nodes where these volumes are too many.

        Volumes that pods of the node use already are not new. One that is merely listed is, and
        counts twice, as it does for Kubernetes.
        """
        result = np.zeros(self._size, np.bool_)
        for driver, limit in self._limits.items():
            wanted = [volume for volume in volumes if volume.driver == driver]
            if wanted:
                new = np.full(self._size, len(wanted))
                for volume in wanted:
                    new[np.fromiter(self._users.get(volume, ()), np.int64)] -= 1
                attached = self._count(driver) + new
                result |= (limit != NO_LIMIT) & (new > 0) & (attached > limit)
        return result

    def exceeded_at(
        self, node: int, volumes: frozenset[VolumeId], away: Mapping[VolumeId, int]
    ) -> bool:
        """The same for one node, if so many users of volumes were `away` from it."""
        gone = {v for v, users in away.items() if 0 < self._users_on(v, node) <= users}
        freed = Counter(v.driver for v in gone - self._listed.get(node, set()))
        new = Counter(v.driver for v in volumes if v in gone or not self._users_on(v, node))
        for driver, count in new.items():
            limit = self._limits[driver][node] if driver in self._limits else NO_LIMIT
            attached = self._count(driver)[node] - freed[driver] + count
            if limit != NO_LIMIT and attached > limit:
                return True
        return False

    def _users_on(self, volume: VolumeId, node: int) -> int:
        users = self._users.get(volume)
        return users.get(node, 0) if users else 0

    def _count(self, driver: str) -> IntArray:
        found = self._counts.get(driver)
        if found is None:
            found = self._counts[driver] = np.zeros(self._size, np.int64)
        return found


def _limits(cluster: Cluster) -> dict[str, IntArray]:
    """Per driver the `allocatable.count` of each node; absent is no limit, 0 is one."""
    limits: dict[str, IntArray] = {}
    for name, csi_node in cluster.storage.csi_nodes.items():
        node = cluster.node_index.get(name)
        for driver in csi_node.spec.drivers if node is not None else ():
            if driver.allocatable is not None and driver.allocatable.count is not None:
                nodes = limits.setdefault(driver.name, np.full(len(cluster.nodes), NO_LIMIT))
                nodes[node] = driver.allocatable.count
    return limits


def _listed(cluster: Cluster) -> dict[int, set[VolumeId]]:
    """What VolumeAttachments say; those of unknown or non-CSI volumes say nothing."""
    listed: dict[int, set[VolumeId]] = defaultdict(set)
    for attachment in cluster.storage.attachments:
        spec = attachment.spec
        node = cluster.node_index.get(spec.node_name)
        volume = cluster.storage.volumes.get(spec.source.persistent_volume_name)
        if node is not None and spec.attacher and volume is not None and volume.spec.csi:
            listed[node].add(VolumeId(spec.attacher, volume.spec.csi.volume_handle))
    return dict(listed)
