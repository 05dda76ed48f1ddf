"""kube-scheduler acts until nothing changes any more.

Whoever waits is tried first, then pods of silent nodes as they are deleted, node after node: until
its time comes such a pod still counts for spread, so the first ones may find a node where the last
ones do not. A pod that found none is tried again when another of its group has found one, and in
the end, over and over, until nobody finds one any more.

Nobody knows which node of a zone is noticed first, or in which order controllers make their pods:
under a seed other than 0 it is drawn, as ties between nodes are. An ordered StatefulSet makes a pod
anew when those of lower ordinals run. A placed pod is assumed to become ready.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import msgspec
import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.disruption.pod_making import PodMaking
from planner.replay.placing import Placing
from planner.replay.trial_state import TrialState
from planner.scenario.apply import Changed, Departure
from planner.scheduler.profile import Profile


@dataclass(frozen=True, eq=False)
class Settled:
    """The cluster when nothing happens any more, under one seed.

    `messages` has kube-scheduler's word on each pod that it tried and that waits.
    """

    changed: Changed
    seed: int
    cluster: Cluster
    messages: Mapping[int, str]
    preempted: tuple[int, ...] = ()
    """Pods that gave way to others of higher priority, in that order."""


def settle(
    changed: Changed,
    profile: Profile,
    *,
    seed: int = 0,
    preempt: bool = False,
    in_order: bool = False,
) -> Settled:
    """What kube-scheduler makes of the changes; without `preempt` nobody gives way.

    With `in_order` pods come in the order of their indexes under every seed: ties alone are drawn.
    """
    return _Settling(changed, profile, seed, preempt=preempt, in_order=in_order).run()


class _Settling(Placing):
    def __init__(
        self, changed: Changed, profile: Profile, seed: int, *, preempt: bool, in_order: bool
    ) -> None:
        making = PodMaking(changed.cluster)
        super().__init__(TrialState(changed.cluster, profile), making, seed, preempt=preempt)
        self._changed = changed
        self._in_order = in_order
        self._cluster = changed.cluster
        self._seed = seed
        self._unmade = {each.pod for each in changed.lost if each.fate == "replaced"}
        """Pods that their controllers have still to make."""
        self._waiting: dict[int, list[int]] = defaultdict(list)
        """By group: pods that found no node."""
        self._failed: dict[int, int] = {}
        """By group: when none of its pods found a node, as a position of the state."""
        self._preempted: list[int] = []

    def run(self) -> Settled:
        """All that happens, in order."""
        start = [pod for pod in self._cluster.pending.tolist() if self.schedulable(pod)]
        self._arrive(start)
        for _, together in groupby(self._departures(), key=attrgetter("seconds")):
            self._depart(tuple(together))
        while self._again():
            pass
        return Settled(
            self._changed, self._seed, self._final(), self._messages(), tuple(self._preempted)
        )

    def _departures(self) -> Sequence[Departure]:
        """With the nodes of each zone in a drawn order."""
        departures = self._changed.departures
        if self.random is None:
            return departures
        later: dict[int, int] = {}
        for zone in self._changed.zones:
            if zone.seconds is not None:
                order = list(range(len(zone.lost)))
                self.random.shuffle(order)
                for old, (node, new) in enumerate(zip(zone.lost, order, strict=True)):
                    later[node] = (new - old) * zone.seconds
        return sorted(e._replace(seconds=e.seconds + later.get(e.node, 0)) for e in departures)

    def _depart(self, together: Iterable[Departure]) -> None:
        arriving = []
        for each in together:
            self.state.evict(each.pod, each.twin)
            if each.again:
                arriving.append(each.pod)
            else:
                self.state.forget(each.pod)
                self._give_up(each.pod)
        self._arrive([pod for pod in arriving if self.schedulable(pod)])

    def _give_up(self, pod: int) -> None:
        """A pod that is gone waits no longer."""
        waiting = self._waiting[int(self._cluster.group_of[pod])]
        if pod in waiting:
            waiting.remove(pod)

    def _arrive(self, pods: Sequence[int]) -> None:
        """New pods in the queue; where one finds a node, others of its group may, too."""
        for pod in self._queued(pods):
            group = int(self._cluster.group_of[pod])
            waiting = self._waiting[group]
            waiting.append(pod)
            if self._try(pod):
                while waiting and self._try(waiting[0]):
                    pass

    def _again(self) -> bool:
        """Whoever waits is tried once more; whether anybody found a node."""
        position = self.state.position
        for pod in self._queued([pod for pods in self._waiting.values() for pod in pods]):
            self._try(pod)
        return self.state.position > position

    def _queued(self, pods: Sequence[int]) -> list[int]:
        """By priority, and then as they come: in the order of their indexes, or drawn."""
        order = sorted(pods)
        if self.random is not None and not self._in_order:
            self.random.shuffle(order)
        return sorted(order, key=lambda pod: -self._cluster.pods[pod].priority)

    def _try(self, pod: int) -> bool:
        """Place a waiting pod; a group that failed fails again until something has changed."""
        group = int(self._cluster.group_of[pod])
        if self._failed.get(group) == self.state.position or not self._made(pod):
            return False
        if not self.place(pod):
            self._failed[group] = self.state.position
            return False
        return True

    def landed(self, pod: int, node: int, best: IntArray | None) -> None:
        """It waits no longer."""
        self._give_up(pod)

    def driven_off(self, victim: int, preemptor: int, *, again: bool) -> None:
        """The pod waits to be made anew, or is gone."""
        self._preempted.append(victim)
        if again:
            self._unmade.add(victim)
            self._waiting[int(self._cluster.group_of[victim])].append(victim)
        else:
            self.state.forget(victim)

    def _made(self, pod: int) -> bool:
        """Whether the pod is there: an ordered StatefulSet waits until those below it run."""
        if pod not in self._unmade:
            return True
        return all(self._runs(below) for below in self.making.before(pod))

    def _runs(self, pod: int) -> bool:
        node = self.state.node(pod)
        there = node >= 0 and node not in self._changed.down
        return there and not self._cluster.terminating[pod]

    def _messages(self) -> dict[int, str]:
        """One evaluation for each group; who is not made yet was not tried."""
        found: dict[int, str] = {}
        for pods in self._waiting.values():
            tried = [pod for pod in pods if self._made(pod)]
            found |= dict.fromkeys(tried, self.state.message(tried[0]) if tried else "")
        return found

    def _final(self) -> Cluster:
        """Pods where they are now, and those that found a node ready."""
        now = self.state.node_of
        moved = np.flatnonzero(now != self._cluster.node_of)
        placement = dict(zip(moved.tolist(), now[moved].tolist(), strict=True))
        records = {
            pod: msgspec.structs.replace(self._cluster.pods[pod], ready=True)
            for pod in moved[now[moved] >= 0].tolist()
            if not self._cluster.pods[pod].ready and not self._cluster.terminating[pod]
        }
        return self._cluster.with_placement(placement).with_pods(records)
