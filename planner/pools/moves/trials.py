"""Trials of new nodes and evictions: the nodes join, kube-scheduler fills them, then waves begin.

A trial begins before kube-scheduler has looked at those who wait, so that under each seed they land
elsewhere. It ends well if nobody waits whom the question is about, nobody else waits who did not
before, no budget refuses an eviction, nobody is driven off, and no more rules are broken than
without evictions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from planner.cluster import PENDING
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances, allowances
from planner.evictions.goals import Aim
from planner.evictions.repeated_trials import RepeatedTrials, Target, manners, tried_seeds
from planner.pools.fill import Added
from planner.replay.trial import Trial, WavePlan
from planner.replay.violations import total, violations
from planner.scheduler.profile import Profile


class MovesTrials(RepeatedTrials):
    """Trials from the cluster with new nodes, in which everybody still waits."""

    def __init__(
        self,
        added: Added,
        goal: Collection[int],
        profile: Profile,
        budgets: Allowances,
        seeds: int,
        excess: int,
    ) -> None:
        real = added.cluster
        self._may_wait = may_wait(added, goal)
        target = Target(excess, len(self._may_wait))
        super().__init__(Aim(real, real, (), True), profile, budgets, target, seeds)

    def reached(self, node_of: IntArray) -> bool:
        """Whether everybody runs who has to, and no more is broken than before."""
        waiting = np.flatnonzero(node_of == PENDING).tolist()
        if not self._may_wait.issuperset(waiting):
            return False
        assert self._target is not None
        return self.excess(node_of) <= self._target.excess


def may_wait(added: Added, goal: Collection[int]) -> frozenset[int]:
    """Pods that wait now and need not run in the end."""
    return frozenset(added.cluster.pending.tolist()).difference(goal)


def seeds_for(asked: int, added: Added, evictions: int) -> int:
    """As many as were asked for, or the usual ones if those are more and affordable."""
    usual = tried_seeds(None, added.cluster, [WavePlan(tuple(range(evictions)))])
    return max(asked, usual)


def confirmed(
    added: Added, goal: Collection[int], waves: Sequence[WavePlan], profile: Profile, seeds: int
) -> bool:
    """Whether the waves leave nobody of the goal waiting, carried out anew from the beginning.

    Nothing of the search is used again: neither its trials nor its counts of budgets and rules.
    """
    pods = sorted(pod for wave in waves for pod in wave.evictions)
    cluster = added.cluster
    trial = Trial(cluster, profile, allowances(cluster), pods)
    running = [*cluster.running.tolist(), *goal]
    for manner in manners(seeds):
        run = trial.run(waves, manner)
        if run.refused is not None or run.driven or (run.node_of[running] < 0).any():
            return False
    return True


def excess_of(added: Added, node_of: IntArray, profile: Profile) -> int:
    """By how much hard rules are broken with pods on these nodes."""
    moved = np.flatnonzero(node_of != added.cluster.node_of).tolist()
    placed = added.cluster.with_placement({pod: int(node_of[pod]) for pod in moved})
    return total(violations(placed, profile))
