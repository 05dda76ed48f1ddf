"""Evictions that let everybody run with some new nodes, in waves, whatever kube-scheduler draws.

A few evictions are tried first as they are. Then there is a plan, that of `planner solve
--rebalance`, made where kube-scheduler leaves somebody waiting: the fewest pods move that make
room, beside those that repair what is broken. Its evictions are tried under all seeds as those of
`planner evict` are; those that nobody needs are then left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.disruption.movability import Movability
from planner.evictions.emptying import waves_within
from planner.evictions.repeated_trials import TriedWaves
from planner.evictions.robust_waves import RobustWaves
from planner.evictions.suggest import running_at, settled
from planner.pools.fill import Added, Fill, Filling
from planner.pools.moves.few import few_evictions
from planner.pools.moves.trials import MovesTrials, confirmed, excess_of, seeds_for
from planner.replay.steps import Step
from planner.replay.trial import WavePlan
from planner.scheduler.profile import Profile
from planner.sequences.hops import other_orders
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import plan_outcome
from planner.solver.problem.options import SolveOptions

LANDINGS_A_SECOND = 2_500_000
"""Landings times nodes that are simulated in a second."""
BESIDE_NODES = 600
"""What a landing costs beside looking at nodes, in nodes."""
FEW, FEW_TRIED, FEW_SECONDS = 4, 120, 2.0
"""Evictions that are tried without a plan, how many such sets of them, and how long, about."""
SCREENED = 3
"""Trials that turn most of them down."""
WAYS = 6
"""So many times all seeds are tried with a plan, about, until its waves always end well."""


@dataclass(frozen=True, eq=False)
class Rearranged:
    """New nodes, and evictions after which everybody runs, tried under all seeds."""

    added: Added
    tried: TriedWaves
    cluster: Cluster
    """When all is done, with ties broken by name."""
    profile: Profile

    @property
    def evictions(self) -> int:
        """How many pods are evicted."""
        return self.tried.evictions

    @property
    def seeds(self) -> int:
        """How many seeds were tried, each with evicted pods gone and still there."""
        return len(self.tried.manners) // 2


def movable_pods(cluster: Cluster) -> frozenset[int]:
    """Running pods that may be evicted: a controller makes them anew, and budgets let them go."""
    movability = Movability(cluster)
    return frozenset(pod for pod in cluster.running.tolist() if movability.why(pod) is None)


@dataclass(eq=False)
class Waves:
    """Looks for evictions, set by set; `spent` is about seconds, counted in work."""

    filling: Filling
    movable: frozenset[int]
    most: int
    seeds: int
    spent: float = 0.0

    def found(self, fill: Fill, least: int, about: int, limit: float) -> Rearranged | None:
        """Evictions for the nodes of a fill that leaves somebody waiting; None if none are found.

        Nobody does with fewer than `least`, as far as that is known, and it takes `about` so many.
        A plan gets so much time.
        """
        added = fill.added
        for number, start in enumerate(self._starts(fill)):
            found = self._few(added, start, least) if not number and about <= FEW else None
            if found is not None:
                return found
            outcome = self._plan(start, limit)
            if outcome is None:
                continue
            found = self._always(added, start, outcome, least)
            if found is not None:
                return found
        return None

    def _few(self, added: Added, start: Cluster, least: int) -> Rearranged | None:
        """A few evictions without any cordon, with which it always ends well."""
        trials = self._trials(added, start, FEW)
        landings = FEW + added.cluster.pending.size
        work = landings * (len(added.cluster.nodes) + BESIDE_NODES) / LANDINGS_A_SECOND
        tries = min(FEW_TRIED, int(FEW_SECONDS / work))
        for pods in islice(few_evictions(start, self.movable, self.most), tries):
            if len(pods) < least:
                continue
            waves = waves_within(pods, trials.allowances)
            self.spent += work
            if trials.tried(waves, trials.manners[:SCREENED], patience=1).converges:
                tried = trials.tried(waves, patience=1)
                self._charge(added, tried, len(trials.manners) // 2)
                if tried.converges and self._confirmed(added, tried):
                    return self._rearranged(added, tried)
        return None

    def _trials(self, added: Added, start: Cluster, evictions: int) -> MovesTrials:
        profile = self.filling.profile
        seeds = seeds_for(self.seeds, added, evictions)
        excess = excess_of(added, start.node_of, profile)
        budgets = allowances(added.cluster)
        return MovesTrials(added, self.filling.goal, profile, budgets, seeds, excess)

    def _confirmed(self, added: Added, tried: TriedWaves) -> bool:
        goal, seeds = self.filling.goal, len(tried.manners) // 2
        return confirmed(added, goal, tried.waves, self.filling.profile, seeds)

    def _rearranged(self, added: Added, tried: TriedWaves) -> Rearranged:
        after = running_at(added.cluster, tried.runs[0].node_of)
        return Rearranged(added, tried, after, self.filling.profile)

    def _starts(self, fill: Fill) -> Iterator[Cluster]:
        """Where plans begin: with pods where kube-scheduler puts them, and with nobody placed."""
        added = fill.added
        first = settled(added.cluster, self.filling.profile)
        if all(first.node_of[pod] >= 0 for pod in self.filling.goal):
            first = running_at(added.cluster, fill.cluster.node_of)
        yield first
        if (first.node_of != added.cluster.node_of).any():
            yield added.cluster

    def _plan(self, start: Cluster, limit: float) -> PlanOutcome | None:
        """A plan with which everybody runs, and that moves no more pods than may be."""
        options = SolveOptions(
            rebalance=True,
            spared=frozenset(range(len(start.pods))) - self.movable,
            max_moves=self.most,
            hops=False,
            time_limit=limit,
        )
        outcome = plan_outcome(start, options.waited_for(), self.filling.profile)
        self.spent += outcome.decision.spent
        waits = (outcome.after.node_of[list(self.filling.goal)] < 0).any()
        return outcome if not waits and 0 < outcome.steps.evictions <= self.most else None

    def _always(
        self, added: Added, start: Cluster, outcome: PlanOutcome, least: int
    ) -> Rearranged | None:
        """The plan's evictions in waves that end well under every seed."""
        trials = self._trials(added, start, outcome.steps.evictions)
        steps = (*_landed(added.cluster, start), *outcome.decision.steps)
        search = RobustWaves(trials)
        tried = search.search(outcome.waves.waves, steps)
        if not tried.converges:
            planned = outcome.decision.steps
            orders = other_orders(outcome.before, planned, trials.profile, trials.allowances)
            tried = search.in_other_orders(tried, orders)
        self._charge(added, tried, len(trials.manners) // 2)
        if tried.converges and tried.evictions > least:
            tried = self._fewer(trials, tried, max(1, least))
        sound = tried.converges and tried.evictions <= self.most
        return self._rearranged(added, tried) if sound and self._confirmed(added, tried) else None

    def _fewer(self, trials: MovesTrials, tried: TriedWaves, least: int) -> TriedWaves:
        """The same without evictions that only repair other things."""
        for pod in [pod for wave in tried.waves for pod in wave.evictions][::-1]:
            if tried.evictions <= least:
                break
            found = trials.tried(_without(tried.waves, pod), patience=1)
            if found.converges:
                tried = found
        return tried

    def _charge(self, added: Added, tried: TriedWaves, seeds: int) -> None:
        landings = 2 * seeds * (tried.evictions + added.cluster.pending.size)
        work = landings * (len(added.cluster.nodes) + BESIDE_NODES)
        self.spent += (1 if tried.converges else WAYS) * work / LANDINGS_A_SECOND


def _landed(before: Cluster, now: Cluster) -> Iterator[Step]:
    """What kube-scheduler places by itself, as steps."""
    for pod in np.flatnonzero(now.node_of != before.node_of).tolist():
        if now.node_of[pod] >= 0:
            yield Step.place(pod, int(now.node_of[pod]))


def _without(waves: Sequence[WavePlan], pod: int) -> tuple[WavePlan, ...]:
    """The waves without one eviction, and without waves that are empty then."""
    left = (
        replace(wave, evictions=tuple(each for each in wave.evictions if each != pod))
        for wave in waves
    )
    return tuple(wave for wave in left if wave.evictions)
