"""Sets of nodes emptied on trial, again and again others, from one state of the cluster.

As `find_drain` does for the nodes that somebody has named, and quicker: waves as budgets allow
them first, and everything that holds for all sets is found once. Rules are minded more here: a set
counts as emptied only if no rule is broken in the end that was not before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import allowances
from planner.drain.find import Drain, find_drain, without_pods
from planner.drain.leaving import Leaving, leaving_pods
from planner.drain.options import DrainOptions
from planner.drain.proofs import is_large
from planner.evictions.emptying import Emptying, EmptyingTrials, waves_within
from planner.evictions.goals import aim_of, placed_at
from planner.evictions.repeated_trials import Target, TriedWaves
from planner.replay.trial import WavePlan
from planner.replay.violations import total, violations
from planner.scenario.single_failures import without_nodes
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.sequences.plan import problem_of
from planner.solver.emptying.best_set import BestEmptySet
from planner.solver.emptying.room_to_keep import Counting
from planner.solver.problem.options import SolveOptions

UNLIMITED = 2**62


class SteadyTrials(EmptyingTrials):
    """Trials of a drain that breaks no rule which was not broken before."""

    def reached(self, node_of: IntArray) -> bool:
        """Whether all pods run elsewhere, and as the rules want it."""
        if not super().reached(node_of):
            return False
        return self._target.excess == UNLIMITED or self.broken(node_of) <= self._target.excess

    def broken(self, node_of: IntArray) -> int:
        """What running pods break; kept, since trials often end alike."""
        moved = np.flatnonzero(node_of != self.aim.real.node_of)
        key = (moved.tobytes(), node_of[moved].tobytes())
        if key not in self._excess:
            self._excess[key] = total(violations(placed_at(self.aim.real, node_of), self.profile))
        return self._excess[key]

    def breaking_no_more_than(self, excess: int) -> SteadyTrials:
        """What is broken already, and may stay so."""
        self._target = Target(excess, self._target.waiting)
        return self


def is_possible(found: Drain) -> bool:
    """Whether the nodes are empty in the end whatever kube-scheduler chooses."""
    return found.status == "possible" and found.tried.converges


def state_after(found: Drain) -> Cluster:
    """The pods where they are then if ties are broken by name; the nodes are cordoned."""
    return placed_at(found.aim.real, found.tried.runs[0].node_of)


def refused_by_volumes(cluster: Cluster, profile: Profile) -> list[int]:
    """Groups whose claims no node can be found for, wherever other pods are."""
    asked = [group for group in cluster.groups if group.volumes]
    plugin = next((each for each in profile.filters if each.name == "VolumeBinding"), None)
    if plugin is None or not asked:
        return []
    state = SchedulingState(cluster)
    refusals = ((group.index, plugin.pre_filter(state, group).rejection) for group in asked)
    return [index for index, refusal in refusals if refusal is not None]


class EmptyingNodes:
    """Empties nodes of one cluster, in which nobody waits who could be placed.

    `among` are the nodes that may be asked about, all if not given. If it need not be `steady`,
    rules that allow every step may be broken in the end, as in any drain.
    """

    def __init__(
        self,
        cluster: Cluster,
        profile: Profile,
        options: DrainOptions,
        *,
        among: Collection[int] | None = None,
        steady: bool = True,
    ) -> None:
        self.cluster = cluster
        self.profile = profile
        self.options = options
        self.broken = total(violations(cluster, profile)) if steady else UNLIMITED
        asked = range(len(cluster.nodes)) if among is None else sorted(among)
        self.budgets = allowances(cluster, options.max_unavailable)
        self.all = leaving_pods(cluster, replace(options, nodes=tuple(asked)), self.budgets)
        offered = np.maximum(cluster.resources.allocatable.mean(axis=0), 1)
        self._share = (cluster.resources.requests / offered).max(axis=1)
        kept = np.fromiter(self.all.kept, np.int64)
        going = np.array(self.all.going, np.int64)
        refused = going[np.isin(cluster.group_of[going], refused_by_volumes(cluster, profile))]
        self.stuck = frozenset(cluster.node_of[[*kept.tolist(), *refused.tolist()]].tolist())
        """Nodes with a pod that may not leave, or that no node would ever take again."""
        self.evictions = np.bincount(cluster.node_of[going], minlength=len(cluster.nodes))
        """How many pods have to leave each node and come back."""

    def leaving(self, nodes: Collection[int]) -> Leaving:
        """The pods of these nodes; those that ask for most are the first to go."""
        chosen, node_of = frozenset(nodes), self.cluster.node_of
        going = [pod for pod in self.all.going if int(node_of[pod]) in chosen]
        return Leaving(
            tuple(self.largest_first(going)),
            tuple(pod for pod in self.all.lost if int(node_of[pod]) in chosen),
            {pod: why for pod, why in self.all.kept.items() if int(node_of[pod]) in chosen},
            {pod: why for pod, why in self.all.stays.items() if int(node_of[pod]) in chosen},
        )

    def largest_first(self, pods: Iterable[int]) -> list[int]:
        """Pods that ask for most first, pods of a group together."""
        group_of, share = self.cluster.group_of, self._share
        return sorted(pods, key=lambda pod: (-share[group_of[pod]], group_of[pod], pod))

    def best_sets(self, prices: Mapping[int, int], *, removed: bool) -> BestEmptySet:
        """The search for the best set by all rules, among these nodes."""
        movable = np.isin(np.arange(len(self.cluster.pods)), self.all.going)
        movable &= np.isin(self.cluster.node_of, list(prices))
        options = SolveOptions(
            rebalance=True,
            policy=self.options.policy,
            spared=frozenset(np.flatnonzero(~movable).tolist()),
            time_limit=self.options.time_limit,
        )
        problem = problem_of(self.cluster, options, self.profile)
        return BestEmptySet(problem, prices, self.broken, removed=removed)

    def counting(self, lost: Collection[int] = ()) -> Counting:
        """What has to stay at the least, by counting; without spread where that is broken now.

        All pods have to be somewhere, those of the lost nodes, too.
        """
        left = without_nodes(self.cluster, lost)
        return Counting(left, np.array(self.all.going, np.int64), steady=not self.broken)

    def empty(self, nodes: Collection[int], *, seeds: int | None = None) -> Drain:
        """Waves as budgets allow them, tried until the first failure."""
        found = self.nothing_tried(nodes)
        waves = waves_within(found.leaving.going, found.budgets)
        return replace(found, tried=self._trials(found, waves, seeds).tried(waves, patience=1))

    def sparing(self, nodes: Collection[int], spared: Sequence[int]) -> Drain | None:
        """The same with few landings on the spared nodes; None if that does not always end well.

        They are cordoned, and who finds no place then is evicted in waves of its own, without.
        """
        found = self.nothing_tried(nodes)
        pods = found.leaving.going
        waves = waves_within(pods, found.budgets)
        trials = self._trials(found, waves, None)
        cordons = tuple(sorted(trials.may_be_cordoned(spared)))
        alone = trials.tried(_cordoning(waves, cordons), trials.manners[:1])
        ended = alone.runs[0].node_of
        apart = {pod for pod in pods if ended[pod] == PENDING or int(ended[pod]) in set(cordons)}
        first = waves_within((p for p in pods if p not in apart), found.budgets)
        last = waves_within((p for p in pods if p in apart), found.budgets)
        tried = trials.tried((*_cordoning(first, cordons), *last), patience=1)
        if not tried.converges:
            return None
        if not is_large(found.aim):
            tried = _in_fewer_waves(trials, tried, len(first))
        return replace(found, tried=tried)

    def empty_thoroughly(self, nodes: Collection[int]) -> Drain:
        """With every way there is to find an order of evictions."""
        options = replace(self.options, nodes=tuple(sorted(nodes)))
        found = find_drain(self.cluster, options, self.profile)
        trials = self._trials(found, found.tried.waves, None)
        reached = tuple(map(trials.ends_well, found.tried.runs))
        return replace(found, tried=replace(found.tried, reached=reached))

    def sources_of_failure(self, found: Drain) -> set[int]:
        """Nodes with pods of workloads whose pods found no place in a trial, or budgets kept."""
        run, cluster = found.tried.runs[0], self.cluster
        pods = np.flatnonzero((run.node_of == PENDING) & (cluster.node_of >= 0))
        if run.refused is not None:
            pods = np.append(pods, run.refused)
        workloads = {cluster.workloads[group] for group in cluster.group_of[pods].tolist()}
        groups = [g for g, workload in enumerate(cluster.workloads) if workload in workloads]
        alike = np.isin(cluster.group_of, groups) & (cluster.node_of >= 0)
        return set(cluster.node_of[alike].tolist())

    def nothing_tried(self, nodes: Collection[int]) -> Drain:
        """The drain of these nodes, before anything was tried."""
        chosen, leaving = tuple(sorted(nodes)), self.leaving(nodes)
        aim = aim_of(without_pods(self.cluster, leaving.lost), (), chosen)
        budgets = self.budgets
        if leaving.lost:
            budgets = allowances(aim.real, self.options.max_unavailable)
        return Drain(
            given=self.cluster,
            start=self.cluster,
            aim=aim,
            profile=self.profile,
            options=replace(self.options, nodes=chosen),
            leaving=leaving,
            emptying=Emptying(aim, self.profile, budgets, leaving.going),
            tried=TriedWaves((), (), (), (), {}),
        )

    def _trials(self, found: Drain, waves: Sequence[WavePlan], seeds: int | None) -> SteadyTrials:
        asked = seeds or self.options.seeds
        workers = self.options.workers
        trials = SteadyTrials(found.emptying, found.leaving.going, waves, asked, workers=workers)
        return trials.breaking_no_more_than(self.broken)


def _cordoning(waves: Sequence[WavePlan], cordons: tuple[int, ...]) -> tuple[WavePlan, ...]:
    return tuple(replace(wave, cordons=cordons) for wave in waves)


def _in_fewer_waves(trials: SteadyTrials, tried: TriedWaves, first: int) -> TriedWaves:
    """Waves without cordons joined with earlier ones, where as few pods land on spared nodes.

    Only the nodes where the later wave's pods landed are open then.
    """
    best, number = tried, first
    while number < len(best.waves):
        joined = next(_joined(trials, best, number), None)
        if joined is None:
            number += 1
        else:
            best = joined
    return best


def _joined(trials: SteadyTrials, tried: TriedWaves, number: int) -> Iterator[TriedWaves]:
    """The wave of this number together with each of those before that budgets let it join."""
    later, landed = tried.waves[number], {each.node for each in tried.runs[0].landings}
    spared = {node for wave in tried.waves for node in wave.cordons}
    most = int(np.isin(tried.runs[0].node_of, list(spared)).sum())
    for index in range(number - 1, -1, -1):
        wave = tried.waves[index]
        evictions = (*wave.evictions, *later.evictions)
        if len(waves_within(evictions, trials.allowances)) > 1:
            continue
        opened = tuple(node for node in wave.cordons if node not in landed)
        waves = list(tried.waves)
        waves[index] = WavePlan(evictions, opened)
        del waves[number]
        found = trials.tried(waves, patience=1)
        if found.converges and int(np.isin(found.runs[0].node_of, list(spared)).sum()) <= most:
            yield found
