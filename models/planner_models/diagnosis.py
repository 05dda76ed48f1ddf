"""`Diagnosis`: why pods can't run, and the smallest changes that let them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from planner_models.base import Document
from planner_models.node_plan import NodesToAdd
from planner_models.notice import Notice
from planner_models.plan import Wave
from planner_models.source import ClusterSource

Verdict = Literal["schedulable", "stuck", "impossible", "undecided", "gated"]

RuleKind = Literal[
    "topologySpread",
    "nodeAffinity",
    "taints",
    "capacity",
    "podAffinity",
    "podAntiAffinity",
    "podAntiAffinityOfOthers",
    "ports",
    "volumes",
    "unschedulable",
    "nodeName",
    "declaredFeatures",
    "replicas",
]

RepairKind = Literal[
    "raiseMaxSkew",
    "scheduleAnyway",
    "lowerMinDomains",
    "nodeTaintsPolicy",
    "nodeAffinityPolicy",
    "deletePod",
    "movePods",
    "addToleration",
    "relaxAffinity",
    "relaxAntiAffinity",
    "addNodeAffinity",
    "dropHostPort",
    "topologyKey",
    "labelNode",
    "nodeCondition",
    "lowerRequest",
    "freeCapacity",
    "scale",
    "preemptionPolicy",
    "addNode",
    "uncordon",
    "recreateVolume",
    "combined",
    "fewerNodes",
    "rolloutRestart",
    "changeBudget",
    "drainOption",
    "deleteNode",
]


class ConflictFact(Document):
    """One rule of a conflict in the user's words, with the field that states it and its numbers."""

    kind: RuleKind
    object: str
    field: str
    name: str
    text: str
    facts: dict[str, JsonValue] = Field(default_factory=dict)


class Conflict(Document):
    """Rules that together leave no node.

    `minimal` is said only if dropping any one of them, as a verdict and from the pod's spec,
    lets a node pass, and the others alone still leave none.
    """

    constraints: tuple[ConflictFact, ...]
    minimal: bool


class Change(Document):
    """The value of a field before and after."""

    from_: JsonValue = Field(default=None, alias="from")
    to: JsonValue = None


class Move(Document):
    """A running pod that goes to another node; `to` is one of those that take it."""

    pod: str
    from_: str = Field(alias="from")
    to: str | None = None


class Repair(Document):
    """A change that was tried on a copy and lets the targets run.

    `thenNodes` are the nodes that would take the pod. `restarts` counts the pods that a changed
    template rolls out; `judgedFor` says whether the running replicas were given the change too.
    `notes` are its price and its limits in words.
    """

    kind: RepairKind
    object: str
    field: str = ""
    change: Change | None = None
    cost: int
    restarts: int = 0
    data_loss: bool = False
    then_nodes: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    verified: bool = True
    judged_for: Literal["pod", "rollout"] = "pod"
    text: str
    then: str = ""
    notes: tuple[str, ...] = ()
    command: str | None = None
    """What to run: a patch of the template, a new pod from a patched copy, or another command."""
    diff: str = ""
    """The changed fields of an object that can't be patched in its place."""
    for_all: bool = True
    """Whether every pod that was asked about runs then, not only the first that has no node."""
    parts: tuple[Repair, ...] = ()
    """The single changes of a combined repair."""


class RearrangementStep(Document):
    """An eviction or a placement."""

    action: Literal["evict", "place", "cordon", "uncordon"]
    pod: str | None = None
    node: str
    returns_as: str = ""
    """Of an evicted pod that lands: the name of its successor, as far as it is known."""
    any_of: str = ""
    """All nodes that would take the pod at that moment, in words."""
    note: str = ""


class Rearrangement(Document):
    """The fewest evictions that make room, in an order that passes the filters step by step."""

    evictions: int
    fewest: bool
    """Whether it is proven that fewer can't do."""
    at_least: int = 1
    """No sequence needs fewer evictions than this."""
    steps: tuple[RearrangementStep, ...]
    moves: tuple[Move, ...] = ()
    waves: tuple[Wave, ...] = ()
    """The same steps, those together that budgets allow at once."""
    beyond_budgets: tuple[str, ...] = ()
    """Budgets that some wave can't keep, whatever the order."""
    checked: str = ""
    """What kube-scheduler's own choices make of it."""


class NodeClass(Document):
    """Nodes that the same rules refuse, with the numbers they share.

    `first` is the rule that the derivation removes them by; `blockedBy` are all of them.
    """

    nodes: int
    which: str
    names: tuple[str, ...]
    first: str
    blocked_by: tuple[str, ...]


class Counting(Document):
    """A counting argument and its numbers; `checked` says that code found it to hold."""

    kind: Literal["static", "pigeonhole", "capacity", "pinned", "domains", "search"]
    text: str
    numbers: dict[str, JsonValue] = Field(default_factory=dict)
    checked: bool = True


class WorkloadShare(Document):
    """How many pods of a workload run if it comes alone, and if another one comes first."""

    workload: str
    pending: int
    priority: int
    alone: int
    if_first: dict[str, int] = Field(default_factory=dict)


class Diagnosis(Document):
    """The result of `planner explain` for one pod, or for several that are judged together."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Diagnosis"] = "Diagnosis"
    source: ClusterSource | None = None
    targets: tuple[str, ...]
    workloads: tuple[str, ...] = ()
    verdict: Verdict
    without_node: int | None = None
    """How many of several targets the verdict is about: the others find a node."""
    on_paper_only: bool = False
    headline: str
    where: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    """A map of two topologies that cross, line by line."""
    narrative: tuple[str, ...] = ()
    rearranging: tuple[str, ...] = ()
    """Why no rearrangement helps, or what it needs."""
    counting: Counting | None = None
    rearrangement: Rearrangement | None = None
    conflicts: tuple[Conflict, ...] = ()
    more_conflicts: bool = False
    """Whether there are minimal conflicts beyond those listed."""
    repairs: tuple[Repair, ...] = ()
    nodes_to_add: NodesToAdd | None = None
    """The cheapest nodes of the given pools for all pods that were asked about."""
    not_listed: tuple[str, ...] = ()
    """Changes that suggest themselves and don't help, each with the reason."""
    hints: tuple[Notice, ...] = ()
    displaces: tuple[str, ...] = ()
    """Pods that would lose their place to preemption."""
    displacing: str = ""
    node_classes: tuple[NodeClass, ...] = ()
    """Nodes by all the rules that refuse them."""
    first_reasons: tuple[NodeClass, ...] = ()
    """Nodes by the rule of the conflict that removes them first, where there are many nodes."""
    nodes_table: tuple[tuple[str, ...], ...] = ()
    """Every node with every rule, header first, where there are few nodes."""
    feasible_nodes: tuple[str, ...] = ()
    message: str = ""
    event: str = ""
    proof: tuple[str, ...] = ()
    short: str = ""
    """The cause in a few words, for summaries."""
    remedy: str = ""
    """What helps, in a few words."""
    shares: tuple[WorkloadShare, ...] = ()
    parts: tuple[Diagnosis, ...] = ()
    """One diagnosis per workload, where several were asked for."""
    notices: tuple[Notice, ...] = ()
