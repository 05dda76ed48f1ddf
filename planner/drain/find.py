"""From nodes to a drain: who leaves, in which waves, and how sure that is.

1. kube-scheduler places what it can of the pods that wait.
2. All pods that may go are evicted in waves within budgets, and kube-scheduler chooses where they
   come back. If that ends well under every seed, it is the answer: each pod has to be evicted once,
   so nothing takes fewer evictions.
3. Otherwise pods that found no place are left out. If it is proven that they can't leave, or if the
   cluster is large and the others end well, that is the answer.
4. Otherwise an order is looked for in which it does: all orders of a small drain, or what the
   solver finds; with cordons for the length of a wave where kube-scheduler has to be steered.
   Pods for which none was found are stuck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budget_status import recounted
from planner.disruption.budgets import Allowances, allowances
from planner.disruption.node_lifecycle import with_condition_taints
from planner.drain.all_orders import Orders, all_orders
from planner.drain.leaving import Leaving, leaving_pods
from planner.drain.options import DrainOptions
from planner.drain.proofs import (
    NOTHING,
    SEARCHED,
    Proof,
    all_together,
    by_workload,
    is_large,
    pod_by_pod,
)
from planner.evictions.emptying import Emptying, EmptyingTrials, waves_within
from planner.evictions.goals import Aim, aim_of
from planner.evictions.repeated_trials import TriedWaves
from planner.evictions.robust_waves import RobustWaves, departures
from planner.evictions.suggest import settled
from planner.replay import Step
from planner.replay.trial import Manner, WavePlan
from planner.scheduler.profile import Profile
from planner.sequences.plan import plan_outcome, problem_of
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem
from planner.solver.progress import Report, silent
from planner.sources.load import no_garbage_collection
from planner_models.drain import DrainStatus

LEAVING_OUT = 5
"""How often pods that found no place are left out before another way is tried."""


@dataclass(frozen=True, eq=False)
class Drain:
    """What was found: waves for the pods that can leave, and those that can't.

    `start` is the cluster when kube-scheduler has placed what it can; `lost` pods are gone in
    `aim`. `stuck` pods may be evicted, but no way was found to let them leave together with the
    others; `proof` says for how many of them there is none.
    """

    given: Cluster
    start: Cluster
    aim: Aim
    profile: Profile
    options: DrainOptions
    leaving: Leaving
    emptying: Emptying
    tried: TriedWaves
    stuck: tuple[int, ...] = ()
    proof: Proof = NOTHING
    preemptors: frozenset[int] = frozenset()
    """Stuck pods that would find a place by driving others off."""

    @property
    def status(self) -> DrainStatus:
        """Possible, impossible for certain, or not known.

        Not known, too, if there is an order that kube-scheduler's own choices never followed.
        """
        if self.leaving.kept or self.proof.stuck:
            return "impossible"
        return "possible" if not self.stuck and any(self.tried.reached) else "undecided"

    @property
    def budgets(self) -> Allowances:
        """What may be down at once."""
        return self.emptying.budgets

    @property
    def evicted(self) -> tuple[int, ...]:
        """The pods that the waves evict, in their order."""
        return tuple(pod for wave in self.tried.waves for pod in wave.evictions)

    @property
    def seeds(self) -> int:
        """How many seeds were tried, each with evicted pods gone and still there."""
        return len(self.tried.manners) // 2

    def excess_at(self, node_of: IntArray) -> int:
        """Pods that have to leave and are still there, with pods on these nodes."""
        leaving = [*self.leaving.going, *self.leaving.kept]
        return int(np.isin(node_of[leaving], self.aim.drained).sum())


def find_drain(
    cluster: Cluster, options: DrainOptions, profile: Profile, progress: Report | None = None
) -> Drain:
    """Empty the nodes, or say who can't leave."""
    with no_garbage_collection():
        return _Draining(cluster, options, profile, progress or silent).run()


class _Draining:
    """One drain in the making."""

    def __init__(
        self, cluster: Cluster, options: DrainOptions, profile: Profile, report: Report
    ) -> None:
        self._given = cluster
        self._options = options
        self._profile = profile
        self._report = report
        self._start = settled(with_condition_taints(cluster), profile)
        budgets = allowances(self._start, options.max_unavailable)
        self._leaving = leaving_pods(self._start, options, budgets)
        self._aim = aim_of(without_pods(self._start, self._leaving.lost), (), options.nodes)
        lost = bool(self._leaving.lost)
        self._budgets = allowances(self._aim.real, options.max_unavailable) if lost else budgets
        pods = tuple(sorted((*self._leaving.going, *self._leaving.kept)))
        self._emptying = Emptying(self._aim, profile, self._budgets, pods)
        self._preemptors = set[int]()
        """Pods that found a place only where others were driven off."""

    def run(self) -> Drain:
        going = self._leaving.going
        first = self._tried(waves_within(going, self._budgets), going)
        if first.converges:
            return self._found(first)
        tried, stuck = self._leaving_out(first)
        if tried is not None and is_large(self._aim):
            proof = pod_by_pod(self._emptying, going, stuck, self._preemptors)
            return self._found(tried, stuck, proof)
        if is_large(self._aim):
            return self._by_solver(first, NOTHING)
        proof = by_workload(self._problem, self._profile, self._budgets) if stuck else NOTHING
        if tried is not None and proof.stuck >= len(stuck):
            return self._found(tried, stuck, proof)
        orders = all_orders(self._problem, self._profile, self._budgets)
        if orders is not None and orders.complete:
            return self._by_orders(orders, first)
        return self._by_solver(first, proof)

    def _leaving_out(self, first: TriedWaves) -> tuple[TriedWaves | None, tuple[int, ...]]:
        """The same without the pods that waited in the end, and without these once more.

        First whoever waits when no budget ends it. Who found a place only by driving others off
        is left out like them. None if what is left does not end well, either.
        """
        tried, stuck = first, set[int]()
        ended = self._emptying.trial.run(first.waves, Manner(seed=0), unlimited=True)
        for _ in range(LEAVING_OUT):
            waiting = {pod for pod in self._leaving.going if ended.node_of[pod] == PENDING}
            drove = {preemptor for preemptor, _ in ended.driven}.intersection(self._leaving.going)
            self._preemptors |= drove
            waiting |= drove
            refused = tried.runs[-1].refused
            if not waiting - stuck and stuck and refused is not None:
                waiting.add(refused)
            if not waiting - stuck:
                break
            stuck |= waiting
            pods = [pod for pod in self._leaving.going if pod not in stuck]
            tried = self._tried(waves_within(pods, self._budgets), pods)
            if tried.converges:
                return tried, tuple(sorted(stuck))
            ended = tried.runs[-1]
        return None, tuple(sorted(stuck))

    def _by_orders(self, orders: Orders, first: TriedWaves) -> Drain:
        """All orders are known: who can leave, and who can't."""
        leaving = {step.pod for step in orders.steps if step.evicts}
        stuck = tuple(pod for pod in self._leaving.going if pod not in leaving)
        tried = self._steered(tuple((step,) for step in orders.steps), orders.steps, first)
        return self._found(tried, stuck, Proof(SEARCHED, len(stuck)))

    def _by_solver(self, first: TriedWaves, known: Proof) -> Drain:
        outcome = plan_outcome(self._aim.wanted, self._solve_options, self._profile, self._report)
        leaving = {step.pod for step in outcome.waves.steps if step.evicts}
        stuck = tuple(pod for pod in self._leaving.going if pod not in leaving)
        tried = self._steered(outcome.waves.waves, outcome.decision.steps, first)
        if not known.stuck and (stuck or not any(tried.reached)):
            known = all_together(self._problem, self._options.nodes)
        return self._found(tried, stuck, known)

    def _steered(
        self, plan: Sequence[Sequence[Step]], order: Sequence[Step], first: TriedWaves
    ) -> TriedWaves:
        """Waves that end well whatever kube-scheduler chooses, or the best that were found.

        First without any cordon but those of the drained nodes.
        """
        waves = departures(plan)
        leaving = [pod for wave in waves for pod in wave.evictions]
        plain = self._tried(waves_within(leaving, self._budgets), leaving)
        if plain.converges:
            return plain
        trials = self._trials(waves, leaving)
        others = [plain, first] if len(leaving) == len(self._leaving.going) else [plain]
        found = [RobustWaves(trials).search(plan, order), *map(trials.completed, others)]
        return max(found, key=lambda tried: tried.score)

    # What everything is asked with

    def _tried(self, waves: Sequence[WavePlan], pods: Sequence[int]) -> TriedWaves:
        return self._trials(waves, pods).tried(waves, patience=1)

    def _trials(self, waves: Sequence[WavePlan], pods: Sequence[int]) -> EmptyingTrials:
        options = self._options
        return EmptyingTrials(
            self._emptying, pods, waves, options.seeds, self._report, options.workers
        )

    @cached_property
    def _problem(self) -> Problem:
        """With the nodes cordoned and nothing else: whoever tolerates that may land there again."""
        return problem_of(self._aim.real, self._solve_options, self._profile)

    @cached_property
    def _solve_options(self) -> SolveOptions:
        """Only pods of the nodes move, and of these only those that may."""
        spared = np.setdiff1d(np.arange(len(self._aim.wanted.pods)), self._leaving.going)
        return SolveOptions(
            rebalance=True,
            policy=self._options.policy,
            spared=frozenset(spared.tolist()),
            hops=False,
            max_unavailable=self._options.max_unavailable,
            time_limit=self._options.time_limit,
        )

    def _found(
        self,
        tried: TriedWaves,
        stuck: tuple[int, ...] = (),
        proof: Proof = NOTHING,
    ) -> Drain:
        return Drain(
            given=self._given,
            start=self._start,
            aim=self._aim,
            profile=self._profile,
            options=self._options,
            leaving=self._leaving,
            emptying=self._emptying,
            tried=tried,
            stuck=stuck,
            proof=proof,
            preemptors=frozenset(self._preemptors.intersection(stuck)),
        )


def without_pods(cluster: Cluster, pods: Sequence[int]) -> Cluster:
    """The cluster when these pods are gone for good, with budgets as they are counted then."""
    if not pods:
        return cluster
    now = cluster.without(pods)
    return replace(now, budgets=recounted(now, pods))
