"""Carries waves of evictions out on a copy, with kube-scheduler choosing the nodes.

Within a wave evictions come in some order, and the scheduler may place a replacement before the
next pod is evicted or after all of them. The evicted pod may be gone by then, or still hold its
room while it is terminating. A `Manner` says which of all this happens; ties are drawn by its seed.
A wave ends when all that can be placed is placed; an eviction beyond a budget is refused, as the
Eviction API would, and nothing after it happens. A pod that no node takes drives off others of
lower priority, as kube-scheduler would; they wait in turn, for good if no controller makes them
anew. A StatefulSet makes a pod when the old one is gone, an ordered one when those below run; pods
that waited before may be placed while a new one is being made.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.disruption.pod_making import PodMaking
from planner.replay.trial_state import TrialState
from planner.replay.verify import with_old_pods
from planner.scheduler.profile import Profile
from planner_models.pod import DEFAULT_SCHEDULER


@dataclass(frozen=True)
class WavePlan:
    """Pods to evict together, and nodes that are cordoned meanwhile.

    With `holds` the cordons stay until the next wave has set its own: a pod that has to wait for
    that wave finds no other node in between.
    """

    evictions: tuple[int, ...]
    cordons: tuple[int, ...] = ()
    holds: bool = False


@dataclass(frozen=True)
class Manner:
    """How a trial goes. Seed 0 keeps the given order and takes the first of tied nodes by name."""

    seed: int
    terminating: bool = False
    one_by_one: bool = False


class Landing(NamedTuple):
    """A pod that found a node in a wave."""

    wave: int
    pod: int
    node: int


Choices = dict[tuple[int, int], BoolArray]
"""By wave and group: every node that was among the best for a pod of the group."""


@dataclass(frozen=True, eq=False)
class TrialRun:
    """Where pods are in the end, who landed where on the way, and after which wave it stopped.

    `after[w]` is where pods are when wave w has ended, kept for seed 0 only; `refused` is the pod
    that a budget kept, `driven` are, by who took their place, those that others drove off after the
    first eviction.
    """

    node_of: IntArray
    landings: tuple[Landing, ...]
    after: tuple[IntArray, ...]
    refused: int | None = None
    driven: tuple[tuple[int, int], ...] = ()
    """(preemptor, victim)."""

    @property
    def preempted(self) -> tuple[int, ...]:
        """Who was driven off."""
        return tuple(victim for _, victim in self.driven)


class Trial:
    """Trials over one cluster; `pods` are those that waves may evict."""

    def __init__(
        self, cluster: Cluster, profile: Profile, allowances: Allowances, pods: Sequence[int]
    ) -> None:
        self._size = len(cluster.pods)
        self._old = {pod: self._size + i for i, pod in enumerate(pods)}
        self._state = TrialState(with_old_pods(cluster, list(pods)), profile)
        self._allowances = allowances
        self._making = PodMaking(cluster)

    def run(
        self,
        waves: Sequence[WavePlan],
        manner: Manner,
        *,
        unlimited: bool = False,
        choices: Choices | None = None,
    ) -> TrialRun:
        """Carry the waves out; `unlimited` minds no budget. `choices` takes up what was tied."""
        running = _Running(self._state, manner, {} if choices is None else choices, self._making)
        running.settle()
        budgets = _Budgets(self._state.cluster, self._allowances)
        after: list[IntArray] = []
        refused: int | None = None
        for number, wave in enumerate(waves):
            running.begin(number, wave.cordons)
            if manner.one_by_one:
                running.settle()
            refused = self._wave(running, wave, budgets if not unlimited else None, manner)
            running.end(holds=wave.holds)
            if not manner.seed:
                after.append(self._state.node_of[: self._size])
            if refused is not None:
                break
        return TrialRun(
            node_of=self._state.node_of[: self._size],
            landings=tuple(running.landings),
            after=tuple(after),
            refused=refused,
            driven=tuple(running.driven),
        )

    def _wave(
        self, running: _Running, wave: WavePlan, budgets: _Budgets | None, manner: Manner
    ) -> int | None:
        order = list(wave.evictions)
        if running.random is not None:
            running.random.shuffle(order)
        if budgets is not None:
            budgets.begin(self._state.node_of)
        for pod in order:
            if budgets is not None and not budgets.take(pod):
                return pod
            stays = manner.terminating and not self._making.after_the_old_one(pod)
            running.evict(pod, self._old[pod] if stays else None)
            if manner.one_by_one:
                running.settle()
        running.settle()
        return None


class _Budgets:
    """What the Eviction API would let go: pods that wait are down, and so is this wave's share."""

    def __init__(self, cluster: Cluster, allowances: Allowances) -> None:
        self._cluster = cluster
        self._allowances = allowances
        self._down: list[int] = []

    def begin(self, node_of: IntArray) -> None:
        """A new wave: who runs by now is ready; who waits is down."""
        was, now = self._cluster.node_of == PENDING, node_of == PENDING
        self._down = [each.down for each in self._allowances.each]
        for pod in np.flatnonzero(was != now).tolist():
            change = 1 if now[pod] else -1
            for number in self._allowances.of_group.get(int(self._cluster.group_of[pod]), ()):
                self._down[number] += change

    def take(self, pod: int) -> bool:
        """Whether all budgets over the pod allow one more to be down. Quarters are no budgets."""
        numbers = self._allowances.of_pod(pod)
        if any(
            self._allowances.each[number].budget
            and self._down[number] >= self._allowances.each[number].limit
            for number in numbers
        ):
            return False
        for number in numbers:
            self._down[number] += 1
        return True


@dataclass(eq=False)
class _Running:
    """One trial under way."""

    state: TrialState
    manner: Manner
    choices: Choices
    making: PodMaking
    landings: list[Landing] = field(default_factory=list)
    driven: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        seed = self.manner.seed
        self.random = random.Random(seed) if seed else None
        self._wave = -1
        self._leaving: list[int] = []
        self._late: list[int] = []
        self._evicted: set[int] = set()
        self.state.restore()
        pending = self.state.cluster.pending.tolist()
        self._queue: list[int] = [pod for pod in pending if self._schedulable(pod)]

    def _schedulable(self, index: int) -> bool:
        pod = self.state.cluster.pods[index]
        return (
            not pod.terminating
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name == DEFAULT_SCHEDULER
        )

    def begin(self, wave: int, cordons: Sequence[int]) -> None:
        """A wave begins under its cordons."""
        self._wave = wave
        self.state.cordon(cordons)

    def end(self, *, holds: bool) -> None:
        """What was terminating is gone, cordons are lifted, and whoever waits is tried again.

        With nobody waiting a cordon is as good as lifted: the next wave sets its own.
        """
        for old in self._leaving:
            self.state.forget(old)
        if self._leaving:
            self._leaving = []
            self.settle()
        if self._queue and self.state.cordoned and not holds:
            self.state.cordon(())
            self.settle()

    def evict(self, pod: int, old: int | None) -> None:
        """The pod goes and a new one takes its place in the queue; `old` stays until the end.

        Where the old pod is gone at once, others may take its room before the new one is made.
        """
        self.state.evict(pod, old)
        if old is not None:
            self._leaving.append(old)
        self._evicted.add(pod)
        late = old is None and self.random is not None and self.random.random() < 0.5
        (self._late if late else self._queue).append(pod)

    def settle(self) -> None:
        """Place whatever finds a node, until nothing does; pods that come late after all others."""
        self._settle_queue()
        if self._late:
            self._queue += self._late
            self._late = []
            self._settle_queue()

    def _settle_queue(self) -> None:
        """By priority and then arrival."""
        if not self._queue:
            return
        order = list(self._queue)
        if self.random is not None:
            self.random.shuffle(order)
        pods = self.state.cluster.pods
        order.sort(key=lambda pod: -pods[pod].priority)
        self._queue = []
        placed = True
        while placed and order:
            position = self.state.position
            order = [*self._unplaced(order), *self._queue]
            order.sort(key=lambda pod: -pods[pod].priority)
            self._queue = []
            placed = self.state.position > position
        self._queue = order

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
        if pod not in self._evicted:
            return False
        return any(self.state.waits(below) for below in self.making.before(pod))

    def _preempts(self, pod: int) -> bool:
        """Pods of lower priority go, and this one takes the node that was promised to it."""
        found = self.state.preemption(pod, self.random)
        if found is None or found.nominated is None:
            return False
        for victim in found.victims:
            self._drive_off(victim, pod)
        self.state.place(pod, found.nominated)
        self.landings.append(Landing(self._wave, pod, found.nominated))
        return True

    def _drive_off(self, victim: int, preemptor: int) -> None:
        if self.state.cluster.terminating[victim]:
            self.state.forget(victim)
            return
        self.state.evict(victim, None)
        if self._wave >= 0:
            self.driven.append((preemptor, victim))
        if self.making.again(victim):
            self._evicted.add(victim)
            self._queue.append(victim)

    def _place(self, pod: int) -> bool:
        best = self.state.best(pod)
        if not len(best):
            return self._preempts(pod)
        node = int(best[0] if self.random is None else self.random.choice(best))
        self.state.place(pod, node)
        self.landings.append(Landing(self._wave, pod, node))
        key = (self._wave, int(self.state.cluster.group_of[pod]))
        if key not in self.choices:
            self.choices[key] = np.zeros(len(self.state.cluster.nodes), np.bool_)
        self.choices[key][best] = True
        return True
