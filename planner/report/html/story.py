"""Who is where, stage by stage: the waves of a plan, the rounds of a run, the pods of a queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.words import conjoined, count_of
from planner_models.diagnosis import Diagnosis
from planner_models.drain import DrainPlan
from planner_models.evictions import EvictionPlan, EvictionWave, LikeDescheduler
from planner_models.plan import Plan, Step, Wave
from planner_models.simulation import Simulation

STAGES = 60
"""More are drawn as one: nobody steps through hundreds."""

_NOUNS = {"move": "move", "place": "placement", "evict": "eviction"}


@dataclass(frozen=True, eq=False)
class Stage:
    """Where every pod is once `text` has happened; `size` says how much that is."""

    label: str
    text: str
    node_of: IntArray
    size: str = ""


@dataclass(frozen=True, eq=False)
class Story:
    """The cluster as it is, and the stages that follow."""

    cluster: Cluster
    stages: tuple[Stage, ...] = ()

    @property
    def places(self) -> tuple[IntArray, ...]:
        """Where pods are, now and after every stage."""
        return (self.cluster.node_of, *(stage.node_of for stage in self.stages))

    @cached_property
    def after(self) -> Cluster:
        """The cluster in the end."""
        last = self.places[-1]
        changed = np.flatnonzero(last != self.cluster.node_of).tolist()
        return self.cluster.with_placement({pod: int(last[pod]) for pod in changed})

    @cached_property
    def changed(self) -> IntArray:
        """Pods that are elsewhere at some stage."""
        now = self.cluster.node_of
        moved = np.zeros(len(now), np.bool_)
        for stage in self.stages:
            moved |= stage.node_of != now
        return np.flatnonzero(moved)


def plan_story(cluster: Cluster, plan: Plan) -> Story:
    """The waves; placements that no wave has (a plan without an order) come at the end."""
    tale = _Tale(cluster)
    for number, wave in enumerate(plan.waves, start=1):
        tale.take(_happens(wave.steps))
        tale.end(f"Wave {number}", _wave_text(number, len(plan.waves), wave), _amount(wave))
    rest = [(each.pod, each.node) for each in plan.placements if not tale.at(each.pod, each.node)]
    if rest:
        tale.take(rest)
        tale.end("Placed", f"{count_of(len(rest), 'pod')} placed")
    return tale.story()


def diagnosis_story(cluster: Cluster, diagnosis: Diagnosis) -> Story:
    """The waves that make room, where there are any."""
    tale = _Tale(cluster)
    found = diagnosis.rearrangement
    waves = () if found is None else found.waves
    for number, wave in enumerate(waves, start=1):
        tale.take(_happens(wave.steps))
        tale.end(f"Wave {number}", _wave_text(number, len(waves), wave), _amount(wave))
    return tale.story()


def simulation_story(cluster: Cluster, simulation: Simulation) -> Story:
    """Pod by pod in the order of the queue, or all at once where there are many.

    Victims of preemption leave before the pod that drives them off.
    """
    tale = _Tale(cluster)
    placed = [pod for pod in simulation.pods if pod.node is not None]
    for victim in simulation.preempted:
        tale.take([(victim, None)])
    if len(placed) <= STAGES:
        for number, pod in enumerate(placed, start=1):
            tale.take([(pod.pod, pod.node)])
            tale.end(str(number), f"Pod {number}: {pod.pod.partition('/')[2]} goes to {pod.node}")
    else:
        tale.take((pod.pod, pod.node) for pod in placed)
        tale.end("Scheduled", f"{count_of(len(placed), 'pod')} scheduled")
    return tale.story()


def eviction_story(cluster: Cluster, document: EvictionPlan) -> Story:
    """The waves, and where kube-scheduler puts the pods in each of them."""
    tale = _Tale(cluster)
    _take_waves(tale, document.waves, "")
    return tale.story()


def drain_story(cluster: Cluster, document: DrainPlan) -> Story:
    """The same round by round; a pod that nobody makes anew is gone."""
    tale = _Tale(cluster)
    lost = frozenset(eviction.pod for eviction in document.evictions if eviction.lost)
    for number, each in enumerate(document.rounds, start=1):
        label = f"Round {number}, wave" if len(document.rounds) > 1 else ""
        _take_waves(tale, each.waves, label, lost)
    return tale.story()


def _take_waves(
    tale: _Tale, waves: Sequence[EvictionWave], label: str, lost: frozenset[str] = frozenset()
) -> None:
    for wave in waves:
        tale.take(
            (landing.pod, landing.node)
            for landing in wave.landings
            if landing.pod not in lost or tale.vanish(landing.pod)
        )
        for pod in lost.intersection(wave.evictions):
            tale.vanish(pod)
        amount = count_of(len(wave.evictions), "eviction")
        cordons = f", {conjoined(wave.cordon[:6])} cordoned meanwhile" if wave.cordon else ""
        name = f"{label or 'Wave'} {wave.number}"
        text = f"{name} of {len(waves)}: {amount}{cordons}"
        tale.end(name, text, str(len(wave.evictions)))


def descheduler_story(cluster: Cluster, found: LikeDescheduler) -> Story:
    """The descheduler's rounds; a pod that does not come back is gone."""
    tale = _Tale(cluster)
    for each in found.rounds:
        tale.take(
            (eviction.pod, eviction.target)
            for eviction in each.evictions
            if eviction.comes_back or tale.vanish(eviction.pod)
        )
        text = f"Round {each.number}: {count_of(len(each.evictions), 'eviction')}"
        tale.end(f"Round {each.number}", text, str(len(each.evictions)))
    return tale.story()


def _happens(steps: Iterable[Step]) -> Iterator[tuple[str, str | None]]:
    for step in steps:
        if step.pod is None:
            continue
        match step.action:
            case "evict":
                yield step.pod, None
            case "place":
                yield step.pod, step.node
            case "move":
                yield step.pod, step.to
            case _:
                continue


def _amount(wave: Wave) -> str:
    """How many pods the wave is about."""
    return str(len({step.pod for step in wave.steps if step.pod is not None}))


def _wave_text(number: int, total: int, wave: Wave) -> str:
    counts = [(sum(step.action == a for step in wave.steps), noun) for a, noun in _NOUNS.items()]
    what = ", ".join(count_of(count, noun) for count, noun in counts if count)
    text = f"Wave {number} of {total}: {what}"
    names = [workload.partition("/")[2] for workload in wave.waits_for]
    if not names:
        return text
    who = conjoined(names) if len(names) <= 6 else f"{len(names)} workloads"
    return f"{text}, once {who} {'is' if len(names) == 1 else 'are'} ready again"


class _Tale:
    """Carries the steps out on a copy of where pods are."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: Mapping[str, int] = cluster.node_index
        self._node_of = cluster.node_of.copy()
        self._stages: list[Stage] = []

    def take(self, steps: Iterable[tuple[str, str | None]]) -> None:
        """Each pod goes to its node, or waits."""
        for pod, node in steps:
            index = self._cluster.pod_index.get(pod)
            if index is not None:
                self._node_of[index] = PENDING if node is None else self._nodes[node]

    def vanish(self, pod: str) -> bool:
        """The pod is gone for good; nothing is left to be taken."""
        self._node_of[self._cluster.pod_index[pod]] = GONE
        return False

    def at(self, pod: str, node: str) -> bool:
        """Whether the pod has arrived."""
        index = self._cluster.pod_index.get(pod)
        return index is None or int(self._node_of[index]) == self._nodes[node]

    def end(self, label: str, text: str, size: str = "") -> None:
        """The stage is over."""
        self._stages.append(Stage(label, text, self._node_of.copy(), size))

    def story(self) -> Story:
        """Stages beyond what anybody would step through become one."""
        stages = self._stages
        if len(stages) > STAGES:
            kept, last = stages[: STAGES - 1], stages[-1]
            text = f"The other {len(stages) - len(kept)} steps"
            stages = [*kept, Stage("The rest", text, last.node_of)]
        return Story(self._cluster, tuple(stages))
