"""What the descheduler would do round after round, with kube-scheduler placing the replacements.

Evicted pods of a controller come back as pending pods, others are gone. No time passes: a pod that
comes back is new, and none grows older between rounds. The rounds end when nothing is evicted any
more, or when the cluster is as it was before some round: then it would go on in circles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec
import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.times import latest
from planner.descheduler.policy import PolicyRun, run_policy
from planner.descheduler.strategies.framework import RefusedEviction
from planner.disruption.eviction_api import BudgetedEvictions
from planner.disruption.replacement import replacements_of
from planner.replay.violations import Violation, total, violations
from planner.scheduler.profile import Profile, default_profile
from planner.scheduler.simulate import simulate
from planner_models.descheduler_policy import DeschedulerPolicy
from planner_models.pod import Pod

DEFAULT_ROUNDS = 20
REMEMBERING = frozenset({"PodLifeTime", "RemovePodsHavingTooManyRestarts"})
"""Strategies to which a pod and its replacement on the same node are not the same."""

End = Literal["settled", "loop", "limit"]


@dataclass(frozen=True)
class EvictedPod:
    """An eviction, and where the replacement went: no node if it waits, or if none comes."""

    pod: str
    workload: str
    strategy: str
    reason: str
    source: str
    target: str | None
    comes_back: bool


@dataclass(frozen=True, eq=False)
class Round:
    """One run of the descheduler and what the scheduler made of it; `waiting` pods have no node."""

    number: int
    evicted: tuple[EvictedPod, ...]
    refusals: tuple[RefusedEviction, ...]
    waiting: tuple[str, ...]

    @property
    def evictions(self) -> int:
        """How many pods were evicted."""
        return len(self.evicted)


@dataclass(frozen=True)
class Loop:
    """Rounds `first` to `last` leave the cluster as it was before them."""

    first: int
    last: int
    workloads: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class DeschedulerRounds:
    """All rounds with evictions, how they ended, and what is still broken then."""

    rounds: tuple[Round, ...]
    end: End
    loop: Loop | None
    violations: tuple[Violation, ...]
    final: Cluster

    @property
    def evictions(self) -> int:
        """Evictions of all rounds together."""
        return sum(each.evictions for each in self.rounds)

    @property
    def loops(self) -> bool:
        """Whether the descheduler would go on evicting for ever."""
        return self.loop is not None

    @property
    def violations_left(self) -> int:
        """What hard rules are broken by at the end."""
        return total(self.violations)


def run_rounds(
    cluster: Cluster,
    policy: DeschedulerPolicy,
    profiles: Sequence[Profile] = (),
    *,
    most: int = DEFAULT_ROUNDS,
    now: int | None = None,
    seed: int = 0,
) -> DeschedulerRounds:
    """Evict and schedule in turns, nobody preempts. Seed 0 breaks ties by name, others draw."""
    profiles = profiles or (default_profile(),)
    simulation = _Simulation(policy, profiles, latest(cluster) if now is None else now)
    rounds: list[Round] = []
    fresh: frozenset[int] = frozenset()
    seen = {simulation.state(cluster, fresh): 0}
    end: End = "limit"
    loop: Loop | None = None
    while len(rounds) < most:
        number = len(rounds) + 1
        drawn = seed * 1_000_003 + number if seed else 0
        evicted = simulation.evict(cluster, number, drawn)
        if not evicted.evictions:
            end = "settled"
            break
        cluster, done = simulation.replace_pods(cluster, evicted, number, drawn)
        rounds.append(done)
        fresh |= {
            cluster.pod_index[each.pod] for each in done.evicted if each.pod in cluster.pod_index
        }
        before = seen.setdefault(simulation.state(cluster, fresh), number)
        if before < number:
            end, loop = "loop", _loop(rounds[before:])
            break
    left = violations(cluster, profiles[0])
    return DeschedulerRounds(tuple(rounds), end, loop, left, cluster)


def _loop(rounds: Sequence[Round]) -> Loop:
    workloads = sorted({pod.workload for each in rounds for pod in each.evicted})
    return Loop(rounds[0].number, rounds[-1].number, tuple(workloads))


@dataclass(frozen=True)
class _Simulation:
    policy: DeschedulerPolicy
    profiles: Sequence[Profile]
    now: int

    def evict(self, cluster: Cluster, number: int, seed: int) -> PolicyRun:
        """One run of the descheduler; the budgets' own status holds for the first one only."""
        api = BudgetedEvictions(cluster, trust_status=number == 1)
        return run_policy(cluster, self.policy, now=self.now, seed=seed, api=api)

    def replace_pods(
        self, cluster: Cluster, run: PolicyRun, number: int, seed: int
    ) -> tuple[Cluster, Round]:
        """Take the evicted pods away, and let the scheduler place whatever waits."""
        evicted = {eviction.pod for eviction in run.evictions}
        indexes = [i for i in cluster.running.tolist() if cluster.pods[i] in evicted]
        replacements = replacements_of(cluster)
        back = [i for i in indexes if replacements.of(i).fate != "none"]
        gone = replace(
            cluster,
            finished_pods=tuple(pod for pod in cluster.finished_pods if pod not in evicted),
        )
        waiting = gone.with_pods({i: _new(cluster.pods[i], self.now) for i in back})
        placement = dict.fromkeys(indexes, GONE) | dict.fromkeys(back, PENDING)
        placed = simulate(waiting.with_placement(placement), self.profiles, seed=seed)
        running = (result.pod for result in placed.results if result.node is not None)
        after = _started(placed.final, running, self.now)
        nodes = {
            cluster.pods[i].key: _node_name(after, i) for i in back if after.node_of[i] != GONE
        }
        comes_back = frozenset(cluster.pods[i].key for i in back)
        return after, self._round(cluster, run, number, nodes, comes_back, after)

    def _round(
        self,
        cluster: Cluster,
        run: PolicyRun,
        number: int,
        nodes: Mapping[str, str | None],
        comes_back: frozenset[str],
        after: Cluster,
    ) -> Round:
        evicted = tuple(
            EvictedPod(
                pod=eviction.pod.key,
                workload=cluster.owners.workload_of(eviction.pod).short,
                strategy=eviction.strategy,
                reason=eviction.reason,
                source=eviction.node,
                target=nodes.get(eviction.pod.key),
                comes_back=eviction.pod.key in comes_back,
            )
            for eviction in run.evictions
        )
        waiting = tuple(after.pods[i].key for i in after.pending.tolist())
        return Round(number, evicted, run.refusals, waiting)

    def state(self, cluster: Cluster, fresh: frozenset[int]) -> bytes:
        """What the next round depends on: how many pods of each group every node has.

        Which of several interchangeable pods is where does not matter, unless the policy looks at
        their past; then those that came back are told from the others.
        """
        nodes = len(cluster.nodes) - GONE
        cells = cluster.group_of * nodes + cluster.node_of - GONE
        if self._remembers:
            past = np.zeros(len(cluster.pods), np.int64)
            past[list(fresh)] = 1
            cells = cells * 2 + past
        return np.sort(cells).tobytes() + len(cluster.finished_pods).to_bytes(8, "big")

    @property
    def _remembers(self) -> bool:
        return any(
            REMEMBERING & set(profile.strategies) or profile.evictor.min_pod_age is not None
            for profile in self.policy.profiles
        )


def _new(pod: Pod, now: int) -> Pod:
    """The replacement, under the name of its predecessor."""
    return msgspec.structs.replace(
        pod,
        node_name="",
        nominated_node_name="",
        phase="Pending",
        terminating=False,
        ready=False,
        created=now,
        started=None,
        reason="",
        container_states=(),
        condition_kinds=(),
        condition_times="",
    )


def _started(cluster: Cluster, pods: Iterable[int], now: int) -> Cluster:
    """Pods that found a node run and are well before the next round."""
    return cluster.with_pods(
        {
            i: msgspec.structs.replace(cluster.pods[i], phase="Running", ready=True, started=now)
            for i in pods
        }
    )


def _node_name(cluster: Cluster, pod: int) -> str | None:
    node = int(cluster.node_of[pod])
    return cluster.nodes[node].name if node >= 0 else None
