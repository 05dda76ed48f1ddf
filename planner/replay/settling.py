"""kube-scheduler places whatever finds a node, until nothing does any more.

Pods that wait come by priority and then in the order of their arrival, which a seed shuffles; ties
between nodes are drawn by the same seed. A pod that no node takes drives off others of lower
priority; they wait in turn, for good if no controller makes them anew. Pods that a StatefulSet
makes in order wait for those below.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.disruption.pod_making import PodMaking
from planner.replay.trial_state import TrialState
from planner_models.pod import DEFAULT_SCHEDULER


class Landing(NamedTuple):
    """A pod that found a node in a wave."""

    wave: int
    pod: int
    node: int


Choices = dict[tuple[int, int], BoolArray]
"""By wave and group: every node that was among the best for a pod of the group."""


class Settling:
    """The pods that wait; seed 0 keeps their order and takes the first of tied nodes by name."""

    def __init__(
        self, state: TrialState, making: PodMaking, seed: int, choices: Choices | None = None
    ) -> None:
        self.state = state
        self.random = random.Random(seed) if seed else None
        self.landings: list[Landing] = []
        self.preempted: list[int] = []
        """Driven off by others after the first wave began."""
        self.wave = -1
        self._making = making
        self._choices: Choices = {} if choices is None else choices
        self._made_anew: set[int] = set()
        pending = state.cluster.pending.tolist()
        self.waiting: list[int] = [pod for pod in pending if self._schedulable(pod)]

    def _schedulable(self, index: int) -> bool:
        pod = self.state.cluster.pods[index]
        return (
            not pod.terminating
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name == DEFAULT_SCHEDULER
        )

    def arrives(self, pod: int) -> None:
        """A new pod waits behind the others, unless kube-scheduler is not to place it."""
        self.state.evict(pod, None)
        if self._schedulable(pod):
            self.waiting.append(pod)

    def made_anew(self, pod: int) -> None:
        """A controller makes the pod once more; it waits behind the others."""
        self._made_anew.add(pod)
        self.waiting.append(pod)

    def withdraw(self, pod: int) -> None:
        """The pod is deleted before it found a node."""
        if pod in self.waiting:
            self.waiting.remove(pod)
        self.state.forget(pod)

    def settle(self) -> None:
        """Place whatever finds a node, by priority and then arrival, until nothing does."""
        if not self.waiting:
            return
        order = list(self.waiting)
        if self.random is not None:
            self.random.shuffle(order)
        pods = self.state.cluster.pods
        order.sort(key=lambda pod: -pods[pod].priority)
        self.waiting = []
        placed = True
        while placed and order:
            position = self.state.position
            order = [*self._unplaced(order), *self.waiting]
            order.sort(key=lambda pod: -pods[pod].priority)
            self.waiting = []
            placed = self.state.position > position
        self.waiting = order

    def _unplaced(self, order: Sequence[int]) -> list[int]:
        """One go through the queue; a group that fails fails again until something has changed."""
        failed: dict[int, int] = {}
        left: list[int] = []
        for pod in order:
            group, position = int(self.state.cluster.group_of[pod]), self.state.position
            if failed.get(group) == position or self._not_made(pod) or not self._place(pod):
                failed[group] = position
                left.append(pod)
        return left

    def _not_made(self, pod: int) -> bool:
        """Whether its controller waits for other pods before it makes this one anew."""
        if pod not in self._made_anew:
            return False
        return any(self.state.waits(below) for below in self._making.before(pod))

    def _preempts(self, pod: int) -> bool:
        """Pods of lower priority go, and this one takes the node that was promised to it."""
        found = self.state.preemption(pod, self.random)
        if found is None or found.nominated is None:
            return False
        for victim in found.victims:
            self._drive_off(victim)
        self.state.place(pod, found.nominated)
        self.landings.append(Landing(self.wave, pod, found.nominated))
        return True

    def _drive_off(self, victim: int) -> None:
        if self.state.cluster.terminating[victim]:
            self.state.forget(victim)
            return
        self.state.evict(victim, None)
        if self.wave >= 0:
            self.preempted.append(victim)
        if self._making.again(victim):
            self.made_anew(victim)

    def _place(self, pod: int) -> bool:
        best = self.state.best(pod)
        if not len(best):
            return self._preempts(pod)
        node = int(best[0] if self.random is None else self.random.choice(best))
        self.state.place(pod, node)
        self.landings.append(Landing(self.wave, pod, node))
        key = (self.wave, int(self.state.cluster.group_of[pod]))
        if key not in self._choices:
            self._choices[key] = np.zeros(len(self.state.cluster.nodes), np.bool_)
        self._choices[key][best] = True
        return True
