"""Emptying nodes in waves within budgets, and trials of it: in the end nobody waits for a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from planner.cluster import PENDING
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.evictions.goals import Aim
from planner.evictions.repeated_trials import RepeatedTrials, Target
from planner.replay.trial import WavePlan
from planner.scheduler.profile import Profile
from planner.solver.progress import Report, silent


class EmptyingTrials(RepeatedTrials):
    """Trials of a drain: these pods have to leave the nodes, and no more pods wait than before.

    What else running pods break is no matter here: rules ask nothing of pods that run already.
    """

    def __init__(
        self,
        aim: Aim,
        profile: Profile,
        budgets: Allowances,
        pods: Iterable[int],
        seeds: int,
        report: Report = silent,
    ) -> None:
        self._waited = len(aim.real.pending)
        super().__init__(aim, profile, budgets, Target(0, self._waited), seeds, report)
        self._pods = np.fromiter(pods, np.int64)

    def reached(self, node_of: IntArray) -> bool:
        """Whether all of them run elsewhere."""
        if np.isin(node_of[self._pods], self.aim.drained).any():
            return False
        return int(np.count_nonzero(node_of == PENDING)) <= self._waited


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
