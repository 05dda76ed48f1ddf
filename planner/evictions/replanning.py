"""A new plan after every wave, where one plan for all of them does not always end well."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.evictions.attempts import Attempts
from planner.replay.trial import Manner, Trial, WavePlan
from planner.sequences.outcome import PlanOutcome

SEEDS = 4
"""So many seeds say how far it gets: every wave costs a plan."""
WAVES = 8


class Replanning:
    """`plan` makes a plan for the wanted cluster as it is then."""

    def __init__(self, attempts: Attempts, plan: Callable[[Cluster], PlanOutcome]) -> None:
        self._attempts = attempts
        self._plan = plan
        self._plans: dict[bytes, tuple[WavePlan, ...]] = {}

    def count(self) -> tuple[int, int]:
        """In how many of how many seeds the target is reached."""
        seeds = min(len(self._attempts.manners) // 2, SEEDS)
        return sum(self._reaches(seed) for seed in range(seeds)), seeds

    def _reaches(self, seed: int) -> bool:
        attempts, real = self._attempts, self._attempts.aim.real
        node_of = real.node_of
        for number in range(WAVES):
            if attempts.reached(node_of):
                return True
            waves = self._next_waves(node_of)
            if not waves:
                return False
            now = _at(real, node_of)
            trial = Trial(now, attempts.profile, attempts.allowances, waves[0].evictions)
            drawn = seed * 1_009 + number if seed else 0
            run = trial.run(waves[:1], Manner(drawn, terminating=seed % 2 == 1))
            if run.preempted:
                return False
            node_of = run.node_of
        return attempts.reached(node_of)

    def _next_waves(self, node_of: IntArray) -> tuple[WavePlan, ...]:
        """The plan from here on; what fell back last time is kept away by a cordon."""
        key = node_of.tobytes()
        if key not in self._plans:
            aim = self._attempts.aim
            outcome = self._plan(aim.at(node_of.tolist()))
            self._plans[key] = tuple(_with_cordons(aim.real, node_of, outcome))
        return self._plans[key]


def _with_cordons(cluster: Cluster, node_of: IntArray, outcome: PlanOutcome) -> Iterator[WavePlan]:
    for wave in outcome.waves.waves:
        pods = tuple(step.pod for step in wave if step.action in ("evict", "move"))
        wanted = {step.node for step in wave if step.action in ("move", "place")}
        sources = {int(node_of[pod]) for pod in pods} - wanted
        free = (node for node in sources if not cluster.nodes[node].spec.unschedulable)
        if pods:
            yield WavePlan(pods, tuple(sorted(free)))


def _at(cluster: Cluster, node_of: IntArray) -> Cluster:
    moved = np.flatnonzero(node_of != cluster.node_of)
    return cluster.with_placement({int(pod): int(node_of[pod]) for pod in moved})
