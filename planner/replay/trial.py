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

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.disruption.pod_making import PodMaking
from planner.replay.settling import Choices, Landing, Settling
from planner.replay.trial_state import TrialState
from planner.replay.verify import with_old_pods
from planner.scheduler.profile import Profile


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


@dataclass(frozen=True, eq=False)
class TrialRun:
    """Where pods are in the end, who landed where on the way, and after which wave it stopped.

    `after[w]` is where pods are when wave w has ended, kept for seed 0 only; `refused` is the pod
    that a budget kept, `driven` are, by who took their place, those that others drove off after the
    first eviction.
    """

    node_of: IntArray
    landings: Sequence[Landing]
    after: tuple[IntArray, ...]
    refused: int | None = None
    driven: tuple[tuple[int, int], ...] = ()
    """(preemptor, victim)."""

    @property
    def preempted(self) -> tuple[int, ...]:
        """Who was driven off."""
        return tuple(victim for _, victim in self.driven)


class Trial:
    """Trials over one cluster; `pods` are those that waves may evict.

    `hopeless` pods wait, and no eviction of these can change that: nobody tries to place them.
    `held` nodes are cordoned from the start until the first wave has set its own cordons.
    """

    def __init__(
        self,
        cluster: Cluster,
        profile: Profile,
        allowances: Allowances,
        pods: Sequence[int],
        hopeless: frozenset[int] = frozenset(),
        held: tuple[int, ...] = (),
    ) -> None:
        self._size = len(cluster.pods)
        self._old = {pod: self._size + i for i, pod in enumerate(pods)}
        self.state = TrialState(with_old_pods(cluster, list(pods)), profile)
        self.allowances = allowances
        self.making = PodMaking(cluster)
        self._hopeless = hopeless
        self.held = held
        self.openings: dict[tuple[int, bool], Opening] = {}
        """By seed, and by whether there is preemption: the same whoever waves may evict."""

    @property
    def node_of(self) -> IntArray:
        """Where pods are now: whoever makes up waves as they go looks at this in between."""
        return self.state.node_of[: self._size]

    def waiting_at_start(self) -> bool:
        """Whether anybody waits whom kube-scheduler is to place."""
        waiting = Settling(self.state, self.making, seed=0).waiting
        return any(pod not in self._hopeless for pod in waiting)

    def run(
        self,
        waves: Iterable[WavePlan],
        manner: Manner,
        *,
        unlimited: bool = False,
        preempt: bool = True,
        until_driven: bool = False,
        choices: Choices | None = None,
        until: float = math.inf,
    ) -> TrialRun:
        """Carry the waves out; `unlimited` minds no budget. `choices` takes up what was tied.

        Without `preempt` whoever finds no node waits, and drives nobody off. `until_driven` ends
        with the first wave in which somebody is driven off.

        By the monotonic clock, a trial that has not ended by `until` ends with OutOfTimeError.
        """
        running = _Running(
            self.state,
            manner,
            {} if choices is None else choices,
            self.making,
            self._hopeless,
            preempt=preempt,
        )
        running.until = until
        self.state.cordon(self.held)
        self._open(running, (manner.seed, preempt) if choices is None else None)
        budgets = Budgets(self.state.cluster, self.allowances)
        after: list[IntArray] = []
        refused: int | None = None
        for number, wave in enumerate(waves):
            running.begin(number, wave.cordons)
            if manner.one_by_one:
                running.settle()
            refused = self._wave(running, wave, budgets if not unlimited else None, manner)
            running.end(holds=wave.holds)
            if not manner.seed:
                after.append(self.state.node_of[: self._size])
            if refused is not None or (until_driven and running.driven):
                break
        return TrialRun(
            node_of=self.state.node_of[: self._size],
            landings=tuple(running.landings),
            after=tuple(after),
            refused=refused,
            driven=tuple(running.driven),
        )

    def _open(self, running: _Running, known_by: tuple[int, bool] | None) -> None:
        """What kube-scheduler does before the first wave: the same whatever waves there are."""
        known = None if known_by is None else self.openings.get(known_by)
        if known is not None:
            running.reopen(known)
            return
        running.settle()
        if known_by is not None:
            self.openings[known_by] = running.opening(self._size)

    def _wave(
        self, running: _Running, wave: WavePlan, budgets: Budgets | None, manner: Manner
    ) -> int | None:
        order = list(wave.evictions)
        if running.random is not None:
            running.random.shuffle(order)
        if budgets is not None:
            budgets.begin(self.state.node_of)
        for pod in order:
            if budgets is not None and not budgets.take(pod):
                return pod
            stays = manner.terminating and not self.making.after_the_old_one(pod)
            running.evict(pod, self._old[pod] if stays else None)
            if manner.one_by_one:
                running.settle()
        running.settle()
        return None


class Opening(NamedTuple):
    """Where everybody is before the first wave, who has landed and who waits, and the next draw."""

    node_of: IntArray
    landings: tuple[Landing, ...]
    waiting: tuple[int, ...]
    made_anew: frozenset[int]
    drawn: tuple[Any, ...] | None


class Budgets:
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


class _Running(Settling):
    """One trial under way."""

    def __init__(
        self,
        state: TrialState,
        manner: Manner,
        choices: Choices,
        making: PodMaking,
        hopeless: frozenset[int],
        *,
        preempt: bool,
    ) -> None:
        state.restore()
        super().__init__(state, making, manner.seed, choices, preempt=preempt)
        self.waiting = [pod for pod in self.waiting if pod not in hopeless]
        self._leaving: list[int] = []
        self._late: list[int] = []

    def opening(self, pods: int) -> Opening:
        """To be taken up by another trial of the same manner; so many pods are no twins."""
        return Opening(
            self.state.node_of[:pods],
            tuple(self.landings),
            tuple(self.waiting),
            frozenset(self._made_anew),
            None if self.random is None else self.random.getstate(),
        )

    def reopen(self, known: Opening) -> None:
        """Everybody is where another trial of the same manner had them before its first wave."""
        self.state.take_up(known.node_of)
        self.landings.extend(known.landings)
        self.waiting = list(known.waiting)
        self._made_anew.update(known.made_anew)
        if self.random is not None and known.drawn is not None:
            self.random.setstate(known.drawn)

    def begin(self, wave: int, cordons: Sequence[int]) -> None:
        """A wave begins under its cordons."""
        self.wave = wave
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
        if self.waiting and self.state.cordoned and not holds:
            self.state.cordon(())
            self.settle()

    def evict(self, pod: int, old: int | None) -> None:
        """The pod goes and a new one takes its place in the queue; `old` stays until the end.

        Where the old pod is gone at once, others may take its room before the new one is made.
        """
        self.state.evict(pod, old)
        if old is not None:
            self._leaving.append(old)
        if old is None and self.random is not None and self.random.random() < 0.5:
            self._late.append(pod)
        else:
            self.made_anew(pod)

    def settle(self) -> None:
        """Place whatever finds a node; pods that are made late come after all others."""
        super().settle()
        if self._late:
            for pod in self._late:
                self.made_anew(pod)
            self._late = []
            super().settle()
