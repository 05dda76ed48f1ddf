"""kube-scheduler acts until nothing changes any more.

Replacements come in no order that anybody knows: under a seed other than 0 it is drawn, as ties
between nodes are. Pods that waited before stand ahead of them. An ordered StatefulSet makes a pod
anew when those of lower ordinals run. A placed pod is assumed to become ready.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from planner.cluster import PENDING, Cluster
from planner.disruption.pod_making import PodMaking
from planner.scenario.apply import Changed
from planner.scheduler.profile import Profile
from planner.scheduler.simulate import simulate


@dataclass(frozen=True, eq=False)
class Settled:
    """The cluster when nothing happens any more, under one seed.

    `messages` has kube-scheduler's word on each pod that waits: those that it has tried.
    """

    changed: Changed
    seed: int
    cluster: Cluster
    messages: Mapping[int, str]
    preempted: tuple[int, ...] = ()
    """Pods that gave way to others of higher priority, in that order."""


def settle(
    changed: Changed, profiles: Sequence[Profile] = (), *, seed: int = 0, preempt: bool = False
) -> Settled:
    """What kube-scheduler makes of the changes; without `preempt` nobody gives way."""
    return _Settling(changed, profiles, seed, preempt).run()


class _Settling:
    def __init__(
        self, changed: Changed, profiles: Sequence[Profile], seed: int, preempt: bool
    ) -> None:
        self._changed = changed
        self._profiles = profiles
        self._seed = seed
        self._preempt = preempt
        self._cluster = changed.cluster
        self._making = PodMaking(changed.cluster)
        self._messages: dict[int, str] = {}
        self._preempted: list[int] = []

    def run(self) -> Settled:
        """Runs of the scheduler, until none of them makes or drives off a pod."""
        waiting = list(self._changed.waiting)
        again = {each.pod for each in self._changed.lost}
        if self._seed:
            random.Random(self._seed).shuffle(waiting)
            waiting.sort(key=lambda pod: pod in again)
        unmade = [pod for pod in waiting if pod in again and self._making.before(pod)]
        while True:
            ready = self._made(waiting, unmade)
            unmade = [pod for pod in unmade if pod not in ready]
            driven_off = self._schedule(ready)
            again.update(driven_off)
            waiting = [pod for pod in (*waiting, *driven_off) if self._waits(pod)]
            if not driven_off and not any(self._may_be_made(pod) for pod in unmade):
                break
        return Settled(
            self._changed, self._seed, self._ready(), self._messages, tuple(self._preempted)
        )

    def _waits(self, pod: int) -> bool:
        return bool(self._cluster.node_of[pod] == PENDING)

    def _runs(self, pod: int) -> bool:
        node = int(self._cluster.node_of[pod])
        there = node >= 0 and node not in self._changed.down
        return there and not self._cluster.terminating[pod]

    def _may_be_made(self, pod: int) -> bool:
        return all(self._runs(below) for below in self._making.before(pod))

    def _ready(self) -> Cluster:
        """The cluster once placed pods are ready."""
        placed = (pod for pod in self._changed.waiting if not self._waits(pod))
        pods = self._cluster.pods
        records = {
            pod: msgspec.structs.replace(pods[pod], ready=True)
            for pod in placed
            if not pods[pod].ready
        }
        return self._cluster.with_pods(records) if records else self._cluster

    def _made(self, waiting: Iterable[int], unmade: Iterable[int]) -> list[int]:
        held = {pod for pod in unmade if not self._may_be_made(pod)}
        return [pod for pod in waiting if pod not in held]

    def _schedule(self, pods: Sequence[int]) -> list[int]:
        """Place what finds a node; the pods that were driven off and come back."""
        run = simulate(
            self._cluster, self._profiles, pods=pods, seed=self._seed, preempt=self._preempt
        )
        self._cluster = run.final
        self._messages = {each.pod: each.message for each in run.unschedulable}
        self._preempted += run.victims
        back = [pod for pod in run.victims if self._making.again(pod)]
        self._cluster = self._cluster.with_placement(dict.fromkeys(back, PENDING))
        return back
