"""Evictions beside new nodes, by names: who is evicted, in which waves, where that then runs."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import allowances
from planner.documents.eviction_waves import eviction_waves, planned_evictions
from planner.evictions.goals import Aim
from planner.evictions.repeated_trials import TriedWaves
from planner.pools.moves import Rearranged
from planner.replay.violations import total, violations
from planner_models.evictions import EvictionWave, PlannedEviction


@dataclass(frozen=True, eq=False)
class _Begun:
    """Waves that begin when the new nodes are there, before anybody has landed on them."""

    done: Rearranged

    @property
    def given(self) -> Cluster:
        return self.done.added.cluster

    @property
    def start(self) -> Cluster:
        return self.done.added.cluster

    @property
    def aim(self) -> Aim:
        return Aim(self.start, self.start, (), True)

    @property
    def tried(self) -> TriedWaves:
        return self.done.tried

    def excess_at(self, node_of: IntArray) -> int:
        return total(violations(self.aim.at(node_of), self.done.profile))


def evicted_pods(done: Rearranged) -> tuple[int, ...]:
    """Wave by wave."""
    return tuple(pod for wave in done.tried.waves for pod in wave.evictions)


def evictions_of(done: Rearranged) -> tuple[PlannedEviction, ...]:
    """Every pod to evict, with the nodes on which it is expected again."""
    return tuple(eviction for _, eviction in planned_evictions(_Begun(done)))


def waves_of(done: Rearranged) -> tuple[EvictionWave, ...]:
    """The waves with their cordons; the first has what lands when the nodes join, too."""
    return tuple(eviction_waves(_Begun(done)))


def budgets_of(done: Rearranged) -> tuple[str, ...]:
    """Budgets over the pods that are evicted."""
    every = allowances(done.added.cluster)
    numbers = {number for pod in evicted_pods(done) for number in every.of_pod(pod)}
    return tuple(sorted(every.each[n].name for n in numbers if every.each[n].budget))
