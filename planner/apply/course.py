"""A plan as it is carried out, whatever kind of document it was reviewed as."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner.disruption.movability import MovePolicy
from planner.drain.options import DrainOptions
from planner_models.drain import DrainPlan
from planner_models.evictions import EvictionPlan, EvictionWave, PlannedEviction, Promised
from planner_models.plan import ReadyPods, WorkloadChange
from planner_models.source import ClusterSource


@dataclass(frozen=True)
class Departure:
    """A pod to evict, and the nodes on which another one of its controller is expected.

    `controller` is `ReplicaSet/web-5f787f47bf`; without one nobody makes the pod anew.
    """

    pod: str
    uid: str
    workload: str
    controller: str | None
    node: str
    expected: tuple[str, ...]
    reason: str = ""

    @property
    def lost(self) -> bool:
        """Whether nobody makes it anew."""
        return self.controller is None

    @property
    def controller_key(self) -> str:
        """`shop/ReplicaSet/web-5f787f47bf`."""
        return f"{self.namespace}/{self.controller}"

    @property
    def namespace(self) -> str:
        """Of the pod."""
        return self.pod.partition("/")[0]

    @property
    def name(self) -> str:
        """Of the pod."""
        return self.pod.partition("/")[2]


@dataclass(frozen=True)
class CourseWave:
    """Pods that are evicted together, and cordons meanwhile; `drain` stay cordoned.

    `pending` pods may be left waiting when it is over.
    """

    number: int
    departures: tuple[Departure, ...]
    cordon: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    hold: bool = False
    pending: int = 0
    ready: tuple[ReadyPods, ...] = ()

    def without(self, uids: Iterable[str]) -> CourseWave:
        """The same without pods that have gone."""
        gone = frozenset(uids)
        left = tuple(each for each in self.departures if each.uid not in gone)
        return replace(self, departures=left)


@dataclass(frozen=True)
class Course:
    """Waves, what they reach, and under which policy the plan was made.

    `about` are the only workloads whose rules count; `counts` what a rebalance promises of each.
    """

    plan_id: str
    command: str
    source: ClusterSource
    waves: tuple[CourseWave, ...]
    seeds: int
    converges: bool
    policy: MovePolicy
    promised: Promised
    excess_before: int
    excess_after: int
    waiting_before: int | None = None
    """Pods that waited when the plan was made, where it says so."""
    goals: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    priority_threshold: int | None = None
    max_unavailable: int | None = None
    about: tuple[str, ...] | None = None
    counts: tuple[WorkloadChange, ...] = ()
    workloads: tuple[WorkloadChange, ...] = ()
    """Over which domains the plan counts pods."""
    state: str | None = None
    selected: bool = False
    """A drain of some pods only (--pod-selector): others may stay."""

    @property
    def departures(self) -> tuple[Departure, ...]:
        """All pods to evict."""
        return tuple(each for wave in self.waves for each in wave.departures)

    def wave_of(self, uid: str) -> int:
        """The number of the wave in which the pod is evicted."""
        return next(w.number for w in self.waves for each in w.departures if each.uid == uid)


def course_of_evictions(document: EvictionPlan) -> Course:
    """An eviction plan, which was tried as it stands."""
    asked, allowed = document.options, document.options.allowed
    policy = MovePolicy()
    if allowed is not None:
        policy = MovePolicy(
            bare_pods=allowed.bare_pods,
            local_storage=allowed.local_storage,
            jobs=allowed.jobs,
            owners=frozenset(allowed.owners),
        )
    after = Promised(excess=document.after.excess, waiting=document.after.pending)
    return Course(
        plan_id=document.plan_id or "",
        command="evict",
        source=document.source or ClusterSource(),
        waves=_waves(document.evictions, document.waves),
        seeds=document.checked_seeds,
        converges=document.converges,
        policy=policy,
        promised=document.promised or after,
        excess_before=document.before.excess,
        excess_after=document.after.excess,
        waiting_before=document.before.pending,
        goals=asked.goals,
        nodes=asked.nodes,
        priority_threshold=asked.priority_threshold,
        max_unavailable=asked.max_unavailable,
        about=asked.about,
        workloads=document.workloads,
        state=document.state,
    )


def course_of_drain(document: DrainPlan) -> Course:
    """A drain of one round."""
    (only,) = document.rounds
    owners = frozenset(document.options.owners or ())
    options = DrainOptions(
        (),
        force=document.options.force,
        delete_emptydir_data=document.options.delete_emptydir_data,
        owners=owners,
    )
    return Course(
        plan_id=document.plan_id or "",
        command="drain",
        source=document.source or ClusterSource(),
        waves=_waves(document.evictions, only.waves),
        seeds=document.checked_seeds,
        converges=document.converges,
        policy=options.policy,
        promised=document.promised or Promised(excess=0, waiting=0),
        excess_before=document.leaving,
        excess_after=0,
        nodes=document.nodes,
        max_unavailable=document.options.max_unavailable,
        state=document.state,
        selected=document.options.pod_selector is not None,
    )


def _waves(
    evictions: Sequence[PlannedEviction], waves: Sequence[EvictionWave]
) -> tuple[CourseWave, ...]:
    return tuple(
        CourseWave(
            wave.number,
            tuple(_departure(each) for each in evictions if each.wave == wave.number),
            wave.cordon,
            wave.drain,
            wave.hold,
            wave.pending,
            wave.ready,
        )
        for wave in waves
    )


def _departure(each: PlannedEviction) -> Departure:
    return Departure(
        each.pod,
        each.uid,
        each.workload,
        each.controller,
        each.node,
        each.expected_nodes,
        each.reason,
    )
