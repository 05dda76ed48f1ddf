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
from planner.disruption.replacement import Replacements, replacements_of
from planner_models.workload import StatefulSet


class PodMaking:
    """What has to happen before each pod of a snapshot is made anew."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._found: dict[WorkloadRef, Mapping[int, Sequence[int]]] = {}

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
        return self._below(WorkloadRef(self._cluster.pods[pod].namespace, owner.kind, owner.name))[
            pod
        ]

    @cached_property
    def _replacements(self) -> Replacements:
        return replacements_of(self._cluster)

    def _below(self, controller: WorkloadRef) -> Mapping[int, Sequence[int]]:
        """Pods of a StatefulSet, each with those that an ordered one makes before it."""
        if controller not in self._found:
            self._found[controller] = self._looked_up(controller)
        return self._found[controller]

    def _looked_up(self, controller: WorkloadRef) -> Mapping[int, Sequence[int]]:
        names = (controller.namespace, controller.kind, controller.name)
        pods = self._cluster.controlled[names]
        found = self._cluster.owners.controllers.get(controller)
        if not isinstance(found, StatefulSet) or found.spec.pod_management_policy == "Parallel":
            return dict.fromkeys(pods, ())
        numbered: dict[int, int] = {}
        for pod in pods:
            number = ordinal_of(self._cluster.pods[pod].name)
            if number is not None and self._cluster.node_of[pod] != GONE:
                numbered[number] = pod
        ordered = [numbered[number] for number in sorted(numbered)]
        below = {pod: tuple(ordered[:i]) for i, pod in enumerate(ordered)}
        return dict.fromkeys(pods, ()) | below
