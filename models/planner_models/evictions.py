"""The `EvictionPlan` document: what `planner evict` says."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Document
from planner_models.notice import Notice
from planner_models.plan import (
    AlsoEvicted,
    PlanViolation,
    ProtectedCount,
    ProtectedPod,
    ReadyPods,
    Stop,
    WorkloadChange,
)
from planner_models.source import ClusterSource

Way = Literal["planner", "descheduler"]
RoundsEnd = Literal["settled", "loop", "limit"]


class EvictionLimits(Document):
    """How many evictions a plan may have; absent is no limit."""

    total: int | None = None
    per_node: int | None = None
    per_namespace: int | None = None


class EvictionOptions(Document):
    """What was asked for: `goals` are names of goals, `nodes` those to be emptied.

    Without `seeds` the usual 20 are tried, fewer where a plan is very large (`checkedSeeds`).
    `about` are the workloads (`shop/deploy/web`) of a question about a part of the pods.
    """

    goals: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    seeds: int | None = None
    limits: EvictionLimits = EvictionLimits()
    max_unavailable: int | None = None
    priority_threshold: int | None = None
    allowed: AlsoEvicted | None = None
    about: tuple[str, ...] | None = None


class PlannedEviction(Document):
    """A pod to evict, and where its replacement is expected: every node that may be chosen.

    `rule` is the kind of rule that it breaks where it is, absent if it only makes room.
    `controller` is who makes the replacement (`ReplicaSet/web-5f787f47bf`).
    """

    pod: str
    uid: str = ""
    workload: str
    controller: str | None = None
    node: str
    wave: int
    rule: str | None = None
    reason: str
    expected_nodes: tuple[str, ...] = ()


class EvictionLanding(Document):
    """Where a pod is once a wave is over, if ties are broken by name; without a node it waits."""

    pod: str
    node: str | None = None


class DomainCounts(Document):
    """So many pods of a workload run in each domain; without a topology key, all together."""

    namespace: str
    workload: str
    topology_key: str | None = None
    counts: dict[str, int]


class EvictionWave(Document):
    """Evictions that may be asked for together.

    `cordon` are nodes that take no pods until the wave is over, `drain` those that stay cordoned.
    With `hold` the cordons are lifted only when the next wave has set its own.
    The wave is over when as many pods as `ready` says are ready again (of the workloads of
    `waitFor`); `pending` pods may be left waiting until a later wave makes room. `landings` are all
    pods that are elsewhere after it, `promises` the counts of the workloads that lose pods, and
    `excess` is what rules are still broken by then; all of them if ties are broken by name.
    """

    number: int
    evictions: tuple[str, ...]
    cordon: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    hold: bool = False
    wait_for: tuple[str, ...] = ()
    ready: tuple[ReadyPods, ...] = ()
    pending: int = 0
    landings: tuple[EvictionLanding, ...] = ()
    promises: tuple[DomainCounts, ...] = ()
    excess: int = 0


class Promised(Document):
    """What the end of a plan is measured by: at most so much is broken, and so many pods wait."""

    excess: int
    waiting: int


class Convergence(Document):
    """In how many of `seeds` tie seeds and orders of arrival the plan ends as planned.

    `gone`: if an evicted pod is gone when its replacement is placed; `terminating`: if it is still
    there. `replanned`: if a new plan is made after every wave, which is looked at only where the
    plan itself does not always end well.
    """

    seeds: int
    gone: int
    terminating: int
    replanned: int | None = None
    replanned_of: int | None = None


class Situation(Document):
    """Hard rules that are broken, what they add up to, and pods that wait."""

    excess: int
    pending: int
    violations: tuple[PlanViolation, ...] = ()


class Baseline(Document):
    """What a strategy of the descheduler would do, round after round, on the same cluster.

    `refused` evictions ran into a budget in the first round. `violationsAfter` is the excess that
    is left. `loops`: the rounds lead back to where they began; `loop` says so in a sentence.
    """

    strategy: str
    aim: str
    evictions: int
    rounds: int
    loops: bool
    loop: str | None = None
    violations_after: int
    pending_after: int = 0
    refused: int = 0


class DeschedulerEviction(Document):
    """One eviction by the descheduler; `target` is absent where the replacement waits."""

    pod: str
    workload: str
    strategy: str
    reason: str
    from_: str = Field(alias="from")
    target: str | None = None
    comes_back: bool = True


class DeschedulerRound(Document):
    """One run of the descheduler, and pods without a node after it."""

    number: int
    evictions: tuple[DeschedulerEviction, ...] = ()
    refused: int = 0
    waiting: tuple[str, ...] = ()


class LikeDescheduler(Document):
    """What the descheduler would do under a policy; only with `--like-descheduler`."""

    policy: str
    end: RoundsEnd
    loop: str | None = None
    rounds: tuple[DeschedulerRound, ...] = ()


class NotEmptied(Document):
    """A node that keeps pods although it was to be emptied, or looked at for that, and why."""

    node: str
    pods: tuple[str, ...]
    reason: str


class PlanPart(Document):
    """Which wave of how many a document shows, and how many evictions the whole plan has.

    `excessBefore` and `excessAfter` are those of the wave; `after` of the document is where the
    whole plan ends.
    """

    wave: int
    waves: int
    evictions: int
    excess_before: int
    excess_after: int


class EvictionPlan(Document):
    """The result of `planner evict`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["EvictionPlan"] = "EvictionPlan"
    plan_id: str | None = None
    """What `planner apply` knows it by: a hash of all the rest. Absent without a known cluster."""
    source: ClusterSource | None = None
    way: Way = "planner"
    options: EvictionOptions
    evictions: tuple[PlannedEviction, ...] = ()
    waves: tuple[EvictionWave, ...] = ()
    part: PlanPart | None = None
    """With --wave: the evictions and waves are a part of the plan."""
    without_limits: int | None = None
    """With a run policy whose limits leave something to do: the evictions of a plan without."""
    fewest: bool = False
    """No plan with fewer evictions reaches the same, whatever nodes are chosen: proven."""
    stopped: Stop | None = None
    """Why that is not proven, where the search was cut short."""
    converges: bool
    checked_seeds: int
    convergence: Convergence
    before: Situation
    after: Situation
    promised: Promised | None = None
    """What every seed keeps to, if it converges; `after` is told if ties are broken by name."""
    state: str | None = None
    """A fingerprint of the cluster that it was made for."""
    workloads: tuple[WorkloadChange, ...] = ()
    """Those that lose pods on the way, with their counts per domain before and after."""
    protected: tuple[ProtectedPod, ...] = ()
    left_alone: tuple[ProtectedCount, ...] = ()
    not_emptied: tuple[NotEmptied, ...] = ()
    """With nodes to empty: those that are not, a line for each reason."""
    baselines: tuple[Baseline, ...] = ()
    like_descheduler: LikeDescheduler | None = None
    budgets: tuple[str, ...] = ()
    """Budgets that the evictions have to wait for, wave by wave."""
    nodes: int = 0
    pods: int = 0
    notices: tuple[Notice, ...] = ()
