"""The owners of pods are told by events what was evicted, and what did not land as promised.

Who may not write events goes without: nobody needs them for carrying a plan out.
"""

from __future__ import annotations

import http.client

from planner.apply.access import events_path
from planner.apply.clock import Clock
from planner.apply.course import Departure
from planner.apply.events import Reason, Regarded, event_of, note_of
from planner.apply.landings import Landed
from planner.apply.writing import Writer
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.sources.live.api import ApiError, UnreachableError

VERSIONS = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "ReplicationController": "v1",
}
"""Of the kinds that make evicted pods anew."""


class OwnersTold:
    """Events on pods of one plan and on their workloads."""

    def __init__(self, writer: Writer, clock: Clock, plan_id: str, instance: str) -> None:
        self._writer = writer
        self._clock = clock
        self._plan_id = plan_id
        self._instance = instance
        self._possible = True

    def of_eviction(self, each: Departure, cluster: Cluster) -> None:
        """On the pod and on its workload: why it went, and where it is expected."""
        why = f": {each.reason}" if each.reason else ""
        where = f"; expected on {' '.join(each.expected)}" if each.expected else ""
        text = f"{each.name} was evicted from {each.node}{why}{where}"
        note = note_of(text, self._plan)
        pod = Regarded("Pod", "v1", each.namespace, each.name, each.uid)
        for regarded in (pod, _workload(each, cluster)):
            self._tell(regarded, "EvictedByPlanner", note)

    def of_landing(self, landed: Landed, cluster: Cluster) -> None:
        """On the workload, if it is not where it was promised."""
        each = landed.departure
        if not landed.as_promised:
            expected = f", expected {' '.join(each.expected)}" if each.expected else ""
            text = f"a replacement, {landed.pod}, is on {landed.node}{expected}"
            self._tell(_workload(each, cluster), "NotLanded", note_of(text, self._plan))

    @property
    def _plan(self) -> str:
        return f" (plan {self._plan_id})"

    def _tell(self, regarded: Regarded | None, reason: Reason, note: str) -> None:
        if regarded is None or not self._possible:
            return
        body = event_of(regarded, reason, note, self._instance, self._clock.now())
        try:
            self._writer.post(events_path(regarded.namespace), body, pauses=())
        except (ApiError, UnreachableError, http.client.HTTPException):
            self._possible = False


def _workload(each: Departure, cluster: Cluster) -> Regarded | None:
    """The topmost controller, as the cluster has it."""
    found: WorkloadRef | None = next(
        (
            ref
            for ref in cluster.workloads
            if (ref.namespace, ref.short) == (each.namespace, each.workload)
        ),
        None,
    )
    controller = None if found is None else cluster.owners.controllers.get(found)
    if found is None or controller is None or found.kind not in VERSIONS:
        return None
    uid = controller.metadata.uid
    return Regarded(found.kind, VERSIONS[found.kind], found.namespace, found.name, uid)
