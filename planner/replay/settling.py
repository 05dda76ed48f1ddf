"""kube-scheduler places whatever finds a node, until nothing does any more.

Pods that wait come by priority and then in the order of their arrival, which a seed shuffles; ties
between nodes are drawn by the same seed. A pod that no node takes drives off others of lower
priority; they wait in turn, for good if no controller makes them anew. Pods that a StatefulSet
makes in order wait for those below.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.disruption.pod_making import PodMaking
from planner.replay.placing import Placing
from planner.replay.trial_state import TrialState
from planner.scheduler.framework.facts import facts_of


class OutOfTimeError(Exception):
    """Nobody waits for this any more."""


class Landing(NamedTuple):
    """A pod that found a node in a wave."""

    wave: int
    pod: int
    node: int


Choices = dict[tuple[int, int], BoolArray]
"""By wave and group: every node that was among the best for a pod of the group."""


class Settling(Placing):
    """The pods that wait; seed 0 keeps their order and takes the first of tied nodes by name."""

    def __init__(
        self,
        state: TrialState,
        making: PodMaking,
        seed: int,
        choices: Choices | None = None,
        *,
        preempt: bool = True,
    ) -> None:
        super().__init__(state, making, seed, preempt=preempt)
        self.landings: list[Landing] = []
        self.driven: list[tuple[int, int]] = []
        """(preemptor, victim) after the first wave began."""
        self.wave = -1
        self.until = math.inf
        self._choices: Choices = {} if choices is None else choices
        self._made_anew: set[int] = set()
        self._ranks = -facts_of(state.cluster).priorities
        pending = state.cluster.pending.tolist()
        self.waiting: list[int] = [pod for pod in pending if self.schedulable(pod)]

    def arrives(self, pod: int) -> None:
        """A new pod waits behind the others, unless kube-scheduler is not to place it."""
        self.state.evict(pod, None)
        if self.schedulable(pod):
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
        order = self._by_priority(order)
        self.waiting = []
        placed = True
        while placed and order:
            position = self.state.position
            order = self._by_priority([*self._unplaced(order), *self.waiting])
            self.waiting = []
            placed = self.state.position > position
        self.waiting = order

    def _by_priority(self, pods: Sequence[int]) -> list[int]:
        """The highest first, and otherwise as they are."""
        some = np.array(pods, np.int64)
        ranks = self._ranks[self.state.cluster.group_of[some]]
        found: list[int] = some[np.argsort(ranks, kind="stable")].tolist()
        return found

    def _unplaced(self, order: Sequence[int]) -> list[int]:
        """One go through the queue; a group that fails fails again until something has changed."""
        failed: dict[int, int] = {}
        placed: set[int] = set()
        if time.monotonic() > self.until:
            raise OutOfTimeError
        for pod in self._awake(order):
            group, position = int(self.state.cluster.group_of[pod]), self.state.position
            if failed.get(group) == position:
                continue
            if self._not_made(pod):
                failed[group] = position
            elif self.place(pod):
                placed.add(pod)
            else:
                failed[group] = position
                self.state.rest(group)
        return [pod for pod in order if pod not in placed]

    def _awake(self, order: Sequence[int]) -> Iterator[int]:
        """Pods that something could have helped since they were refused, as that goes on."""
        pods, begin = np.array(order, np.int64), 0
        while begin < len(pods):
            seen, groups = self.state.leavings, self.state.cluster.group_of[pods[begin:]]
            awake = (np.flatnonzero(~self.state.asleep()[groups]) + begin).tolist()
            begin = len(pods)
            for at in awake:
                yield order[at]
                if self.state.leavings != seen:
                    begin = at + 1
                    break

    def _not_made(self, pod: int) -> bool:
        """Whether its controller waits for other pods before it makes this one anew."""
        if pod not in self._made_anew:
            return False
        return any(self.state.waits(below) for below in self.making.before(pod))

    def landed(self, pod: int, node: int, best: IntArray | None) -> None:
        """Take up where the pod landed, and where else it could have."""
        self.landings.append(Landing(self.wave, pod, node))
        if best is None:
            return
        key = (self.wave, int(self.state.cluster.group_of[pod]))
        if key not in self._choices:
            self._choices[key] = np.zeros(len(self.state.cluster.nodes), np.bool_)
        self._choices[key][best] = True

    def driven_off(self, victim: int, preemptor: int, *, again: bool) -> None:
        """The pod waits in turn, for good if no controller makes it anew."""
        if self.wave >= 0:
            self.driven.append((preemptor, victim))
        if again:
            self.made_anew(victim)
