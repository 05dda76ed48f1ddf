"""`Inspection`: what planner read, and how steady it is."""

from __future__ import annotations

from typing import Literal

from planner_models.base import Document
from planner_models.notice import Notice
from planner_models.source import ClusterSource

Unit = Literal["milliCores", "bytes", "pieces"]


class Utilisation(Document):
    """What pods request of one resource, and what nodes offer, in `unit`.

    `percent` is rounded; it is absent where nothing is offered.
    """

    resource: str
    unit: Unit
    requested: int
    allocatable: int
    percent: int | None = None


class Flavour(Document):
    """Nodes of one kind: the same instance type, or else the same allocatable CPU and memory."""

    name: str
    nodes: int


class ZoneInspection(Document):
    """One zone; without `zone` it stands for the nodes that lack the label.

    `pods` are all that use room on its nodes, terminating ones included.
    """

    zone: str | None = None
    nodes: int
    pods: int
    flavours: tuple[Flavour, ...]
    utilisation: tuple[Utilisation, ...]


class NodeInspection(Document):
    """All nodes. `zoneKey` is the label that zones were told by, absent if no node has one.

    `cordonedByPlanner` are nodes that carry a cordon of `planner apply` or of one of its scripts.
    """

    total: int
    cordoned: int
    cordoned_by_planner: tuple[str, ...] | None = None
    not_ready: int
    zone_key: str | None = None
    zones: tuple[ZoneInspection, ...]
    flavours: tuple[Flavour, ...]


class PodInspection(Document):
    """How many pods are in which state; running, pending, terminating, elsewhere add up.

    `running` pods have a node of the input, `elsewhere` ones another node; `terminating` ones still
    use their room, but spread no longer counts them. `finished` pods are in no other number. Of the
    pending ones, `synthesised` were made from templates and `gated` wait for a scheduling gate.
    `otherScheduler` pods, in whatever state, are not kube-scheduler's.
    """

    running: int
    pending: int
    terminating: int
    elsewhere: int
    finished: int
    synthesised: int
    gated: int
    other_scheduler: int


class WorkloadName(Document):
    """A controller, or a pod that has none."""

    namespace: str
    kind: str
    name: str


class WorkloadInspection(WorkloadName):
    """One workload; `desired` is absent where the controller says no number or is not known.

    `budgets` are the PodDisruptionBudgets that select its pods.
    """

    desired: int | None = None
    running: int
    pending: int
    terminating: int
    elsewhere: int
    budgets: tuple[str, ...] = ()


class DomainCount(Document):
    """Matching pods in one eligible domain; `excess` is max(0, count - minimum - maxSkew)."""

    domain: str
    count: int
    excess: int


class SpreadViolation(Document):
    """A hard spread constraint with a domain above minimum + maxSkew.

    `workloads` are those whose pods have the constraint; `field` is where the first one has it.
    """

    workloads: tuple[WorkloadName, ...]
    field: str
    topology_key: str
    max_skew: int
    min_domains: int | None = None
    minimum: int
    domains: tuple[DomainCount, ...]
    excess: int


class SpreadInspection(Document):
    """All distinct hard spread constraints; the cluster is steady if `excess` is 0."""

    constraints: int
    excess: int
    violations: tuple[SpreadViolation, ...]


class Inspection(Document):
    """What a cluster holds: nodes, pods, workloads, utilisation, spread, and what was odd."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Inspection"] = "Inspection"
    source: ClusterSource | None = None
    nodes: NodeInspection
    pods: PodInspection
    utilisation: tuple[Utilisation, ...]
    workloads: tuple[WorkloadInspection, ...]
    budgets: int
    without_budget: tuple[WorkloadName, ...]
    spread: SpreadInspection
    notices: tuple[Notice, ...]
