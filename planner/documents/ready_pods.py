"""What a wave waits for: as many ready pods of each controller as the plan leaves it.

Pods are counted by their controller, whatever its kind: a ReplicaSet without a Deployment has no
rollout to wait for, and the rollout of a Deployment past its progress deadline counts as failed
although all of its pods are ready.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner_models.plan import ReadyPods
from planner_models.pod import Pod


def controller_of(pod: Pod) -> str | None:
    """`ReplicaSet/web-5f787f47bf`, for all of a group; None where nothing brings pods back."""
    owner = pod.owner
    return None if owner is None else f"{owner.kind}/{owner.name}"


class ReadyAfter:
    """Counts, by controller, the pods that are ready or will be once they have a node.

    A pod that runs without being ready is not waited for: nothing says when it will be.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._waits = cluster.node_of == PENDING

    def _key(self, pod: int) -> tuple[str, str]:
        return self._cluster.pods[pod].namespace, controller_of(self._cluster.pods[pod]) or ""

    def _members(self, pod: int) -> list[int]:
        """All pods of the pod's controller that are ready, or wait for a node."""
        found, pods = self._cluster.pods[pod], self._cluster.pods
        if found.owner is None:
            return []
        names = (found.namespace, found.owner.kind, found.owner.name)
        return [
            each
            for each in self._cluster.controlled[names]
            if (pods[each].ready or self._waits[each]) and not pods[each].terminating
        ]

    def wave(
        self, evicted: Iterable[int], before: IntArray, after: IntArray
    ) -> tuple[ReadyPods, ...]:
        """For the controllers of the evicted pods, and of those that had to wait for this wave.

        `before` and `after` are where pods are.
        """
        landed = np.flatnonzero((before == PENDING) & (after >= 0)).tolist()
        first = {self._key(pod): pod for pod in sorted({*evicted, *landed}, reverse=True)}
        return tuple(
            ReadyPods(
                namespace=namespace,
                workload=self._cluster.workloads[int(self._cluster.group_of[pod])].short,
                controller=controller,
                pods=int(np.count_nonzero(after[self._members(pod)] >= 0)),
                wants=self._cluster.owners.desired(
                    self._cluster.workloads[int(self._cluster.group_of[pod])]
                ),
            )
            for key, pod in sorted(first.items())
            for namespace, controller in (key,)
            if controller
        )
