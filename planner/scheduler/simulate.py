"""Scheduling all pending pods, one after the other, as kube-scheduler would.

Pods leave the queue by priority and arrival. One that finds a node counts at once for the next; one
that finds none waits, and is tried again when something happens that could help it. The run ends
when nothing can happen any more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.rules import Event
from planner.scheduler.cycle import Evaluation, Scheduler, Search
from planner.scheduler.framework.plugin import UNRESOLVABLE
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.nominations import Nominations
from planner.scheduler.plugins import scheduling_gates
from planner.scheduler.preemption import NEVER, STILL_TERMINATING, Preemption, preempt
from planner.scheduler.profile import Profile, default_profile
from planner.scheduler.queue import SchedulingQueue
from planner.scheduler.sampling import ADAPTIVE, EVERYTHING, NodeSampling
from planner_models.pod import Pod

NO_NODES = "no nodes available to schedule pods"
ATTEMPT_SECONDS = 0.001
"""What one attempt takes on the simulated clock; back-off is counted on it."""
GRACE_SECONDS = 30.0
"""How long victims of preemption take to go, which is `terminationGracePeriodSeconds`' default."""

Outcome = Literal["scheduled", "unschedulable", "gated"]
Aside = Literal["otherScheduler", "nodeName", "terminating", "running"]


@dataclass(frozen=True, eq=False)
class PodResult:
    """What became of a pod; for one that was tried several times, the last attempt.

    `feasible` is the number of nodes that passed the filters, `tied` how many of them were best.
    `preemption` is what PostFilter decided about a pod that no node takes.
    """

    pod: int
    outcome: Outcome
    node: int | None = None
    feasible: int = 0
    tied: int = 0
    message: str = ""
    preemption: Preemption | None = None
    attempts: int = 0

    @property
    def event_message(self) -> str:
        """The text of the FailedScheduling event: PostFilter's word comes after the message."""
        added = self.preemption.message if self.preemption is not None else ""
        return f"{self.message} {added}" if added else self.message


@dataclass(frozen=True)
class LeftAside:
    """A pod that is not this scheduler's matter, and why."""

    pod: int
    reason: Aside


@dataclass(frozen=True, eq=False)
class Attempt:
    """A try of a pod, for observers; the evaluation is valid only while they look at it."""

    result: PodResult
    evaluation: Evaluation


Observer = Callable[[Attempt], None]


@dataclass(frozen=True, eq=False)
class SimulationRun:
    """Results in the order in which pods were first tried, gated ones last; and the cluster then.

    `victims` are pods that were preempted; they are gone from the final cluster.
    """

    results: tuple[PodResult, ...]
    aside: tuple[LeftAside, ...]
    victims: tuple[int, ...]
    final: Cluster

    @property
    def unschedulable(self) -> tuple[PodResult, ...]:
        """Pods that found no node."""
        return tuple(result for result in self.results if result.outcome == "unschedulable")


def simulate(  # noqa: PLR0913 - what can be said about a run
    cluster: Cluster,
    profiles: Sequence[Profile] = (),
    *,
    pods: Iterable[int] | None = None,
    seed: int = 0,
    preempt: bool = False,
    sampling: bool = False,
    observe: Observer | None = None,
    until: Collection[int] = (),
) -> SimulationRun:
    """Schedule pending pods (or just `pods`), each under the profile that its schedulerName names.

    Seed 0 takes the first of the best nodes by name, any other draws one as kube-scheduler does.
    With `preempt`, victims leave and the pod that preempted them is tried again; otherwise
    preemption is only recorded. All nodes are looked at, unless a profile says a
    percentageOfNodesToScore or `sampling` asks for kube-scheduler's own. The run ends early once
    all pods of `until`, if there are any, have found a node.
    """
    chosen = cluster.pending.tolist() if pods is None else list(dict.fromkeys(pods))
    running = _Simulation(cluster, profiles or (default_profile(),), seed, preempt, sampling)
    return running.run(chosen, observe, frozenset(until))


class _Simulation:
    def __init__(
        self,
        cluster: Cluster,
        profiles: Sequence[Profile],
        seed: int,
        preempt: bool,
        sampling: bool,
    ) -> None:
        self._cluster = cluster
        self._state = SchedulingState(cluster)
        self._schedulers = {
            profile.resolved.scheduler_name: Scheduler(self._state, profile) for profile in profiles
        }
        self._random = random.Random(seed) if seed else None
        self._preempt = preempt
        self._adaptive = sampling
        self._sampling = NodeSampling(cluster)
        self._nominations = Nominations(self._state)
        self._queue = SchedulingQueue()
        self._now = 0.0
        self._leaving: list[tuple[float, int, int]] = []
        """(when it is gone, victim, for whom)."""
        self._victims: list[int] = []
        self._results: dict[int, PodResult] = {}
        self._failures: dict[tuple[str, int], tuple[int, Attempt]] = {}

    def run(
        self, pods: Sequence[int], observe: Observer | None, until: frozenset[int]
    ) -> SimulationRun:
        aside: list[LeftAside] = []
        gated: list[PodResult] = []
        for index in pods:
            reason = self._aside(index)
            if reason is not None:
                aside.append(LeftAside(index, reason))
                continue
            gate = scheduling_gates.pre_enqueue(self._cluster.pods[index].spec)
            if gate is not None:
                gated.append(PodResult(index, "gated", message=", ".join(gate.reasons)))
                continue
            self._enqueue(index)
        missing = set(until)
        while (missing or not until) and (pod := self._next()) is not None:
            index = self._cluster.pod_index[pod.key]
            if self._try(index, observe):
                missing.discard(index)
        results = (*self._results.values(), *gated)
        return SimulationRun(results, tuple(aside), tuple(self._victims), self._state.snapshot())

    def _aside(self, index: int) -> Aside | None:
        pod = self._cluster.pods[index]
        if self._cluster.node_of[index] != PENDING:
            return "running" if pod.phase == "Running" else "nodeName"
        if pod.spec.scheduler_name not in self._schedulers:
            return "otherScheduler"
        return "terminating" if pod.terminating else None

    def _enqueue(self, index: int) -> None:
        pod = self._cluster.pods[index]
        if not len(self._state.all_nodes):
            result = PodResult(index, "unschedulable", message=NO_NODES, attempts=1)
            self._results[index] = result
            return
        self._queue.add(pod, self._now)
        nominated = self._cluster.node_index.get(pod.nominated_node_name)
        if nominated is not None:
            self._nominations.add(index, nominated)

    def _next(self) -> Pod | None:
        """The next pod to try; time passes while all others wait for victims to go."""
        pod = self._queue.pop(self._now)
        while pod is None and self._leaving:
            self._now = max(self._now, self._leaving[0][0])
            self._remove_victims()
            pod = self._queue.pop(self._now)
        return pod

    def _remove_victims(self) -> None:
        """Victims whose grace period is over are gone."""
        while self._leaving and self._leaving[0][0] <= self._now:
            _, victim, _ = self._leaving.pop(0)
            if self._state.node_of[victim] != GONE:
                self._state.remove(victim, to=GONE)
                self._queue.event(Event.POD_REMOVED, self._now)

    def _try(self, index: int, observe: Observer | None) -> bool:
        """Whether the pod found a node."""
        self._now += ATTEMPT_SECONDS
        self._remove_victims()
        attempt = self._attempt(index)
        before = self._results.get(index)
        tries = 1 if before is None else before.attempts + 1
        result = attempt.result
        if result.pod != index or result.attempts != tries:
            result = replace(result, pod=index, attempts=tries)
        self._results[index] = result
        if observe is not None:
            observe(Attempt(result, attempt.evaluation))
        pod = self._cluster.pods[index]
        if result.node is None:
            self._wait(index, result, attempt.evaluation)
            return False
        self._state.place(index, result.node)
        self._nominations.remove(index)
        self._queue.done(pod.key)
        self._queue.event(Event.POD_ADDED, self._now)
        return True

    def _attempt(self, index: int) -> Attempt:
        """A pod of a group that has just failed fails in the same way, if nothing has happened."""
        scheduler = self._schedulers[self._cluster.pods[index].spec.scheduler_name]
        name = scheduler.profile.resolved.scheduler_name
        key = (name, int(self._cluster.group_of[index]))
        position = len(self._state.log)
        known = self._failures.get(key)
        if known is not None and known[0] == position and not self._nominations:
            return known[1]
        evaluation = self._evaluate(scheduler, index)
        if evaluation.feasible_count:
            node, tied = evaluation.pick(self._random), evaluation.tied
            feasible = evaluation.feasible_count
            result = PodResult(index, "scheduled", node, feasible=feasible, tied=tied, attempts=1)
            return Attempt(result, evaluation)
        failed = Attempt(self._failure(scheduler, index, evaluation), evaluation)
        self._failures[key] = (position, failed)
        return failed

    def _evaluate(self, scheduler: Scheduler, index: int) -> Evaluation:
        """The node that the pod is nominated for comes first; only if it refuses, all others."""
        percentage = self._percentage(scheduler)
        if not self._nominations and percentage == EVERYTHING:
            return scheduler.evaluate(index)
        cycle = scheduler.cycle(index)
        yields = self._nominations.refusals(index, cycle) if cycle.rejection is None else {}
        promised = self._nominations.node_of(index)
        if promised is not None:
            alone = Search(np.array([promised]), 1)
            evaluation = scheduler.evaluate(index, alone, yields)
            if len(evaluation.feasible):
                return evaluation
        if percentage == EVERYTHING:
            return scheduler.evaluate(index, None, yields)
        limit = cycle.limit.known(self._cluster.node_index) if cycle.limit is not None else None
        evaluation = scheduler.evaluate(index, self._sampling.search(percentage, limit), yields)
        self._sampling.advance(evaluation)
        return evaluation

    def _percentage(self, scheduler: Scheduler) -> int:
        configured = scheduler.profile.resolved.percentage_of_nodes_to_score
        return configured if configured != ADAPTIVE or self._adaptive else EVERYTHING

    def _failure(self, scheduler: Scheduler, index: int, evaluation: Evaluation) -> PodResult:
        message = evaluation.message()
        if self._waits_for_victims(index, evaluation):
            found = Preemption("Unschedulable", f"preemption: {STILL_TERMINATING}")
        else:
            nodes = len(self._state.all_nodes)
            offset = 0 if self._random is None else self._random.randrange(nodes)
            ahead = self._nominations.ahead_of(index)
            found = self._drawn(preempt(scheduler, evaluation, offset, ahead))
        return PodResult(index, "unschedulable", message=message, preemption=found)

    def _waits_for_victims(self, index: int, evaluation: Evaluation) -> bool:
        """A pod that has preempted others waits for them to go, unless that can't help any more."""
        node = self._nominations.node_of(index)
        if node is None or not any(pod == index for _, _, pod in self._leaving):
            return False
        status = evaluation.verdicts().get(node)
        return status is None or status.code != UNRESOLVABLE

    def _keeps_promise(self, index: int, found: Preemption | None, evaluation: Evaluation) -> bool:
        """A nomination is taken back only where preemption was tried and found nobody."""
        not_tried = found is not None and found.message.endswith((STILL_TERMINATING, NEVER))
        return not_tried or self._waits_for_victims(index, evaluation)

    def _drawn(self, found: Preemption) -> Preemption:
        """Of several nodes that are equally good, any; the first by name for seed 0."""
        if self._random is None or len(found.nominated_any_of) < 2:
            return found
        node = self._random.choice(found.nominated_any_of)
        return replace(found, nominated=node, victims=found.candidates[node].pods)

    def _wait(self, index: int, result: PodResult, evaluation: Evaluation) -> None:
        found = result.preemption
        node = found.nominated if found is not None else None
        if node is None and not self._keeps_promise(index, found, evaluation):
            self._nominations.remove(index)
        elif found is not None and node is not None and self._preempt:
            self._nominations.add(index, node)
            for victim in found.victims:
                self._preempt_victim(victim, index)
        self._queue.fail(self._cluster.pods[index], self._now, evaluation.plugins)

    def _preempt_victim(self, victim: int, for_whom: int) -> None:
        """The victim is told to go; one that goes already is waited for in any case."""
        self._leaving.append((self._now + GRACE_SECONDS, victim, for_whom))
        if victim not in self._victims:
            self._victims.append(victim)
            self._state.terminate(victim)
