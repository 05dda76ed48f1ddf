"""`Plan`: where pods should go, in which steps, and how sure that is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Document
from planner_models.notice import Notice
from planner_models.source import ClusterSource

PlanStatus = Literal["optimal", "feasible", "infeasible", "unknown"]
Action = Literal["evict", "place", "move", "cordon", "uncordon"]
HardRule = Literal["topologySpread", "nodeAffinity", "taints", "podAffinity", "podAntiAffinity"]
Stop = Literal["timeLimit", "interrupted", "rounds", "budgets", "placed"]


class AlsoEvicted(Document):
    """What was allowed to be evicted beyond the usual; `owners` are kinds that bring pods back."""

    bare_pods: bool = False
    local_storage: bool = False
    jobs: bool = False
    owners: tuple[str, ...] = ()


class PlanOptions(Document):
    """What was asked for; the same options over the same input give the same plan."""

    rebalance: bool = False
    relax: bool = False
    preempt: bool = False
    prefer: Literal["balance", "pack", "none"] = "none"
    max_moves: int | None = None
    move_cost: Literal["count", "priority"] = "count"
    time_limit: float
    seed: int = 0
    workers: int = 1
    allowed: AlsoEvicted | None = None


class Objective(Document):
    """One level of the lexicographic objective.

    `value` is what the plan reaches, `bound` what no plan can beat; they are equal where the level
    is proven. `direction` says whether more or less is better.
    """

    name: str
    value: int
    bound: int
    direction: Literal["max", "min"]


class Placement(Document):
    """A pod that is placed (`from` absent) or moved.

    `breaks` names the rules that it breaks there, which only `--relax` allows. A `synthesised` pod
    is one that planner made from its workload's template: it exists under no such name.
    """

    pod: str
    workload: str
    node: str
    from_: str | None = Field(default=None, alias="from")
    reason: str
    breaks: tuple[str, ...] = ()
    synthesised: bool = False


class Unplaced(Document):
    """A pod that has no node in the end, in one sentence; `planner explain` says more.

    `gated`: scheduling gates keep it out of the queue. `soon`: it finds a node by itself once pods
    have ended that are terminating already, on which no plan counts.
    """

    pod: str
    workload: str
    diagnosis: str
    gated: bool | None = None
    soon: bool | None = None


class PlanViolation(Document):
    """A hard rule that is broken in the final state, with its numbers.

    `constraint` says which rule of which workload, `field` where it stands. `count` pods are in the
    domain (or on the node) where `allowed` would be right; `minimum` is what spread measures from.
    `remedy` is the smallest change of the rule itself that makes it legal, where there is one.
    """

    constraint: str
    rule: HardRule
    workload: str
    field: str
    domain: str
    count: int
    allowed: int
    minimum: int | None = None
    remedy: str | None = None
    pods: tuple[str, ...] = ()


class Step(Document):
    """One thing to do. `node` is where a pod is placed, evicted from, or what is cordoned.

    A move is an eviction whose replacement lands at once, and has `from` and `to`. With `surge` the
    new pod starts before the old one goes, by its controller and not by an eviction. A `temporary`
    move is a hop: the replacement runs there until a later move, of the same `pod`, takes it on.
    """

    action: Action
    pod: str | None = None
    uid: str | None = None
    """Of a pod that is evicted, so that never another one of its name goes."""
    node: str | None = None
    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    surge: bool | None = None
    temporary: bool | None = None


class DownAtOnce(Document):
    """How many pods of a workload without a budget one wave takes down at once."""

    workload: str
    pods: int


class ReadyPods(Document):
    """How many pods of a controller (`ReplicaSet/web-5f787f47bf`) are ready once a wave is over.

    The next wave waits for these: the controller's pods that were ready to begin with or have
    found a node since, without those that the plan leaves waiting for a later wave. `wants` is how
    many pods the workload wanted when the plan was made, where it says a number.
    """

    namespace: str
    workload: str
    controller: str
    pods: int
    wants: int | None = None


class Wave(Document):
    """Steps that may be under way at the same time, in an order in which each of them is legal.

    `waitsFor` are workloads that have to be ready again before the wave begins, `ready` the pods
    that are ready once it is over.
    """

    steps: tuple[Step, ...]
    waits_for: tuple[str, ...] = ()
    ready: tuple[ReadyPods, ...] = ()
    unbudgeted: tuple[DownAtOnce, ...] = ()


class SchedulerReplay(Document):
    """Whether kube-scheduler's own choices, under how many tie seeds, end in the same counts."""

    seeds: int
    agrees: int


class PlanVerification(Document):
    """What the independent checker found; a plan that fails it is never shown.

    `admissible`: every step passes all filters at its moment (with `--relax`: those that are not
    relaxed). `whileTerminating`: also while evicted pods still hold their room. `steady`: nothing
    is broken in the end. `budgets` is false where a budget has to be suspended for the plan.
    """

    steady: bool
    admissible: bool
    capacity: bool
    while_terminating: bool | None = None
    budgets: bool | None = None
    scheduler_replay: SchedulerReplay | None = None
    doubts: tuple[str, ...] = ()


class PriorityCount(Document):
    """Pods of one priority that are placed, of those that wait."""

    priority: int
    placed: int
    pending: int


class Comparison(Document):
    """What kube-scheduler alone would reach on the same input (seed 0); it moves nothing.

    `displaced` are the victims of its preemption, which is only looked at with `--preempt`.
    """

    placed: int
    pending: int
    displaced: int = 0
    excess: int
    by_priority: tuple[PriorityCount, ...] = ()


class WorkloadChange(Document):
    """Counts per domain of one workload before and after; domains in the order of `domains`.

    `maxSkew` is that of its hard constraint over these domains, where that counts these very pods
    and something moves.
    `budget` is how many of its pods the tightest PodDisruptionBudget lets be down at once now.
    `controllers` own the pods that are counted, where something moves (`ReplicaSet/web-5f787`).
    """

    workload: str
    namespace: str
    controllers: tuple[str, ...] = ()
    topology_key: str | None = None
    max_skew: int | None = None
    domains: tuple[str, ...] = ()
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    placed: int = 0
    moved: int = 0
    unplaced: int = 0
    budget: int | None = None
    note: str = ""


class Alternative(Document):
    """What another option would reach, where that was tried."""

    option: Literal["--rebalance", "--relax"]
    placed: int
    moved: int
    excess: int
    moves: tuple[Placement, ...] = ()


class PlanStatistics(Document):
    """The size of what was solved; nothing here depends on the clock."""

    nodes: int
    pods: int
    groups: int
    variables: int
    cuts: int


class ProtectedPod(Document):
    """A pod that breaks a rule, or is on a node to be emptied, and can't be evicted."""

    pod: str
    node: str
    reason: str


class ProtectedCount(Document):
    """How many running pods are left alone for the same reason, and of which workloads."""

    reason: str
    pods: int
    workloads: tuple[str, ...] = ()


class Plan(Document):
    """The result of `planner solve`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Plan"] = "Plan"
    plan_id: str | None = None
    """What `planner apply` knows it by: a hash of all the rest. Absent without a known cluster."""
    source: ClusterSource | None = None
    status: PlanStatus
    stopped: Stop | None = None
    """Why there is no proof, if there is none.

    With `placed` it is proven that no plan places more, and fewer moves were not looked for.
    """
    options: PlanOptions
    objectives: tuple[Objective, ...] = ()
    placements: tuple[Placement, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    displaced: tuple[Unplaced, ...] = ()
    left_aside: tuple[Unplaced, ...] = ()
    protected: tuple[ProtectedPod, ...] = ()
    """With --rebalance: pods that still break a rule in the end, and why they stay."""
    left_alone: tuple[ProtectedCount, ...] = ()
    """With --rebalance: how many running pods stay in any case, by reason."""
    violations: tuple[PlanViolation, ...] = ()
    broken: tuple[PlanViolation, ...] = ()
    """With --relax: the rules that the plan itself breaks."""
    workloads: tuple[WorkloadChange, ...] = ()
    waves: tuple[Wave, ...] = ()
    evictions: int = 0
    """Restarts altogether: every move, and one more for every temporary hop."""
    hops: int = 0
    evictions_per_placed_pod: float | None = None
    """Evictions for each pending pod that gets a node, if there are both."""
    on_paper_only: bool = False
    """A better final state exists that no order of steps reaches."""
    excess_before: int = 0
    excess_after: int = 0
    greedy: Comparison
    alternatives: tuple[Alternative, ...] = ()
    verification: PlanVerification
    statistics: PlanStatistics
    notices: tuple[Notice, ...] = ()
