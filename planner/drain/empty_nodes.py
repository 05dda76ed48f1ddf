"""Nodes are cordoned, and their pods evicted in waves; kube-scheduler finds the new nodes.

It ends well if nobody is left on the nodes who could leave, nobody else waits than before, no rule
is broken that was not, and no budget was asked for more than it allows: whatever kube-scheduler
chooses, under as many seeds as are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances, allowances
from planner.disruption.movability import DEFAULT_POLICY, Movability, MovePolicy, immovable
from planner.evictions.goals import Aim, aim_of, drains, placed_at
from planner.evictions.repeated_trials import RepeatedTrials, Target, TriedWaves
from planner.evictions.robust_waves import RobustWaves
from planner.replay.trial import WavePlan
from planner.replay.violations import total, violations
from planner.scheduler.profile import Profile
from planner.sequences.plan import plan_outcome
from planner.solver.problem.options import SolveOptions

WITH_THE_NODE = frozenset({"daemonSet", "mirror", "terminating"})
"""Pods that go with their node, or are going already: `kubectl drain` passes them over, too."""


@dataclass(frozen=True)
class Manner:
    """How nodes are emptied: what may be evicted, how many at once, how many seeds are tried."""

    policy: MovePolicy = DEFAULT_POLICY
    max_unavailable: int | None = None
    seeds: int = 20
    time_limit: float = 60.0


class Leaving:
    """Which pods have to leave their node when it is emptied, and which of them may not."""

    def __init__(self, cluster: Cluster, policy: MovePolicy) -> None:
        self._cluster = cluster
        movability = Movability(cluster, policy)
        self._leave: dict[int, list[int]] = {}
        self.stuck: dict[int, list[int]] = {}
        """By node: pods that would have to leave, and may not be evicted."""
        for pod in cluster.running.tolist():
            why = movability.why(pod)
            if why is None:
                self._leave.setdefault(int(cluster.node_of[pod]), []).append(pod)
            elif immovable(cluster.pods[pod], policy) not in WITH_THE_NODE:
                self.stuck.setdefault(int(cluster.node_of[pod]), []).append(pod)

    def of(self, nodes: Iterable[int]) -> list[int]:
        """The pods of these nodes that have to leave, those that ask for most first."""
        pods = [pod for node in nodes for pod in self._leave.get(node, ())]
        shares = largest_share(self._cluster)
        return sorted(pods, key=lambda pod: (-shares[self._cluster.group_of[pod]], pod))

    def count(self, node: int) -> int:
        """How many pods have to leave a node."""
        return len(self._leave.get(node, ()))


def largest_share(cluster: Cluster) -> Sequence[float]:
    """Of each group: its largest request as a part of what the mean node has of it."""
    offered = np.maximum(cluster.resources.allocatable.mean(axis=0), 1)
    shares: list[float] = (cluster.resources.requests / offered).max(axis=1).tolist()
    return shares


def budget_waves(
    pods: Iterable[int], allowed: Allowances, cordons: Sequence[int] = ()
) -> tuple[WavePlan, ...]:
    """Each pod in the first wave in which its budgets allow one more to be down."""
    waves: list[list[int]] = []
    taken: Counter[tuple[int, int]] = Counter()
    first: Counter[int] = Counter()
    for pod in pods:
        numbers = allowed.of_pod(pod)
        number = max((first[each] for each in numbers), default=0)
        while (
            allowed.most is not None and number < len(waves) and len(waves[number]) >= allowed.most
        ) or any(taken[each, number] >= max(1, allowed.each[each].left) for each in numbers):
            number += 1
        for each in numbers:
            taken[each, number] += 1
            if len(numbers) == 1 and allowed.most is None:
                first[each] = number
        while len(waves) <= number:
            waves.append([])
        waves[number].append(pod)
    return tuple(WavePlan(tuple(wave), tuple(cordons)) for wave in waves if wave)


def waves_needed(pods: Iterable[int], allowed: Allowances) -> int:
    """The most that a budget asks for: its pods one share after the other."""
    counts = Counter(number for pod in pods for number in allowed.of_pod(pod))
    needed = [-(-count // max(1, allowed.each[n].left)) for n, count in counts.items()]
    return max(needed, default=0)


@dataclass(frozen=True, eq=False)
class Emptied:
    """Nodes and the waves that empty them; `tried` says how that went, None if nothing leaves."""

    before: Cluster
    nodes: tuple[int, ...]
    tried: TriedWaves | None

    @property
    def possible(self) -> bool:
        """Whether it ended well under every seed."""
        return self.tried is None or self.tried.converges

    @property
    def waves(self) -> tuple[WavePlan, ...]:
        """What is evicted together."""
        return () if self.tried is None else self.tried.waves

    @property
    def evictions(self) -> int:
        """How many pods are evicted."""
        return sum(len(wave.evictions) for wave in self.waves)

    @cached_property
    def after(self) -> Cluster:
        """The pods where they are then if ties are broken by name; the cordons are lifted."""
        if self.tried is None:
            return self.before
        return placed_at(self.before, self.tried.runs[0].node_of)


class EmptyingNodes:
    """Empties nodes of one cluster, again and again others."""

    def __init__(self, cluster: Cluster, profile: Profile, manner: Manner) -> None:
        self.cluster = cluster
        self.profile = profile
        self.manner = manner
        self.allowed = allowances(cluster, manner.max_unavailable)
        self.leaving = Leaving(cluster, manner.policy)
        self.broken = total(violations(cluster, profile))
        self._waiting = len(cluster.pending)

    def candidates(self) -> tuple[int, ...]:
        """The nodes without a pod that may not leave."""
        stuck = self.leaving.stuck
        return tuple(node for node in range(len(self.cluster.nodes)) if node not in stuck)

    def empty(
        self, nodes: Collection[int], *, seeds: int | None = None, cordons: Sequence[int] = ()
    ) -> Emptied:
        """Try waves as budgets allow them; if they do not always end well, waves of a plan."""
        chosen = tuple(sorted(nodes))
        pods = self.leaving.of(chosen)
        if not pods:
            return Emptied(self.cluster, chosen, None)
        trials = self._trials(chosen, pods, seeds or self.manner.seeds)
        tried = trials.tried(budget_waves(pods, self.allowed, cordons), patience=1)
        return Emptied(self.cluster, chosen, tried)

    def sparing(self, nodes: Collection[int], spared: Sequence[int]) -> Emptied | None:
        """The same with few landings on the spared nodes; None if that does not always end well.

        They are cordoned, and who finds no place then is evicted in waves of its own, without.
        """
        chosen = tuple(sorted(nodes))
        pods = self.leaving.of(chosen)
        if not pods:
            return Emptied(self.cluster, chosen, None)
        trials = self._trials(chosen, pods, self.manner.seeds)
        cordons = sorted(trials.may_be_cordoned(spared))
        alone = trials.tried(budget_waves(pods, self.allowed, cordons), trials.manners[:1])
        ended = alone.runs[0].node_of
        apart = [pod for pod in pods if ended[pod] == PENDING or ended[pod] in set(cordons)]
        others = [pod for pod in pods if pod not in set(apart)]
        waves = (
            *budget_waves(others, self.allowed, cordons),
            *budget_waves(apart, self.allowed),
        )
        tried = trials.tried(waves, patience=1)
        return Emptied(self.cluster, chosen, tried) if tried.converges else None

    def empty_by_plan(self, nodes: Collection[int]) -> Emptied:
        """The same with the solver's order of evictions, steered by cordons where that helps."""
        chosen = tuple(sorted(nodes))
        pods = self.leaving.of(chosen)
        trials = self._trials(chosen, pods, self.manner.seeds)
        spared = frozenset(range(len(self.cluster.pods))) - set(pods)
        options = SolveOptions(
            rebalance=True,
            policy=self.manner.policy,
            spared=spared,
            hops=False,
            max_unavailable=self.manner.max_unavailable,
            time_limit=self.manner.time_limit,
        )
        outcome = plan_outcome(trials.aim.wanted, options, self.profile)
        tried = RobustWaves(trials).search(outcome.waves.waves, outcome.decision.steps)
        return Emptied(self.cluster, chosen, tried)

    def _trials(self, nodes: tuple[int, ...], pods: Sequence[int], seeds: int) -> RepeatedTrials:
        aim = aim_of(self.cluster, (), nodes)
        staying = sum(
            each.excess
            for each in violations(aim.wanted.without(pods), self.profile)
            if drains(aim.wanted, each)
        )
        target = Target(self.broken + staying, self._waiting)
        return RepeatedTrials(aim, self.profile, self.allowed, target, seeds)


def rounded_up(parts: int, of: int) -> int:
    """The whole number above a quotient."""
    return -(-parts // of)
