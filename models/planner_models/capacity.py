"""`Capacity`: how many more pods fit, what stops the next one, and what would make more room."""

from __future__ import annotations

from typing import Literal

from planner_models.base import Document
from planner_models.node_plan import NodesToAdd
from planner_models.notice import Notice
from planner_models.source import ClusterSource

CountStatus = Literal["proven", "open"]


class CapacitySubject(Document):
    """What is counted: a workload, or a pod that does not exist yet; of a mix so many each time."""

    workload: str
    ratio: int = 1
    running: int = 0


class StopReason(Document):
    """A rule that stops the next pod, and on how many nodes."""

    rule: str
    nodes: int
    field: str = ""


class DomainCount(Document):
    """More pods in one domain."""

    domain: str
    count: int


class LargestRoom(Document):
    """A resource of which no node has enough free: the most on one node, and in all.

    CPU is in thousandths, other resources as they are.
    """

    resource: str
    asked: int
    most: int
    node: str
    free: int


class CapacityNow(Document):
    """What kube-scheduler itself reaches, one pod after the other."""

    count: int
    largest_room: LargestRoom | None = None
    """Where not even one fits, though its resource alone would let it."""
    per_domain: tuple[DomainCount, ...] = ()
    stops_at: tuple[StopReason, ...] = ()
    stopped_by: str = ""
    """Of a mix: the member that finds no node first."""
    limited: str = ""
    """A quota or a limit of the search that ended the count before any node refused."""


class CapacityBest(Document):
    """The most that any choice of nodes reaches while running pods stay."""

    count: int
    bound: int
    status: CountStatus


class CapacityWithin(Document):
    """The most that so many moves of other pods make room for, and no more than `bound`."""

    moves: int
    count: int
    bound: int
    status: CountStatus


class CurvePoint(Document):
    """So many more pods with so many moves of others; `atLeast` is the proven number of moves."""

    count: int
    moves: int
    at_least: int = 0
    status: CountStatus
    per_domain: tuple[DomainCount, ...] = ()


class UpperBound(Document):
    """No arrangement holds more than this, and why."""

    count: int
    why: str


class FailsAt(Document):
    """The next number, and the domain whose loss leaves pods waiting then."""

    count: int
    domain: str
    waiting: int


class Survival(Document):
    """How many more pods fit so that every single failure still leaves nobody waiting."""

    kind: Literal["zone", "node"]
    manner: Literal["removed", "unreachable"]
    count: int
    at_best: int = 0
    """What ties may let survive, where they decide."""
    per_domain: tuple[DomainCount, ...] = ()
    checked_seeds: int = 1
    """0: counted once each domain is lost, where the cluster is too large to place them before."""
    fails_at: FailsAt | None = None
    fails_now: FailsAt | None = None
    """A failure that leaves pods waiting without any more pods."""
    silent_now: FailsAt | None = None
    """The same while its nodes are only unreachable, if removed ones leave nobody waiting."""


class CapacityCost(Document):
    """Nodes for so many more pods, and the moves that would make room for as many; 0: none do."""

    count: int
    moves: int
    nodes: NodesToAdd


class CapacityLine(Document):
    """One workload, or one mix."""

    subject: tuple[CapacitySubject, ...]
    now: CapacityNow
    best: CapacityBest | None = None
    within: CapacityWithin | None = None
    curve: tuple[CurvePoint, ...] = ()
    bound: UpperBound | None = None
    survive: Survival | None = None
    cost: tuple[CapacityCost, ...] = ()
    """Of new nodes, if pools were given."""
    remarks: tuple[str, ...] = ()


class Capacity(Document):
    """The result of `planner capacity`; several lines are each alone, not together."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Capacity"] = "Capacity"
    source: ClusterSource | None = None
    nodes: int
    topology_key: str | None = None
    """By which `perDomain` counts."""
    lines: tuple[CapacityLine, ...]
    not_counted: tuple[str, ...] = ()
    """Workloads without a number of replicas, with the reason."""
    notices: tuple[Notice, ...] = ()
