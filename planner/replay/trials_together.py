"""Trials of the same waves in many manners, carried out side by side.

As long as every evicted pod lands when it is its turn, trials differ only in who comes first and in
how ties are drawn: nobody waits, nobody is driven off, no budget is asked twice. Then one step of
all of them together is little more work than one step of one. Where a pod finds no node in some
lane, that trial is left to be carried out alone (`Trial.run`), which has an answer to all else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import overload

import numpy as np

from planner.cluster.topology import IntArray
from planner.replay.settling import Choices, Landing, OutOfTimeError
from planner.replay.trial import Budgets, Manner, Trial, TrialRun, WavePlan
from planner.scheduler.steady import NOWHERE, Field, steady_groups

_BETWEEN_LOOKS = 256
"""So many steps are carried out before somebody looks at the clock."""


@dataclass(frozen=True, eq=False)
class Together:
    """What `Trial.run` finds in each manner; None for those that have to be carried out alone.

    `choices` are the nodes that were tied for the best, in these also until they were given up.
    """

    runs: Sequence[TrialRun | None]
    choices: Choices


def run_together(
    trial: Trial, waves: Sequence[WavePlan], manners: Sequence[Manner], until: float = math.inf
) -> Together | None:
    """None if some pod is not steady, or something else may come in between.

    By the monotonic clock, what has not ended by `until` ends with OutOfTimeError.
    """
    pods = [pod for wave in waves for pod in wave.evictions]
    if not pods or not manners or not _undisturbed(trial, waves, pods):
        return None
    scheduler = trial.state.at_start()
    groups = steady_groups(scheduler, pods)
    if groups is None:
        return None
    field = Field(scheduler.state, groups, len(manners))
    if not field.exact:
        return None
    return _Lanes(trial, field, waves, manners, until).run()


def _undisturbed(trial: Trial, waves: Sequence[WavePlan], pods: Sequence[int]) -> bool:
    """Whether nothing but these evictions happens: nobody waits, and no node is cordoned."""
    cluster = trial.state.cluster
    return (
        len(set(pods)) == len(pods)
        and bool((cluster.node_of[pods] >= 0).all())
        and not trial.waiting_at_start()
        and not trial.held
        and not any(wave.cordons for wave in waves)
        and not any(trial.making.before(pod) for pod in pods)
        and _within_budgets(trial, waves)
    )


def _within_budgets(trial: Trial, waves: Sequence[WavePlan]) -> bool:
    """Whether no eviction is refused while everybody lands; their order does not matter."""
    cluster = trial.state.cluster
    budgets = Budgets(cluster, trial.allowances)
    for wave in waves:
        budgets.begin(cluster.node_of)
        if not all(budgets.take(pod) for pod in wave.evictions):
            return False
    return True


class InOrder(Sequence[Landing]):
    """Landings in the order in which they happened; each is made when it is asked for."""

    def __init__(self, waves: IntArray, pods: IntArray, nodes: IntArray) -> None:
        self._columns = waves, pods, nodes

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Landing: ...

    @overload
    def __getitem__(self, index: slice) -> InOrder: ...

    def __getitem__(self, index: int | slice) -> Landing | InOrder:
        if isinstance(index, slice):
            return InOrder(*(column[index] for column in self._columns))
        return Landing(*(int(column[index]) for column in self._columns))


class _Evicted:
    """What matters of each pod: its turn among others that wait, and when it is made anew."""

    def __init__(self, trial: Trial, pods: Sequence[int]) -> None:
        self.turn = {pod: -trial.state.cluster.pods[pod].priority for pod in pods}
        self.after_the_old_one = frozenset(filter(trial.making.after_the_old_one, pods))


class _Lane:
    """One trial: who is evicted next, and who comes next."""

    def __init__(self, evicted: _Evicted, manner: Manner, number: int) -> None:
        self.number = number
        self.manner = manner
        self.random = Random(manner.seed) if manner.seed else None
        self.gone: list[int] = []
        """Pods that have left their nodes since somebody last asked."""
        self._evicted = evicted
        self._leaving: list[int] = []

    def course(self, wave: WavePlan) -> Iterator[int]:
        """The pods of a wave in the order in which they land, as `Trial.run` has it."""
        order = list(wave.evictions)
        self._shuffle(order)
        if self.manner.one_by_one:
            return self._one_by_one(order)
        late = [self._evict(pod) for pod in order]
        return chain.from_iterable(
            self._in_turn([pod for pod, last in zip(order, late, strict=True) if last == after])
            for after in (False, True)
        )

    def _one_by_one(self, order: Sequence[int]) -> Iterator[int]:
        for pod in order:
            self._evict(pod)
            yield pod

    def _evict(self, pod: int) -> bool:
        """Whether its replacement comes late: half of them do where they come after it is gone."""
        stays = self.manner.terminating and pod not in self._evicted.after_the_old_one
        (self._leaving if stays else self.gone).append(pod)
        return not stays and self.random is not None and self.random.random() < 0.5

    def _in_turn(self, queue: list[int]) -> list[int]:
        """How pods come that wait at the same time."""
        self._shuffle(queue)
        queue.sort(key=self._evicted.turn.__getitem__)
        return queue

    def end(self) -> None:
        """What was terminating is gone."""
        self.gone += self._leaving
        self._leaving = []

    def _shuffle(self, pods: list[int]) -> None:
        if self.random is not None:
            self.random.shuffle(pods)


class _Lanes:
    """All trials under way."""

    def __init__(
        self,
        trial: Trial,
        field: Field,
        waves: Sequence[WavePlan],
        manners: Sequence[Manner],
        until: float,
    ) -> None:
        self._cluster = trial.state.cluster
        self._size = len(trial.node_of)
        self._field = field
        self._waves = waves
        self._manners = manners
        self._until = until
        pods = [pod for wave in waves for pod in wave.evictions]
        turns, evicted = _Evicted(trial, pods), np.array(pods)
        self._lanes = [_Lane(turns, manner, i) for i, manner in enumerate(manners)]
        self._randoms = [lane.random for lane in self._lanes]
        self._going = np.arange(len(manners))
        self._pods = np.empty((len(evicted), len(manners)), np.int64)
        self._nodes = np.empty((len(evicted), len(manners)), np.int64)
        """Who has landed where, by step and lane."""
        self._place_of_pod = field.place_of[self._cluster.node_of]
        self._makes_room = bool((self._place_of_pod[evicted] != NOWHERE).any())
        self._groups = np.unique(self._cluster.group_of[evicted])
        self._number = np.zeros(len(self._cluster.groups), np.int64)
        self._number[self._groups] = np.arange(len(self._groups))
        self._tied = np.zeros(len(waves) * len(self._groups) * len(field.nodes), np.bool_)
        """By wave, group and place."""

    def run(self) -> Together:
        """Wave by wave: all lanes have as many landings in each."""
        step = 0
        for wave, plan in enumerate(self._waves):
            courses = [lane.course(plan) for lane in self._lanes]
            for _ in plan.evictions:
                if step % _BETWEEN_LOOKS == 0 and time.monotonic() > self._until:
                    raise OutOfTimeError
                going = self._step(wave, step, list(map(next, courses)))
                step += 1
                if going is not None:
                    courses = [courses[lane] for lane in going]
            for lane in self._lanes:
                lane.end()
        found: list[TrialRun | None] = [None] * len(self._manners)
        for lane in self._lanes:
            found[lane.number] = self._run_of(lane)
        return Together(found, self._choices())

    def _step(self, wave: int, step: int, pods: Sequence[int]) -> Sequence[int] | None:
        """A pod lands in every lane; those that go on, if in some of them it finds no node."""
        if not pods:
            return None
        if self._makes_room:
            self._leave()
        now = np.array(pods)
        groups = self._cluster.group_of[now]
        landed = self._field.land(groups, self._randoms)
        first = (wave * len(self._groups) + self._number[groups]) * len(self._field.nodes)
        of_lane = first - np.arange(len(now)) * len(self._field.nodes)
        self._tied[np.repeat(of_lane, landed.tied) + landed.best] = True
        self._pods[step, self._going] = now
        self._nodes[step, self._going] = self._field.nodes[landed.places]
        if (landed.places != NOWHERE).all():
            return None
        going = np.flatnonzero(landed.places != NOWHERE)
        self._field.keep(going)
        self._going = self._going[going]
        kept: list[int] = going.tolist()
        self._lanes = [self._lanes[lane] for lane in kept]
        self._randoms = [lane.random for lane in self._lanes]
        return kept

    def _leave(self) -> None:
        """Evicted pods make room where others may land."""
        left = [
            (row, int(self._place_of_pod[pod]), pod)
            for row, lane in enumerate(self._lanes)
            for pod in lane.gone
            if self._place_of_pod[pod] != NOWHERE
        ]
        for lane in self._lanes:
            lane.gone.clear()
        if left:
            rows, places, pods = np.array(left).T
            self._field.leave(rows, places, self._cluster.group_of[pods])

    def _choices(self) -> Choices:
        """What was tied in any lane."""
        choices: Choices = {}
        tied = self._tied.reshape(len(self._waves), len(self._groups), -1)
        for wave, group in np.argwhere(tied.any(axis=2)).tolist():
            nodes = np.zeros(len(self._cluster.nodes), np.bool_)
            nodes[self._field.nodes] = tied[wave, group]
            choices[wave, int(self._groups[group])] = nodes
        return choices

    def _run_of(self, lane: _Lane) -> TrialRun:
        """What `Trial.run` would have told."""
        pods, nodes = self._pods[:, lane.number].copy(), self._nodes[:, lane.number].copy()
        now = self._cluster.node_of[: self._size].copy()
        ends = np.cumsum([len(wave.evictions) for wave in self._waves]).tolist()
        after: list[IntArray] = []
        for start, end in zip([0, *ends], ends, strict=False):
            now[pods[start:end]] = nodes[start:end]
            if not lane.manner.seed:
                after.append(now.copy())
        waves = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        return TrialRun(now, InOrder(waves, pods, nodes), tuple(after))
