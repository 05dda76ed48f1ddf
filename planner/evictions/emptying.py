"""Emptying nodes in waves within budgets, and trials of it: in the end nobody waits for a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.evictions.goals import Aim
from planner.evictions.repeated_trials import RepeatedTrials, Target, tried_seeds
from planner.replay.cordons import CORDON
from planner.replay.trial import Trial, WavePlan
from planner.scheduler.profile import Profile
from planner.sequences.group_dependencies import GroupDependencies
from planner.solver.progress import Report, silent
from planner.workers import HERE, Workers


@dataclass(frozen=True, eq=False)
class Emptying:
    """What all trials of one drain share; `pods` are all that may ever be evicted."""

    aim: Aim
    profile: Profile
    budgets: Allowances
    pods: tuple[int, ...]

    @cached_property
    def dependencies(self) -> GroupDependencies:
        """Which groups' pods decide where others may go."""
        return GroupDependencies(self.aim.real, self.profile)

    @cached_property
    def hopeless(self) -> frozenset[int]:
        """Pods that wait whatever is evicted."""
        return waiting_anyway(self.aim.real, self.dependencies)

    @cached_property
    def trial(self) -> Trial:
        """One for all: the scheduler's answers are kept."""
        return Trial(self.aim.real, self.profile, self.budgets, self.pods, self.hopeless)

    def __getstate__(self) -> dict[str, Any]:
        """Whoever gets it in another process makes trials of its own."""
        own = ("trial", "dependencies")
        return {name: value for name, value in self.__dict__.items() if name not in own}


class EmptyingTrials(RepeatedTrials):
    """Trials of a drain: these pods have to leave the nodes, and no more pods wait than before.

    What else running pods break is no matter here: rules ask nothing of pods that run already.
    `trial` is over the aim's cluster, and may be about more pods than these.
    """

    def __init__(
        self,
        emptying: Emptying,
        pods: Collection[int],
        waves: Sequence[WavePlan],
        seeds: int | None,
        report: Report = silent,
        workers: Workers = HERE,
    ) -> None:
        aim = emptying.aim
        self._waited = len(aim.real.pending)
        number = tried_seeds(seeds, aim.real, waves, self._waited - len(emptying.hopeless))
        target = Target(0, self._waited)
        super().__init__(
            aim, emptying.profile, emptying.budgets, target, number, report, workers=workers
        )
        self._pods = np.fromiter(pods, np.int64)
        self._emptying = emptying

    def _trial(self, waves: Sequence[WavePlan]) -> Trial:
        return self._emptying.trial

    def reached(self, node_of: IntArray) -> bool:
        """Whether all of them run elsewhere."""
        if np.isin(node_of[self._pods], self.aim.drained).any():
            return False
        return int(np.count_nonzero(node_of == PENDING)) <= self._waited


def waiting_anyway(cluster: Cluster, dependencies: GroupDependencies) -> frozenset[int]:
    """Pods that wait, and still will while nodes that are cordoned already are emptied.

    Nothing leaves the other nodes. So a pod that found no node, not even by preemption, and whose
    rules look at nothing beyond a node, finds none later; unless it tolerates the cordon.
    """
    groups = {int(group) for group in cluster.group_of[cluster.pending]}
    hopeless = [
        group
        for group in groups
        if not dependencies.needs_filters(group)
        and not any(each.hard for each in cluster.groups[group].spec.topology_spread_constraints)
        and not any(each.tolerates(CORDON) for each in cluster.groups[group].spec.tolerations)
    ]
    return frozenset(cluster.pending[np.isin(cluster.group_of[cluster.pending], hopeless)].tolist())


def waves_within(pods: Iterable[int], budgets: Allowances) -> tuple[WavePlan, ...]:
    """The pods in as few waves as budgets allow, in the given order.

    A workload without a budget loses a quarter of its pods at once, or one. A budget that allows
    nothing now lets one go in a wave of its own: a trial shows what comes of that.
    """
    waves: list[list[int]] = []
    taken: list[Counter[int]] = []
    for pod in pods:
        numbers = budgets.of_pod(pod)
        wave = next(
            (
                index
                for index, counts in enumerate(taken)
                if len(waves[index]) != budgets.most
                and all(counts[n] < max(1, budgets.each[n].left) for n in numbers)
            ),
            len(waves),
        )
        if wave == len(waves):
            waves.append([])
            taken.append(Counter())
        waves[wave].append(pod)
        taken[wave].update(numbers)
    return tuple(WavePlan(tuple(wave)) for wave in waves)
