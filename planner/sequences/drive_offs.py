"""Who is driven off if kube-scheduler chooses the nodes: trials of steps that are not a plan yet.

Steps are clean if nobody is driven off under any seed. A seed in which somebody was is tried first
from then on, so that most steps that are not clean cost one trial.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.replay.trial import Trial, WavePlan
from planner.scheduler.profile import Profile
from planner.sequences.scheduler_replay import departing, manner, replay_seconds
from planner.sequences.waves import Waves
from planner.solver.problem.problem import Problem

WAVE_SECONDS = 1.5e-6
"""About what each wave of a trial takes for each pod that waits, beside the landings in it."""
LANDING_SHARE = 0.2
"""The part of a replay's landings that a trial has in the mean: many who wait find no node."""
SOME_TRIALS = 10
"""About so many it takes until a plan with cordons is clean."""
FEW_TRIALS = 6
"""So many it takes at the least."""
SLOW_SECONDS = 0.1
"""Trials that take longer than this are few."""


class DriveOff(NamedTuple):
    """Who drove whom off, and the node on which the preemptor then landed, if it did."""

    preemptor: int
    victim: int
    node: int | None


class EffortOverError(Exception):
    """There is no time to finish what was begun, and there is something else to show."""


@dataclass(eq=False)
class Effort:
    """Work in about seconds, and the clock: whichever ends first."""

    seconds: float
    until: float
    spent: float = 0.0
    needed: bool = True
    """Whether there is nothing else yet, so that what is under way is brought to an end."""
    counted: bool = False
    """Whether what is under way is given up by its work, and not by the clock alone."""

    def check(self, more: float = 0.0) -> None:
        """Give up what is under way if the time is over, or would be after so much more work."""
        over = self.counted and self.spent + more >= self.seconds
        if not self.needed and (over or self.late):
            raise EffortOverError

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.seconds or self.late

    @property
    def late(self) -> bool:
        """Whether the clock says so, whatever was counted."""
        return time.monotonic() >= self.until

    @property
    def left(self) -> float:
        """About so many seconds."""
        return max(0.0, min(self.seconds - self.spent, self.until - time.monotonic()))


class DriveOffs:
    """Trials over one cluster."""

    def __init__(
        self,
        problem: Problem,
        profile: Profile,
        allowances: Allowances,
        seeds: int,
        effort: Effort,
    ) -> None:
        self.problem = problem
        self.effort = effort
        self._profile = profile
        self._allowances = allowances
        self._seeds = list(range(seeds))
        self._known: frozenset[int] = frozenset()
        self._trial: Trial | None = None
        self.ends: list[IntArray] = []
        self.enough = effort.seconds
        """How much work is spent when the steps that are tried now should be clean."""

    @property
    def overdue(self) -> bool:
        """Whether there is no time for as many trials as one would like."""
        return self.effort.spent >= self.enough or self.effort.late

    @property
    def hurried(self) -> bool:
        """Whether a user has waited long enough, and there is nothing to show yet."""
        return self.effort.needed and self.effort.late

    @property
    def slow(self) -> bool:
        """Whether it takes too long to look at every preemption on its own."""
        cluster = self.problem.cluster
        return replay_seconds(cluster, 2 * len(cluster.pending)) > SLOW_SECONDS

    def affords(self, evictions: int, more: float) -> bool:
        """Whether there is time for some trials in which every eviction has a wave of its own.

        With so much `more` work before each of them.

        Counted, not by the clock: a busy machine makes no other plan of it, as long as it gets on.
        """
        return self._trials_left(evictions, more) >= SOME_TRIALS

    def in_time(self, evictions: int, more: float) -> bool:
        """Whether the limit leaves as much, which matters as long as there is nothing to show."""
        left = self.effort.seconds - self.effort.spent
        return not self.effort.needed or left >= FEW_TRIALS * (
            self._seconds_of(evictions, evictions) + more
        )

    def affordable(self, evictions: int) -> int:
        """How many such trials there is time for before the last one, which is under all seeds."""
        return int(self._trials_left(evictions)) - len(self._seeds)

    def _trials_left(self, evictions: int, more: float = 0.0) -> float:
        one = self._seconds_of(evictions, evictions) + more
        return 0.0 if self.overdue else (self.enough - self.effort.spent) / one

    def _seconds_of(self, pods: int, waves: int) -> float:
        cluster = self.problem.cluster
        landings = LANDING_SHARE * replay_seconds(cluster, len(cluster.pending) + pods)
        return landings + WAVE_SECONDS * waves * len(cluster.pending)

    def in_waves(self, waves: Waves, *, at_all: bool = False) -> tuple[DriveOff, ...] | None:
        """Who is driven off in the first seed in which somebody is; None if the waves are clean.

        Where it only matters whether anybody is `at_all`, that ends with the first wave.

        Then `ends` says where pods are in the end, seed by seed: of fewer seeds where a user has
        waited long enough.
        """
        self.ends = []
        going = departing(waves)
        pods = {pod for wave in going for pod in wave.evictions}
        if not pods:
            return None
        trial = self._trial_of(frozenset(pods))
        for at, seed in enumerate(self._seeds):
            self.effort.check()
            if self.effort.late and _both_ways(self._seeds[:at]):
                break
            driven = self._tried(trial, going, seed, len(pods), at_all=at_all)
            if driven:
                self._seeds.insert(0, self._seeds.pop(at))
                return driven
        return None

    def _tried(
        self, trial: Trial, waves: list[WavePlan], seed: int, pods: int, *, at_all: bool
    ) -> tuple[DriveOff, ...]:
        run = trial.run(waves, manner(seed), unlimited=True, until_driven=at_all)
        self.effort.spent += self._seconds_of(pods, len(waves))
        self.ends.append(run.node_of)
        landed = {landing.pod: landing.node for landing in run.landings}
        return tuple(DriveOff(pod, victim, landed.get(pod)) for pod, victim in run.driven)

    def _trial_of(self, pods: frozenset[int]) -> Trial:
        """What trials have learnt is kept as long as they evict the same pods or some of them."""
        if self._trial is None or not pods <= self._known:
            self._known |= pods
            before, cluster = self._trial, self.problem.cluster
            self._trial = Trial(cluster, self._profile, self._allowances, sorted(self._known))
            if before is not None:
                self._trial.openings.update(before.openings)
        return self._trial


def _both_ways(seeds: Sequence[int]) -> bool:
    """Whether evicted pods were gone at once in some of them, and terminated slowly in others."""
    return len({manner(seed).terminating for seed in seeds}) > 1
