"""From a cluster to an eviction plan: what to evict, in which waves, and how sure the outcome is.

1. kube-scheduler places what it can of the pods that wait: it acts first, whatever is planned.
2. The solver finds the fewest moves that reach the goals, in waves that keep budgets and room.
3. Their departures are the evictions; where the pods land is left to kube-scheduler, and tried
   under many seeds (`robust_waves`).
4. If some seeds end worse, it is tried how far a new plan after every wave gets.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import msgspec
import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.descheduler.strategies.limits import NO_LIMITS
from planner.disruption.budget_status import recounted
from planner.disruption.budgets import Allowances, allowances
from planner.disruption.node_lifecycle import with_condition_taints
from planner.evictions.emptying import Emptying, EmptyingTrials, waves_within
from planner.evictions.even_load import even_out
from planner.evictions.goals import Aim, Emptied, aim_of, nodes_to_empty
from planner.evictions.protection import protected
from planner.evictions.repeated_trials import RepeatedTrials, Target, TriedWaves, tried_seeds
from planner.evictions.replanning import Replanning
from planner.evictions.robust_waves import RobustWaves, departures
from planner.evictions.suggestion import EvictOptions, Suggestion
from planner.replay import Step, total
from planner.replay.trial import Manner, Trial, WavePlan
from planner.scheduler.profile import Profile
from planner.scheduler.promised import with_promised
from planner.sequences.hops import other_orders
from planner.sequences.outcome import PlanOutcome
from planner.sequences.within_budgets import plan_within_budgets
from planner.solver.problem.options import SolveOptions
from planner.solver.progress import Report, silent

PLAN_SHARE = 0.7
"""What a plan gets of the time; the rest is for trials of it."""
LIMIT_ROUNDS = 5
"""How often a plan is made anew because it takes too many pods from one node or namespace."""


def find_evictions(
    cluster: Cluster, options: EvictOptions, profile: Profile, progress: Report | None = None
) -> Suggestion:
    """The fewest evictions after which kube-scheduler itself reaches the goals."""
    return _Suggesting(cluster, options, profile, progress or silent).run()


def settled(cluster: Cluster, profile: Profile) -> Cluster:
    """The cluster after kube-scheduler has placed what it can; who found a node is ready.

    Who had to give way to a higher priority waits. Nobody is evicted, so that no budget is asked.
    """
    if not len(cluster.pending):
        return cluster
    trial = Trial(cluster, profile, Allowances(()), ())
    return running_at(cluster, trial.run((), Manner(seed=0)).node_of)


def running_at(cluster: Cluster, node_of: IntArray) -> Cluster:
    """The cluster with its pods on these nodes; who found one is ready."""
    moved = np.flatnonzero(node_of != cluster.node_of).tolist()
    if not moved:
        return cluster
    started = {
        pod: msgspec.structs.replace(cluster.pods[pod], ready=True, phase="Running")
        for pod in moved
        if node_of[pod] >= 0
    }
    now = cluster.with_pods(started).with_placement({p: int(node_of[p]) for p in moved})
    return now.with_budgets(recounted(now, moved))


class _Suggesting:
    """One suggestion in the making."""

    def __init__(
        self, cluster: Cluster, options: EvictOptions, profile: Profile, report: Report
    ) -> None:
        self._given = cluster
        self._options = options
        self._profile = profile
        self._report = report
        self._until = time.monotonic() + options.time_limit
        self._start = settled(with_promised(with_condition_taints(cluster), profile), profile)
        self._budgets = allowances(self._start, options.max_unavailable)
        self._protected = protected(self._start, options.protection)
        self._cut = False
        """Whether a limit of a node or a namespace has spared a pod."""

    def run(self) -> Suggestion:
        """Where one plan takes all the time there is, no others are made."""
        emptied = self._emptied()
        aim = aim_of(self._start, self._options.goals, emptied.chosen)
        tried = self._as_they_are(aim)
        if tried is not None:
            return self._suggestion(aim, emptied, None, tried)
        outcome = self._within_limits(aim)
        seeds = tried_seeds(self._options.seeds, aim.real, departures(outcome.waves.waves))
        until = self._until if self._options.seeds is None else math.inf
        trials = RepeatedTrials(
            aim,
            self._profile,
            self._budgets,
            _target(outcome),
            seeds,
            self._report,
            until,
            workers=self._options.workers,
            cordons=self._options.cordons,
        )
        search = RobustWaves(trials)
        tried = search.search(outcome.waves.waves, outcome.decision.steps)
        if not tried.converges:
            tried = search.in_other_orders(tried, self._other_orders(outcome))
        stopped = outcome.decision.stopped == "timeLimit" or trials.late
        more = not tried.converges and not stopped
        for other in self._other_plans(aim, outcome) if more else ():
            found = search.search(other.waves.waves, other.decision.steps)
            if found.converges:
                outcome, tried = other, found
                break
        if "utilization" in self._options.goals:
            tried = self._evened(trials, tried)
        if self._options.by_parts and not tried.converges:
            tried = self._part(trials, tried)
        replanned = self._replanned(trials) if more and not tried.converges else None
        return self._suggestion(aim, emptied, outcome, tried, replanned)

    def _suggestion(
        self,
        aim: Aim,
        emptied: Emptied,
        outcome: PlanOutcome | None,
        tried: TriedWaves,
        replanned: tuple[int, int] | None = None,
    ) -> Suggestion:
        return Suggestion(
            given=self._given,
            start=self._start,
            aim=aim,
            profile=self._profile,
            options=self._options,
            protected=self._protected if outcome is None else self._left_alone(outcome),
            budgets=self._budgets,
            outcome=outcome,
            tried=tried,
            emptied=emptied,
            replanned=replanned,
            unlimited=self._unlimited(aim, outcome),
        )

    def _left_alone(self, outcome: PlanOutcome) -> Mapping[int, str]:
        """Who may not be evicted, and whom the plan spared for a budget that it could not keep."""
        spared = outcome.problem.options.spared
        reasons = {p: why for p, why in outcome.problem.left_alone.items() if p in spared}
        return {**reasons, **self._protected}

    def _unlimited(self, aim: Aim, outcome: PlanOutcome | None) -> int | None:
        """How many evictions there would be without limits, where those leave something to do."""
        if not self._options.by_parts or outcome is None or _target(outcome) == Target(0, 0):
            return None
        total_limit = self._options.limits.total
        if not self._cut and (total_limit is None or outcome.steps.evictions < total_limit):
            return None
        spared = frozenset(self._protected)
        return self._plan(aim, aim.wanted, spared, max_moves=None).steps.evictions

    def _emptied(self) -> Emptied:
        nodes = self._options.nodes
        if "consolidate" not in self._options.goals:
            return Emptied(nodes)
        return nodes_to_empty(self._start, self._profile, self._protected.keys(), nodes)

    def _as_they_are(self, aim: Aim) -> TriedWaves | None:
        """Nodes that are empty, whatever the ties, when all of their pods go in waves.

        Only where nothing else is asked for, and nothing limits the evictions.
        """
        options = self._options
        if aim.anywhere or "utilization" in options.goals or options.limits != NO_LIMITS:
            return None
        there = np.flatnonzero(np.isin(aim.real.node_of, aim.drained)).tolist()
        pods = [pod for pod in there if pod not in self._protected]
        if not pods:
            return None
        waves = waves_within(pods, self._budgets)
        emptying = Emptying(aim, self._profile, self._budgets, tuple(pods))
        trials = EmptyingTrials(emptying, pods, waves, options.seeds, self._report, options.workers)
        tried = trials.tried(waves, patience=1)
        return tried if tried.converges else None

    def _replanned(self, trials: RepeatedTrials) -> tuple[int, int]:
        """In how many of how many seeds a new plan after every wave reaches the target."""
        spared = frozenset(self._protected)
        return Replanning(trials, lambda now: self._plan(trials.aim, now, spared)).count()

    def _part(self, trials: RepeatedTrials, tried: TriedWaves) -> TriedWaves:
        """The most of the first waves that always end alike, with less broken than now.

        The rest is left to a later plan, which sees how these went.
        """
        now = Target(trials.excess(trials.aim.real.node_of), len(trials.aim.real.pending))
        for number in range(len(tried.waves) - 1, 0, -1):
            waves = tried.waves[:number]
            if trials.late:
                break
            if waves[-1].holds:
                continue
            (first,) = trials.tried(waves, trials.manners[:1]).runs
            target = trials.at(first.node_of)
            if target.excess < now.excess and target.waiting <= now.waiting:
                found = trials.towards(target).tried(waves, patience=1)
                if found.converges:
                    return found
        return tried

    # The plan

    def _plan(
        self, aim: Aim, wanted: Cluster, spared: frozenset[int], **change: Any
    ) -> PlanOutcome:
        if not aim.anywhere:
            elsewhere = ~np.isin(wanted.node_of, aim.drained)
            spared |= frozenset(np.flatnonzero(elsewhere).tolist())
        protection = self._options.protection
        options = SolveOptions(
            rebalance=True,
            policy=protection.policy,
            spared=spared,
            max_moves=self._options.limits.total,
            hops=False,
            max_unavailable=self._options.max_unavailable,
            time_limit=self._options.time_limit * PLAN_SHARE,
            until=self._until,
        )
        asked = replace(options, **change)
        return plan_within_budgets(wanted, asked, self._profile, self._report)

    def _within_limits(self, aim: Aim) -> PlanOutcome:
        """Pods beyond the limits of a node or a namespace are spared, and the rest planned anew.

        Where others take their place again and again, only the last plan's pods within the limits
        may still be moved: that ends, and repairs what these can.
        """
        everybody, kept = frozenset(range(len(aim.real.pods))), frozenset[int]()
        if 0 in (self._options.limits.per_node, self._options.limits.per_namespace):
            self._cut = True
            return self._plan(aim, aim.wanted, everybody)
        spared = frozenset(self._protected)
        outcome = self._plan(aim, aim.wanted, spared)
        for _ in range(LIMIT_ROUNDS):
            waves = departures(outcome.waves.waves)
            over = frozenset(_beyond(aim.real, waves, self._options))
            if not over:
                return outcome
            self._cut = True
            kept = frozenset(pod for wave in waves for pod in wave.evictions) - over
            spared |= over
            outcome = self._plan(aim, aim.wanted, spared)
        return self._plan(aim, aim.wanted, everybody - kept)

    def _other_orders(self, outcome: PlanOutcome) -> Iterator[tuple[Step, ...]]:
        """The same moves with another pod waiting, where some wait for each other in a circle."""
        steps = outcome.decision.steps
        return other_orders(outcome.before, steps, self._profile, self._budgets)

    def _other_plans(self, aim: Aim, first: PlanOutcome) -> Iterator[PlanOutcome]:
        """Plans that are as good and may be easier to carry out: more even, or of another seed."""
        limits = self._options.limits
        if limits.per_node is not None or limits.per_namespace is not None:
            return
        spared, seen = frozenset(self._protected), {first.decision.steps}
        changes: tuple[dict[str, Any], ...] = ({"prefer": "balance"}, {"seed": 1}, {"seed": 2})
        for change in changes:
            other = self._plan(aim, aim.wanted, spared, **change)
            as_good = other.steps.evictions <= first.steps.evictions and (
                _target(other) == _target(first)
            )
            if as_good and other.decision.steps not in seen:
                seen.add(other.decision.steps)
                yield other

    # Beyond hard rules

    def _evened(self, trials: RepeatedTrials, tried: TriedWaves) -> TriedWaves:
        """More evictions that even the load out, kept if they end well under every seed."""
        limits = self._options.limits
        left = None if limits.total is None else limits.total - tried.evictions
        more = even_out(trials, tried.waves, self._protected.keys(), left)
        over = frozenset(_beyond(trials.aim.real, (*tried.waves, *more), self._options))
        more = tuple(takewhile(lambda wave: not over.intersection(wave.evictions), more))
        if not more:
            return tried
        found = trials.tried((*tried.waves, *more))
        return found if found.converges or not tried.converges else tried


def _target(outcome: PlanOutcome) -> Target:
    waiting = int(np.count_nonzero(outcome.after.node_of == PENDING))
    return Target(total(outcome.final.remaining), waiting)


def _beyond(cluster: Cluster, waves: Sequence[WavePlan], options: EvictOptions) -> Iterator[int]:
    """Evictions that are too many for their node or namespace, in the plan's order."""
    nodes: Counter[int] = Counter()
    namespaces: Counter[str] = Counter()
    limits = options.limits
    for pod in (pod for wave in waves for pod in wave.evictions):
        node, namespace = int(cluster.node_of[pod]), cluster.pods[pod].namespace
        full = limits.per_node is not None and nodes[node] >= limits.per_node
        if full or (
            limits.per_namespace is not None and namespaces[namespace] >= limits.per_namespace
        ):
            yield pod
            continue
        nodes[node] += 1
        namespaces[namespace] += 1
