"""Even load: evictions that take pods from the fullest nodes, judged by where they come back.

A pod is worth evicting only if kube-scheduler puts its replacement where the sum of squared
utilisations is smaller than before, and nothing else gets worse. The descheduler's
LowNodeUtilization moves pods by thresholds and never looks where they go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.evictions.goals import node_use
from planner.evictions.repeated_trials import RepeatedTrials
from planner.replay.trial import Manner, Trial, WavePlan

CANDIDATES = 6
"""So many pods of the fullest node are tried, the largest first."""
MOST = 50
"""So many evictions if nothing else is asked for."""
EVEN = 0.1
"""Nodes are even enough when the fullest is less than this part of a node above the mean."""


@dataclass(frozen=True)
class _State:
    """A placement and how good it is: smaller is better, level by level."""

    node_of: IntArray
    waiting: int
    excess: int
    load: float


def even_out(
    trials: RepeatedTrials, waves: Sequence[WavePlan], spared: Collection[int], most: int | None
) -> tuple[WavePlan, ...]:
    """Further waves, one eviction each, that even the load out after the given ones."""
    return tuple(_EveningOut(trials, spared).run(waves, MOST if most is None else most))


class _EveningOut:
    """The search for one eviction after the other."""

    def __init__(self, trials: RepeatedTrials, spared: Collection[int]) -> None:
        self._trials = trials
        self._spared = spared

    def run(self, waves: Sequence[WavePlan], most: int) -> Iterator[WavePlan]:
        done = list(waves)
        evicted = {pod for wave in waves for pod in wave.evictions}
        state = self._after(done)
        while len(done) - len(waves) < most:
            found = self._best(state, done, evicted)
            if found is None:
                return
            wave, state = found
            done.append(wave)
            evicted.update(wave.evictions)
            yield wave

    def _best(
        self, state: _State, done: Sequence[WavePlan], evicted: Collection[int]
    ) -> tuple[WavePlan, _State] | None:
        """The eviction from the fullest node that evens the load out most."""
        use = self._use(state.node_of)
        fullest = int(np.argmax(use))
        if use[fullest] - use.mean() < EVEN:
            return None
        found: list[tuple[WavePlan, _State]] = []
        for pod in self._candidates(state, fullest, evicted):
            wave = WavePlan((pod,))
            after = self._after([*done, wave])
            better = after.load < state.load - 1e-9
            if better and after.waiting <= state.waiting and after.excess <= state.excess:
                found.append((wave, after))
        return min(found, key=lambda each: each[1].load, default=None)

    def _candidates(self, state: _State, node: int, evicted: Collection[int]) -> list[int]:
        real = self._trials.aim.real
        pods = [
            pod
            for pod in np.flatnonzero(state.node_of == node).tolist()
            if pod not in self._spared and pod not in evicted and real.node_of[pod] == node
        ]
        weight = _weights(real)
        return sorted(pods, key=lambda pod: (-weight[real.group_of[pod]], pod))[:CANDIDATES]

    def _after(self, waves: Sequence[WavePlan]) -> _State:
        pods = [pod for wave in waves for pod in wave.evictions]
        trial = Trial(self._trials.aim.real, self._trials.profile, self._trials.allowances, pods)
        node_of = trial.run(waves, Manner(seed=0)).node_of
        use = self._use(node_of)
        return _State(
            node_of=node_of,
            waiting=int(np.count_nonzero(node_of == PENDING)),
            excess=self._trials.excess(node_of),
            load=float((use * use).sum()),
        )

    def _use(self, node_of: IntArray) -> NDArray[np.float64]:
        """How full each node that takes pods is; 0 on cordoned ones."""
        cluster = self._trials.aim.at(node_of)
        use = node_use(cluster)
        use[[node.spec.unschedulable for node in cluster.nodes]] = 0.0
        return use


def _weights(cluster: Cluster) -> IntArray:
    """By group, the larger of a pod's parts of all CPU and all memory, in millionths."""
    room = np.maximum(cluster.resources.allocatable[:, :2].sum(axis=0), 1)
    weights: IntArray = (cluster.resources.requests[:, :2] * 1_000_000 // room).max(axis=1)
    return weights
