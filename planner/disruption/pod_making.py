"""When controllers make evicted pods anew.

A ReplicaSet does so at once, beside the pod that is still terminating. A StatefulSet gives the new
pod the old one's name and therefore waits until that is gone; an ordered one also waits until all
pods of lower ordinals run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from planner.cluster import GONE, Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.ordinals import ordinal_of
from planner.disruption.replacement import Replacements
from planner_models.workload import StatefulSet


class PodMaking:
    """What has to happen before each pod of a snapshot is made anew."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def again(self, pod: int) -> bool:
        """Whether the pod is made anew at all if nobody asks before."""
        return self._replacements.of(pod).fate in ("equal", "assumed", "other")

    def after_the_old_one(self, pod: int) -> bool:
        """Whether the new pod appears only when the old one is gone."""
        owner = self._cluster.pods[pod].owner
        return owner is not None and owner.kind == "StatefulSet"

    def before(self, pod: int) -> Sequence[int]:
        """The pods that have to run before this one is made."""
        owner = self._cluster.pods[pod].owner
        if owner is None or owner.kind != "StatefulSet":
            return ()
        return self._below.get(pod, ())

    @cached_property
    def _replacements(self) -> Replacements:
        return Replacements(self._cluster)

    @cached_property
    def _below(self) -> Mapping[int, Sequence[int]]:
        """Pods of ordered StatefulSets, with those of lower ordinals."""
        members: dict[WorkloadRef, dict[int, int]] = {}
        for index, pod in enumerate(self._cluster.pods):
            if pod.owner is None or pod.owner.kind != "StatefulSet":
                continue
            number = ordinal_of(pod.name)
            if number is None or self._cluster.node_of[index] == GONE:
                continue
            ref = WorkloadRef(pod.namespace, pod.owner.kind, pod.owner.name)
            found = self._cluster.owners.controllers.get(ref)
            if isinstance(found, StatefulSet) and (found.spec.pod_management_policy != "Parallel"):
                members.setdefault(ref, {})[number] = index
        below: dict[int, Sequence[int]] = {}
        for numbered in members.values():
            ordered = [numbered[number] for number in sorted(numbered)]
            below.update((pod, tuple(ordered[:i])) for i, pod in enumerate(ordered))
        return below
