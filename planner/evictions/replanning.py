"""A new plan after every wave, where one plan for all of them does not always end well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.evictions.goals import placed_at
from planner.evictions.one_by_one import targets_of
from planner.evictions.repeated_trials import RepeatedTrials
from planner.evictions.robust_waves import departures
from planner.replay.trial import Manner, Trial, WavePlan
from planner.sequences.outcome import PlanOutcome

SEEDS = 4
"""So many seeds say how far it gets: every wave costs a plan."""
WAVES = 8


class Replanning:
    """`plan` makes a plan for the wanted cluster as it is then."""

    def __init__(self, trials: RepeatedTrials, plan: Callable[[Cluster], PlanOutcome]) -> None:
        self._trials = trials
        self._plan = plan
        self._first_waves: dict[bytes, WavePlan | None] = {}

    def count(self) -> tuple[int, int]:
        """In how many of how many seeds the target is reached."""
        seeds = min(len(self._trials.manners) // 2, SEEDS)
        return sum(self._reaches(seed) for seed in range(seeds)), seeds

    def _reaches(self, seed: int) -> bool:
        trials, real = self._trials, self._trials.aim.real
        node_of = real.node_of
        for number in range(WAVES):
            if trials.reached(node_of):
                return True
            wave = self._next_wave(node_of)
            if wave is None:
                return False
            now = placed_at(real, node_of)
            trial = Trial(now, trials.profile, trials.allowances, wave.evictions)
            drawn = seed * 1_009 + number if seed else 0
            run = trial.run((wave,), Manner(drawn, terminating=seed % 2 == 1))
            if run.preempted:
                return False
            node_of = run.node_of
        return trials.reached(node_of)

    def _next_wave(self, node_of: IntArray) -> WavePlan | None:
        """The first wave of a plan from here on; cordons keep pods from falling back."""
        key = node_of.tobytes()
        if key not in self._first_waves:
            waves = self._plan(self._trials.aim.at(node_of)).waves.waves
            first = next(zip(departures(waves), targets_of(waves), strict=True), None)
            if first is not None:
                wave, targets = first
                sources = {int(node_of[pod]) for pod in wave.evictions} - targets
                cordons = tuple(sorted(self._trials.may_be_cordoned(sources)))
                self._first_waves[key] = replace(wave, cordons=cordons)
            else:
                self._first_waves[key] = None
        return self._first_waves[key]
