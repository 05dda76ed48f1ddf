"""Steps from which evictions can be taken back, with as little else as possible.

A pod that stays where it is needs its room: pods that were to land there do without a place, and
moved ones stay where they are, too. Those that waited before go first, and of these the lowest
priority; or the lowest priority first, where that costs less in the end.
Only room is looked at; whether what is left is legal in its order is for others to say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Literal

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.replay.steps import Step

GivesWay = Literal["waiting", "lowest"]
"""Who gives way first: pods that waited before, or the lowest priority."""
_FIRST: tuple[GivesWay, ...] = ("waiting", "lowest")


class Draft:
    """Some steps of a plan; a pod is evicted and lands once at the most."""

    def __init__(self, cluster: Cluster, steps: Sequence[Step]) -> None:
        self._cluster = cluster
        self._steps = tuple(steps)
        self._requests = cluster.resources.requests[cluster.group_of]
        self._target = {step.pod: step.node for step in steps if step.lands}
        self._coming: dict[int, list[int]] = defaultdict(list)
        self._free = cluster.resources.allocatable - cluster.used
        for pod, node in self._target.items():
            self._coming[node].append(pod)
            self._free[node] -= self._requests[pod]
        self._evicted = dict.fromkeys(evicted_by(steps))
        for pod in self._evicted:
            self._free[int(cluster.node_of[pod])] += self._requests[pod]
        self._out: set[int] = set()
        waiting = {cluster.pods[pod].priority for pod in cluster.pending.tolist()}
        self._priorities = sorted(waiting, reverse=True)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those that are left, in their order."""
        return tuple(step for step in self._steps if step.pod not in self._out)

    @property
    def evicted(self) -> list[int]:
        """Pods that still lose their place, in the order of the steps."""
        return [pod for pod in self._evicted if pod not in self._out]

    @property
    def fits_in_order(self) -> bool:
        """Whether every landing has room when its turn comes."""
        cluster = self._cluster
        free = cluster.resources.allocatable - cluster.used
        for step in self.steps:
            request = self._requests[step.pod]
            if step.evicts:
                free[int(cluster.node_of[step.pod])] += request
            if step.lands:
                free[step.node] -= request
                if ((free[step.node] < 0) & (request > 0)).any():
                    return False
        return True

    def without(self, pod: int) -> Draft:
        """The same without the eviction of the pod, by the order of giving way that places more."""
        return max((self._without(pod, first) for first in _FIRST), key=lambda each: each.worth)

    def _without(self, pod: int, first: GivesWay) -> Draft:
        other = copy(self)
        other._coming = defaultdict(list, {node: list(pods) for node, pods in self._coming.items()})
        other._free, other._target = self._free.copy(), dict(self._target)
        other._out = set(self._out)
        other._take_back(pod, first)
        return other

    @property
    def worth(self) -> list[tuple[int, int]]:
        """What is placed by priority from the top: larger is better, with the same priorities."""
        placed = self.placed
        return [(each, placed[each]) for each in self._priorities]

    @property
    def placed(self) -> Counter[int]:
        """Pods that waited and get a node, by priority."""
        pods, node_of = self._cluster.pods, self._cluster.node_of
        return Counter(pods[pod].priority for pod in self._target if node_of[pod] < 0)

    def _take_back(self, pod: int, first: GivesWay) -> None:
        """The pod stays where it is, and so does whoever would need its room."""
        staying = [pod]
        while staying:
            pod = staying.pop()
            if pod in self._out:
                continue
            self._leave_out(pod)
            home = int(self._cluster.node_of[pod])
            self._free[home] -= self._requests[pod]
            while self._lacks(home, self._requests[pod]):
                other = self._least(home, first)
                if other is None:
                    break
                if other in self._evicted:
                    staying.append(other)
                self._coming[home].remove(other)
                self._free[home] += self._requests[other]
                self._target.pop(other, None)
                if other not in self._evicted:
                    self._out.add(other)

    def _leave_out(self, pod: int) -> None:
        self._out.add(pod)
        target = self._target.pop(pod, None)
        if target is not None:
            self._coming[target].remove(pod)
            self._free[target] += self._requests[pod]

    def _lacks(self, node: int, request: IntArray) -> bool:
        return bool(((self._free[node] < 0) & (request > 0)).any())

    def _least(self, node: int, first: GivesWay) -> int | None:
        """Who does without this node."""
        pods = self._cluster.pods
        coming = self._coming[node]
        if not coming:
            return None
        short = np.maximum(-self._free[node], 0)

        def importance(pod: int) -> tuple[int, ...]:
            rank = pod in self._evicted, pods[pod].priority
            enough = bool((self._requests[pod] >= short).all())
            return (*(rank if first == "waiting" else rank[::-1]), not enough, -pod)

        return min(coming, key=importance)


def evicted_by(steps: Iterable[Step]) -> tuple[int, ...]:
    """The pods that lose their place, in the order of the steps."""
    return tuple(dict.fromkeys(step.pod for step in steps if step.evicts))
