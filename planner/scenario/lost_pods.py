"""What becomes of pods that go down or are deleted together, controller by controller.

A ReplicaSet replaces a pod as soon as it is terminating. A StatefulSet gives the new pod the old
one's name, so it waits until the old one is gone; and so does a Job that counts only pods that have
failed (`podReplacementPolicy: Failed`). A node that only stopped answering ends no pod: there they
wait for ever. Pods of DaemonSets and static pods belong to their node. A Job that has lost more
pods than it may ends the others as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.jobs import job_fails
from planner.disruption.replacement import Replacement, replacements_of
from planner.scenario.workload_pods import lasting_pods
from planner_models.pod import Pod
from planner_models.workload import Job

LostFate = Literal["replaced", "held", "stays", "ends", "unknown", "daemon"]
"""Another pod takes its place; or only when the old one is gone; nobody deletes it, though it is
down; nothing comes after it; nobody knows what its controller does; it belongs to its node."""

OF_NODES = frozenset(("DaemonSet", "Node"))
"""Kinds of owners whose pods belong to their node."""
_FATE_OF: Mapping[str, LostFate] = {
    "equal": "replaced",
    "assumed": "replaced",
    "other": "replaced",
    "none": "ends",
    "unknown": "unknown",
}


@dataclass(frozen=True)
class LostPod:
    """A pod that went down, on which node, and what comes after it.

    `reason` says why it is not simply replaced, or by what else.
    """

    pod: int
    node: int
    fate: LostFate
    reason: str = ""


def lost_pods(cluster: Cluster, pods: Iterable[int], *, ended: bool) -> tuple[LostPod, ...]:
    """What comes after these pods, all deleted together; `ended`: somebody ends them, too."""
    return _Losses(cluster, tuple(pods), ended).found()


def staying(cluster: Cluster, pods: Iterable[int]) -> tuple[LostPod, ...]:
    """Pods on silent nodes that nobody deletes."""
    found: list[LostPod] = []
    for pod in pods:
        fate: LostFate = "daemon" if _of_node(cluster.pods[pod]) else "stays"
        found.append(LostPod(pod, int(cluster.node_of[pod]), fate))
    return tuple(found)


def ended_with_their_jobs(
    cluster: Cluster, lost: Iterable[LostPod], ended: bool
) -> dict[int, tuple[LostPod, ...]]:
    """Pods that go down with a Job, by the lost pod with which the Job has failed.

    Pods are given in the order in which they are lost. One that is only terminating does not count
    yet for a Job that replaces failed pods alone.
    """
    gone: dict[WorkloadRef, list[int]] = defaultdict(list)
    for each in lost:
        owner = cluster.pods[each.pod].owner
        if owner is not None and owner.kind == "Job":
            gone[WorkloadRef(cluster.pods[each.pod].namespace, "Job", owner.name)].append(each.pod)
    found: dict[int, tuple[LostPod, ...]] = {}
    for ref, pods in gone.items():
        job = cluster.owners.controllers.get(ref)
        if not isinstance(job, Job) or (job.replaces_failed_only and not ended):
            continue
        last = next((p for n, p in enumerate(pods, start=1) if job_fails(job, n)), None)
        if last is not None:
            found[last] = tuple(_siblings(cluster, ref, frozenset(pods)))
    return found


def _siblings(cluster: Cluster, job: WorkloadRef, lost: frozenset[int]) -> Iterator[LostPod]:
    down = {int(cluster.node_of[pod]) for pod in lost}
    for pod in lasting_pods(cluster, job):
        node = int(cluster.node_of[pod])
        if pod not in lost and node not in down:
            yield LostPod(pod, node, "ends", f"{job.short} has failed")


def _of_node(pod: Pod) -> bool:
    return pod.owner is not None and pod.owner.kind in OF_NODES


class _Losses:
    """Judged once for each group; a controller with too many pods replaces only some of them."""

    def __init__(self, cluster: Cluster, pods: tuple[int, ...], ended: bool) -> None:
        self._cluster = cluster
        self._pods = pods
        self._ended = ended
        self._replacements = replacements_of(cluster)
        self._together = Counter(map(self._owner, pods))
        self._judged: dict[tuple[int, int], Replacement] = {}

    def found(self) -> tuple[LostPod, ...]:
        before: dict[WorkloadRef | None, int] = defaultdict(int)
        found = []
        for pod in self._pods:
            owner = self._owner(pod)
            fate, reason = self._fate(pod, before[owner])
            before[owner] += 1
            found.append(LostPod(pod, int(self._cluster.node_of[pod]), fate, reason))
        return tuple(found)

    def _owner(self, pod: int) -> WorkloadRef | None:
        found = self._cluster.pods[pod]
        if found.owner is None:
            return None
        return WorkloadRef(found.namespace, found.owner.kind, found.owner.name)

    def _fate(self, pod: int, before: int) -> tuple[LostFate, str]:
        found, owner = self._cluster.pods[pod], self._owner(pod)
        if _of_node(found):
            return "daemon", ""
        replacement = self._replacement(pod, owner, before)
        fate = _FATE_OF[replacement.fate]
        if fate == "replaced" and not self._ended and self._waits_for_the_end(owner):
            return "held", "a new pod comes when the old one is gone"
        return fate, replacement.reason

    def _replacement(self, pod: int, owner: WorkloadRef | None, before: int) -> Replacement:
        if owner is None or owner.kind == "StatefulSet":
            return self._replacements.of(pod)
        turn = min(before, self._replacements.surplus(owner))
        key = (int(self._cluster.group_of[pod]), turn)
        if key not in self._judged:
            together = self._together[owner]
            self._judged[key] = self._replacements.of(pod, before=turn, together=together)
        return self._judged[key]

    def _waits_for_the_end(self, owner: WorkloadRef | None) -> bool:
        if owner is None or owner.kind == "StatefulSet":
            return True
        job = self._cluster.owners.controllers.get(owner)
        return isinstance(job, Job) and job.replaces_failed_only
