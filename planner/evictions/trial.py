"""Carries waves of evictions out on a copy, with kube-scheduler choosing the nodes.

Within a wave evictions come in some order, and the scheduler may place a replacement before the
next pod is evicted or after all of them. The evicted pod may be gone by then, or still hold its
room while it is terminating. A `Manner` says which of all this happens; ties are drawn by its seed.
A wave ends when all that can be placed is placed; an eviction beyond a budget is refused, as the
Eviction API would, and nothing after it happens.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from models.pod import DEFAULT_SCHEDULER
from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.planning.budgets import Allowances
from planner.scheduler.cycle import Scheduler
from planner.scheduler.profile import Profile
from planner.scheduler.state import SchedulingState
from planner.verify.replay import cordoned_node, with_old_pods


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


@dataclass(frozen=True)
class Landing:
    """A pod that found a node in a wave; `tied` are all nodes that were as good."""

    wave: int
    pod: int
    node: int
    tied: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TrialRun:
    """Where pods are in the end, who landed where on the way, and after which wave it stopped.

    `after[w]` is where pods are when wave w has ended; `refused` is the pod that a budget kept.
    """

    node_of: IntArray
    landings: tuple[Landing, ...]
    after: tuple[IntArray, ...]
    refused: int | None = None


class Trial:
    """Trials over one cluster; `pods` are those that waves may evict."""

    def __init__(
        self, cluster: Cluster, profile: Profile, allowances: Allowances, pods: Sequence[int]
    ) -> None:
        self._size = len(cluster.pods)
        self._old = {pod: self._size + i for i, pod in enumerate(pods)}
        self._cluster = with_old_pods(cluster, list(pods))
        self._profile = profile
        self._allowances = allowances

    def run(
        self, waves: Sequence[WavePlan], manner: Manner, *, unlimited: bool = False
    ) -> TrialRun:
        """Carry the waves out; `unlimited` minds no budget."""
        state = _Running(self._cluster, self._profile, manner)
        state.settle()
        budgets = _Budgets(self._cluster, self._allowances)
        after: list[IntArray] = []
        refused: int | None = None
        for number, wave in enumerate(waves):
            state.begin(number, wave.cordons)
            refused = self._wave(state, wave, budgets if not unlimited else None, manner)
            state.end(holds=wave.holds)
            after.append(state.node_of[: self._size])
            if refused is not None:
                break
        return TrialRun(
            node_of=state.node_of[: self._size],
            landings=tuple(state.landings),
            after=tuple(after),
            refused=refused,
        )

    def _wave(
        self, state: _Running, wave: WavePlan, budgets: _Budgets | None, manner: Manner
    ) -> int | None:
        order = list(wave.evictions)
        if state.random is not None:
            state.random.shuffle(order)
        if budgets is not None:
            budgets.begin(state.node_of)
        for pod in order:
            if budgets is not None and not budgets.take(pod):
                return pod
            state.evict(pod, self._old[pod] if manner.terminating else None)
            if manner.one_by_one:
                state.settle()
        state.settle()
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
    """The cluster while a trial goes on."""

    cluster: Cluster
    profile: Profile
    manner: Manner
    landings: list[Landing] = field(default_factory=list)

    def __post_init__(self) -> None:
        seed = self.manner.seed
        self.random = random.Random(seed) if seed else None
        self._wave = -1
        self._leaving: list[int] = []
        self._cordoned: frozenset[int] = frozenset()
        self._queue: list[int] = [
            pod
            for pod in self.cluster.pending.tolist()
            if pod < len(self.cluster.pods) and self._schedulable(pod)
        ]
        self._restart(self.cluster)

    def _restart(self, cluster: Cluster) -> None:
        self._state = SchedulingState(cluster)
        self._scheduler = Scheduler(self._state, self.profile)

    def _schedulable(self, index: int) -> bool:
        pod = self.cluster.pods[index]
        return (
            not pod.terminating
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name == DEFAULT_SCHEDULER
        )

    @property
    def node_of(self) -> IntArray:
        """Where pods are now."""
        return self._state.node_of.copy()

    def begin(self, wave: int, cordons: Sequence[int]) -> None:
        """A wave begins under its cordons."""
        self._wave = wave
        self._cordon(frozenset(cordons))

    def end(self, *, holds: bool) -> None:
        """What was terminating is gone, cordons are lifted, and whoever waits is tried again.

        With nobody waiting a cordon is as good as lifted: the next wave sets its own.
        """
        for old in self._leaving:
            self._state.remove(old, GONE)
        if self._leaving:
            self._leaving = []
            self.settle()
        if self._queue and self._cordoned and not holds:
            self._cordon(frozenset())
            self.settle()

    def _cordon(self, nodes: frozenset[int]) -> None:
        """A cordon changes what the scheduler looks at, so it starts afresh."""
        if nodes == self._cordoned:
            return
        self._cordoned = nodes
        changed = list(self.cluster.nodes)
        for node in nodes:
            changed[node] = cordoned_node(changed[node], True)
        self._restart(replace(self._state.snapshot(), nodes=tuple(changed)))

    def evict(self, pod: int, old: int | None) -> None:
        """The pod goes and a new one takes its place in the queue; `old` stays until the end."""
        node = int(self._state.node_of[pod])
        self._state.remove(pod)
        if old is not None:
            self._state.place(old, node)
            self._leaving.append(old)
        self._queue.append(pod)

    def settle(self) -> None:
        """Place whatever finds a node, by priority and then arrival, until nothing does."""
        if not self._queue:
            return
        order = list(self._queue)
        if self.random is not None:
            self.random.shuffle(order)
        pods = self.cluster.pods
        order.sort(key=lambda pod: -pods[pod].priority)
        placed = True
        while placed and order:
            before = len(order)
            order = self._unplaced(order)
            placed = len(order) < before
        self._queue = order

    def _unplaced(self, order: Sequence[int]) -> list[int]:
        """One go through the queue; a group that fails fails again until something has changed."""
        failed: dict[int, int] = {}
        left: list[int] = []
        for pod in order:
            group, position = int(self.cluster.group_of[pod]), len(self._state.log)
            if failed.get(group) == position or not self._place(pod):
                failed[group] = position
                left.append(pod)
        return left

    def _place(self, pod: int) -> bool:
        evaluation = self._scheduler.evaluate(pod)
        if not len(evaluation.feasible):
            return False
        best = evaluation.best
        node = int(best[0] if self.random is None else self.random.choice(best))
        self._state.place(pod, node)
        self.landings.append(Landing(self._wave, pod, node, tuple(best.tolist())))
        return True
