"""Replays the steps of a plan, one by one, before the scheduler's own filters.

A step is good if kube-scheduler could take it at that very moment: a pod is bound only to a node
that passes every filter then, each pod is evicted at most once, but for those that hop to a node
for a while and then go on, and in the end every evicted pod runs in its own place. An evicted pod
comes back as a new pod of its controller, equal to the old one in all that rules see.

Deleting a pod takes time, and its controller may replace it before it is gone. Such a pod still
holds what it has on its node and counts for affinity, but no longer for spread. With `terminating`
every evicted pod stays like that until its replacement is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.groups import visible_keys
from planner.replay.cordons import cordoned_node, is_cordoned, taints_honoured
from planner.replay.judge import refusal
from planner.replay.steps import Step
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner_models.node import REGION, ZONE

AT_THE_END = -1
_VISIBLE = ("visible_keys", b"")
"""Where a snapshot remembers the keys that selectors and pods know."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with which step; `status` is the scheduler's word where it was asked."""

    step: int
    pod: int
    node: int
    reason: str
    status: Status | None = None


@dataclass(frozen=True)
class Verification:
    """The outcome of a replay; it ends at the first fault, for what follows was never planned.

    `evictions` counts a pod that hops twice: it is restarted twice.
    `doubts` are reasons for which a real cluster may judge otherwise than this replay.
    """

    faults: tuple[Fault, ...]
    doubts: tuple[str, ...]
    evictions: int
    after: Cluster

    @property
    def good(self) -> bool:
        """Whether every step can be taken."""
        return not self.faults


def check_steps(
    cluster: Cluster,
    steps: Sequence[Step],
    profile: Profile,
    *,
    terminating: bool = False,
    displaced: Iterable[int] = (),
) -> Verification:
    """Whether the steps can be taken in this order; `displaced` pods may end without a node."""
    replay = _Replay(cluster, steps, profile, terminating)
    fault = next((f for i, step in enumerate(steps) if (f := replay.take(i, step))), None)
    if fault is None:
        fault = replay.left_behind(frozenset(displaced))
    return Verification(
        faults=() if fault is None else (fault,),
        doubts=_doubts(cluster) if steps else (),
        evictions=len(replay.evicted) + len(replay.hopped),
        after=replay.after(),
    )


def _doubts(cluster: Cluster) -> tuple[str, ...]:
    """KEP 4742: binding writes the node's zone and region into the pod's labels.

    The replay keeps the labels of the snapshot, which is the same wherever no selector asks.
    """
    if _VISIBLE not in cluster.memo:
        cluster.memo[_VISIBLE] = _visible(cluster)
    seen = cluster.memo[_VISIBLE]
    return tuple(
        f"a selector asks for the pod label {key}, which a pod gets from the node it is bound to"
        for key in (ZONE, REGION)
        if key in seen
    )


def _visible(cluster: Cluster) -> frozenset[str]:
    """The label keys that selectors ask for, or that pods have already."""
    specs = {id(group.spec): group.spec for group in cluster.groups}.values()
    return visible_keys(specs, ()).union(*(group.labels for group in cluster.groups))


class _Replay:
    """The state of a replay; pods that are still terminating stand behind those of the snapshot."""

    def __init__(
        self, cluster: Cluster, steps: Sequence[Step], profile: Profile, terminating: bool
    ) -> None:
        self._cluster = cluster
        self._profile = profile
        leaving = [s.pod for s in steps if s.evicts] if terminating else []
        self._old = {pod: len(cluster.pods) + i for i, pod in enumerate(dict.fromkeys(leaving))}
        self._state = SchedulingState(with_old_pods(cluster, list(self._old)))
        self._scheduler = Scheduler(self._state, profile)
        self._cordons: dict[int, bool] = {}
        """Where it is otherwise than the scheduler has it."""
        self._far_reaching = taints_honoured(cluster, profile)
        """Whether a cordon matters to who may go to other nodes."""
        self.evicted: set[int] = set()
        self.hopped: set[int] = set()

    def take(self, index: int, step: Step) -> Fault | None:
        """Take one step, or say why it can't be taken."""
        match step.action:
            case "evict":
                return self._evict(index, step.pod, step.node)
            case "place":
                return self._place(index, step.pod, step.node)
            case "move":
                return self._move(index, step)
            case "cordon" | "uncordon":
                self._set(step.node, cordoned=step.action == "cordon")
                return None

    def _move(self, index: int, step: Step) -> Fault | None:
        """One hop may come before the eviction that takes the pod to its own place."""
        pod, source = step.pod, int(self._state.node_of[step.pod])
        if step.temporary and pod in self.hopped:
            return Fault(index, pod, step.node, "the pod hopped before")
        fault = self._evict(index, pod, source) or self._place(index, pod, step.node)
        if fault is None and step.temporary:
            self.evicted.discard(pod)
            self.hopped.add(pod)
        return fault

    def _evict(self, index: int, pod: int, node: int) -> Fault | None:
        if pod in self.evicted:
            return Fault(index, pod, node, "the pod was evicted before")
        if self._cluster.node_of[pod] < 0 or self._state.node_of[pod] != node:
            return Fault(index, pod, node, "the pod does not run there")
        if self._cluster.pods[pod].terminating:
            return Fault(index, pod, node, "the pod is terminating already")
        self.evicted.add(pod)
        self._state.remove(pod)
        if pod in self._old:
            self._state.place(self._old[pod], node)
        return None

    def _place(self, index: int, pod: int, node: int) -> Fault | None:
        if self._state.node_of[pod] != PENDING:
            return Fault(index, pod, node, "the pod is not waiting for a node")
        if self._cluster.pods[pod].terminating or self._cluster.pods[pod].spec.scheduling_gates:
            return Fault(index, pod, node, "the pod is not in the scheduler's queue")
        if node in self._cordons or (self._cordons and self._far_reaching):
            self._cordon()
        status = refusal(self._scheduler, pod, node)
        if status is not None:
            return Fault(index, pod, node, "; ".join(status.reasons), status)
        self._state.place(pod, node)
        if pod in self._old:
            self._state.remove(self._old[pod], GONE)
        return None

    def _set(self, node: int, *, cordoned: bool) -> None:
        if is_cordoned(self._state.cluster.nodes[node]) is cordoned:
            self._cordons.pop(node, None)
        else:
            self._cordons[node] = cordoned

    def _cordon(self) -> None:
        """Judged anew from here on: a cordon and its taint change which domains are eligible."""
        now = self._state.snapshot()
        nodes = list(now.nodes)
        for node, cordoned in self._cordons.items():
            nodes[node] = cordoned_node(nodes[node], cordoned)
        self._cordons.clear()
        self._state = SchedulingState(replace(now, nodes=tuple(nodes)))
        self._scheduler = Scheduler(self._state, self._profile)

    def left_behind(self, displaced: frozenset[int]) -> Fault | None:
        """An evicted pod that does not run in the end, or only where it was to stay for a while."""
        for pod in sorted(self.hopped - self.evicted):
            node = int(self._state.node_of[pod])
            return Fault(AT_THE_END, pod, node, "the pod is still in its temporary place")
        for pod in sorted(self.evicted - displaced):
            if self._state.node_of[pod] < 0:
                node = int(self._cluster.node_of[pod])
                return Fault(AT_THE_END, pod, node, "the evicted pod has no node in the end")
        return None

    def after(self) -> Cluster:
        """The snapshot with its pods where they are now."""
        size = len(self._cluster.pods)
        moved = np.flatnonzero(self._state.node_of[:size] != self._cluster.node_of)
        return self._cluster.with_placement(
            {int(pod): int(self._state.node_of[pod]) for pod in moved}
        )


def with_old_pods(cluster: Cluster, pods: list[int]) -> Cluster:
    """Room for one terminating twin of each of these pods; none is there yet."""
    if not pods:
        return cluster
    twins = [
        msgspec.structs.replace(cluster.pods[pod], terminating=True, uid="", name=f"{i}-old")
        for i, pod in enumerate(pods)
    ]
    return cluster.with_more(twins, cluster.group_of[pods])
