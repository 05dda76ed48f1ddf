"""Waves of evictions, tried again and again in different manners: how often they end as planned."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.evictions.goals import Aim
from planner.replay.settling import Choices, OutOfTimeError
from planner.replay.trial import Manner, Trial, TrialRun, WavePlan
from planner.replay.trial_work import usual_seeds, worth_together
from planner.replay.trials_together import Together, run_together
from planner.replay.violations import total, violations
from planner.scheduler.profile import Profile
from planner.solver.progress import Progress, Report, silent
from planner.workers import HERE, Workers

FEW = 3
"""So many trials say whether something is worth trying in all manners."""
EXAMPLES = 6
"""So many failures are enough to learn from before anything else is tried."""


@dataclass(frozen=True)
class Target:
    """What a plan reaches: excess over the aim's rules, and pods that still wait."""

    excess: int
    waiting: int


@dataclass(frozen=True, eq=False)
class TriedWaves:
    """Waves, and how they went in each manner; `reached` is parallel to `runs`.

    `choices` are the nodes that were tied for the best in any of them.
    """

    waves: tuple[WavePlan, ...]
    manners: tuple[Manner, ...]
    runs: tuple[TrialRun, ...]
    reached: tuple[bool, ...]
    choices: Choices
    target: Target | None = None
    """What `reached` was measured by."""

    @property
    def evictions(self) -> int:
        """How many pods the waves evict."""
        return sum(len(wave.evictions) for wave in self.waves)

    @cached_property
    def converges(self) -> bool:
        """Whether every manner ends as planned."""
        return all(self.reached)

    def ending(self, *, well: bool) -> list[TrialRun]:
        """The runs that end as planned, or those that don't."""
        return [run for run, r in zip(self.runs, self.reached, strict=True) if r == well]

    def seeds_reached(self, *, terminating: bool) -> int:
        """In how many seeds the plan ends well, with evicted pods gone or still terminating."""
        return sum(
            reached
            for manner, reached in zip(self.manners, self.reached, strict=True)
            if manner.terminating == terminating
        )

    @property
    def score(self) -> tuple[int, int]:
        """More is better; then fewer evictions."""
        return sum(self.reached), -self.evictions


def manners(seeds: int) -> tuple[Manner, ...]:
    """Every seed with the evicted pod gone and still there; odd seeds replace pods one by one."""
    return tuple(
        Manner(seed, terminating, one_by_one=seed % 2 == 1)
        for seed in range(seeds)
        for terminating in (False, True)
    )


def tried_seeds(
    asked: int | None, cluster: Cluster, waves: Iterable[WavePlan], waiting: int | None = None
) -> int:
    """What was asked for, or as many of the usual seeds as the work allows.

    `waiting` pods are tried beside those that the waves evict, if it is not all that wait.
    """
    beside = len(cluster.pending) if waiting is None else waiting
    landings = sum(len(wave.evictions) for wave in waves) + beside
    return usual_seeds(asked, landings, len(cluster.nodes))


@dataclass(frozen=True)
class Once:
    """Waves that are carried out once."""

    waves: tuple[WavePlan, ...]
    manner: Manner


@dataclass(frozen=True, eq=False)
class Ran:
    """How that went, whether it ended well, and which nodes were tied for the best."""

    run: TrialRun
    well: bool
    choices: Choices


def _united(each: Iterable[Choices]) -> Choices:
    """What was tied in any of them."""
    found: Choices = {}
    for choices in each:
        for key, nodes in choices.items():
            found[key] = found[key] | nodes if key in found else nodes
    return found


def carried_out(trials: RepeatedTrials, once: Once) -> Ran | None:
    """What a worker does with its copy of the trials."""
    return trials.once(once)


class RepeatedTrials:
    """Trials of one plan: its aim, what it has to reach, and the manners to try.

    After `until`, by the monotonic clock, only the first seed is tried, which a plan is told by.
    """

    def __init__(  # noqa: PLR0913 - what a plan is tried with
        self,
        aim: Aim,
        profile: Profile,
        allowances: Allowances,
        target: Target,
        seeds: int,
        report: Report = silent,
        until: float = math.inf,
        *,
        workers: Workers = HERE,
        cordons: bool = True,
    ) -> None:
        self._workers = workers
        self._cordons = cordons
        self.aim = aim
        self.profile = profile
        self.allowances = allowances
        self._target = target
        self.manners = manners(seeds)
        self._trials: dict[frozenset[int], Trial] = {}
        self._excess: dict[tuple[bytes, bytes], int] = {}
        self._report = report
        self._begin = time.monotonic()
        self._until = until

    def tried(
        self, waves: Sequence[WavePlan], of: Sequence[Manner] = (), *, patience: int | None = None
    ) -> TriedWaves:
        """Carry the waves out in every manner, or in those given, up to `patience` failures."""
        chosen = tuple(of) or self.manners
        together = self._together(waves, chosen)
        runs: list[TrialRun] = []
        reached: list[bool] = []
        alone: list[Choices] = []
        left = [manner for manner, run in zip(chosen, together.runs, strict=True) if run is None]
        tasks = [Once(tuple(waves), manner) for manner in left]
        names = [f"seed {manner.seed} of the ties" for manner in left]
        with closing(self._workers.in_order(carried_out, self, tasks, names)) as found:
            for run in together.runs:
                if run is None:
                    ran = next(found)
                    if ran is None:
                        break
                    runs.append(ran.run)
                    reached.append(ran.well)
                    alone.append(ran.choices)
                else:
                    runs.append(run)
                    reached.append(self.ends_well(run))
                seconds = time.monotonic() - self._begin
                self._report(Progress("trials", len(runs), len(chosen), seconds))
                if reached.count(False) == patience:
                    break
        done = chosen[: len(runs)]
        if len(done) < len(chosen) and together.choices:  # what the others had tied is not told
            together = run_together(self._trial(waves), waves, done) or together
        choices = _united([together.choices, *alone])
        return TriedWaves(tuple(waves), done, tuple(runs), tuple(reached), choices, self._target)

    def _together(self, waves: Sequence[WavePlan], manners: Sequence[Manner]) -> Together:
        """What is found side by side, where that is less work than one after the other."""
        nobody = Together([None] * len(manners), {})
        landings = sum(len(wave.evictions) for wave in waves)
        if not worth_together(landings, len(self.aim.real.nodes), len(manners)):
            return nobody
        try:
            return run_together(self._trial(waves), waves, manners, self._until) or nobody
        except OutOfTimeError:
            return nobody

    def once(self, once: Once) -> Ran | None:
        """One trial; None if the time is over, except for the first seed."""
        choices: Choices = {}
        until = self._until if once.manner.seed else math.inf
        try:
            run = self._trial(once.waves).run(once.waves, once.manner, choices=choices, until=until)
        except OutOfTimeError:
            return None
        return Ran(run, self.ends_well(run), choices)

    def __getstate__(self) -> dict[str, Any]:
        """For a worker, with the time that is left; what it finds out it keeps by itself."""
        state = {**self.__dict__, "_report": silent, "_trials": {}, "_excess": {}}
        now = time.monotonic()
        return {**state, "_begin": self._begin - now, "_until": self._until - now}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        now = time.monotonic()
        self.__dict__.update(state)
        self._begin += now
        self._until += now

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._until

    def completed(self, tried: TriedWaves) -> TriedWaves:
        """The same in every manner, if it was given up before and there is time."""
        return tried if tried.manners == self.manners or self.late else self.tried(tried.waves)

    def _trial(self, waves: Sequence[WavePlan]) -> Trial:
        """Trials of the same pods, in whatever waves, share what the scheduler answered."""
        pods = frozenset(pod for wave in waves for pod in wave.evictions)
        if pods not in self._trials:
            self._trials[pods] = Trial(self.aim.real, self.profile, self.allowances, sorted(pods))
        return self._trials[pods]

    def ends_well(self, run: TrialRun) -> bool:
        """Whether the target is reached, no budget stood in the way and nobody was driven off."""
        return run.refused is None and not run.preempted and self.reached(run.node_of)

    def reached(self, node_of: IntArray) -> bool:
        """Whether no more pods wait and no more is broken than the plan leaves."""
        found = self.at(node_of)
        return found.waiting <= self._target.waiting and found.excess <= self._target.excess

    def at(self, node_of: IntArray) -> Target:
        """What is reached with pods on these nodes."""
        return Target(self.excess(node_of), int(np.count_nonzero(node_of == PENDING)))

    def towards(self, target: Target) -> RepeatedTrials:
        """The same trials, held against another target."""
        other = copy.copy(self)
        other._target = target
        return other

    def excess(self, node_of: IntArray) -> int:
        """By how much the aim's rules are broken; kept, since trials often end alike."""
        moved = np.flatnonzero(node_of != self.aim.real.node_of)
        key = (moved.tobytes(), node_of[moved].tobytes())
        if key not in self._excess:
            self._excess[key] = total(violations(self.aim.at(node_of), self.profile))
        return self._excess[key]

    def may_be_cordoned(self, nodes: Iterable[int]) -> set[int]:
        """Nodes that take pods now: lifting the cordon then leaves everything as it was."""
        if not self._cordons:
            return set()
        return {node for node in nodes if not self.aim.real.nodes[node].spec.unschedulable}
