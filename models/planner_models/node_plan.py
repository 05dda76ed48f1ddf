"""`NodePlan`: which nodes to add for the pods that wait, and what is proven about it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Document
from planner_models.evictions import EvictionWave, PlannedEviction
from planner_models.notice import Notice
from planner_models.source import ClusterSource

NodePlanStatus = Literal["optimal", "feasible", "impossible", "undecided"]
"""`optimal`: proven the cheapest. `feasible`: all pods run, at a cost not proven the least.
`impossible`: proven that no set is an answer. `undecided`: none was found, none is excluded."""
SideEffectKind = Literal["newDomain", "uneven"]


class NewNode(Document):
    """The nodes of an addition, as the API server would show them; `allocatable` as in a Node."""

    names: tuple[str, ...]
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()
    allocatable: dict[str, str] = Field(default_factory=dict)


class AddedNodes(Document):
    """So many nodes of a pool in a zone, and the waiting pods that they get under tie seed 0."""

    pool: str
    zone: str = ""
    nodes: int
    batch: int = 1
    """They come when kube-scheduler has placed whoever finds room on those of the batch before."""
    price: float | None = None
    """Of one node, for an hour."""
    pods: dict[str, int] = Field(default_factory=dict)
    cpu_requested: str
    """By all pods that are then there."""
    cpu: str
    template: NewNode


class UsedNode(Document):
    """A node that is there already, and gets pods once the new ones are there, too."""

    node: str
    zone: str = ""
    pods: dict[str, int]
    cpu_requested: str
    cpu: str


class NodeCount(Document):
    """So many nodes of a pool in a zone."""

    pool: str
    zone: str = ""
    nodes: int


class NodesToAdd(Document):
    """The cheapest nodes for some pods in short: how many of them still wait then."""

    status: NodePlanStatus
    objective: Literal["price", "nodes", "cpu"]
    pods: int
    waiting: int = 0
    """Those that no node of the pools takes among them."""
    adds: tuple[NodeCount, ...] = ()
    cost: float = 0


class WaitingPods(Document):
    """Pods of a workload that still wait, and the rules that keep them off every node."""

    workload: str
    pods: int
    rules: tuple[str, ...] = ()


class StuckRollout(Document):
    """A rollout that would end with so many pods waiting."""

    workload: str
    waiting: int
    of: int
    message: str = ""


class SurvivedFailures(Document):
    """Failures that leave nobody waiting with the new nodes, each tried; lost nodes are removed."""

    kind: Literal["zone", "node"]
    tried: int


class NodeAlternative(Document):
    """Nodes that cost no more and are no answer; each was tried."""

    adds: tuple[NodeCount, ...]
    nodes: int
    cost: float
    waiting: tuple[WaitingPods, ...] = ()
    stuck_rollouts: tuple[StuckRollout, ...] = ()
    lost: str = ""
    """The zone or node after whose loss so many pods would wait."""
    waiting_then: int = 0


class NodeBaseline(Document):
    """What another autoscaler would add, by its published rules; not its own answer."""

    tool: str
    emulated: Literal[True] = True
    adds: tuple[NodeCount, ...] = ()
    nodes: int
    cost: float
    rounds: int
    """How often it decides, until nobody waits or it adds nothing that helps."""
    waiting: int
    """Pods that wait when kube-scheduler has filled its nodes."""
    stuck_rollouts: tuple[StuckRollout, ...] = ()
    """Rollouts that its nodes would stop; tried where they cost no more than planner's."""


class Fills(Document):
    """Under how many tie seeds kube-scheduler itself places all pods on these nodes."""

    seeds: int
    agree: int


class TriedRollouts(Document):
    """Deployments whose next rollout was tried with the new nodes: none that completes stops."""

    workloads: int
    seeds: int


class NodeSideEffect(Document):
    """What the nodes change for others."""

    kind: SideEffectKind
    workloads: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    excess: int = 0


class NodeMoves(Document):
    """Running pods that may move, too: which to evict once the new nodes are there, in waves.

    Without evictions no moves were found that save anything. Waves are tried from the moment the
    nodes join, under `checkedSeeds` tie seeds, each with the evicted pod gone and with it still
    terminating when its replacement is placed: nobody of the pods that the plan is for waits then.
    """

    limit: int
    """So many pods may be evicted (`--moves`)."""
    evictions: tuple[PlannedEviction, ...] = ()
    waves: tuple[EvictionWave, ...] = ()
    fewest: bool = False
    """No nodes of as little cost, and as few, are enough with fewer evictions: proven."""
    checked_seeds: int = 0
    budgets: tuple[str, ...] = ()
    """Budgets that the evictions have to wait for, wave by wave."""
    without: NodesToAdd
    """The nodes that nobody has to move for."""
    saved: float = 0
    """What the evictions save, in the unit of the cost; 0 if more pods run by them instead."""


class MovesInstead(Document):
    """So many evictions would make these nodes enough (`--moves`): tried like an answer."""

    moves: int
    adds: tuple[NodeCount, ...] = ()
    nodes: int
    cost: float
    saved: float


class NodesOnPaper(Document):
    """Nodes that would do if pods went where they fit best, and not where kube-scheduler puts them.

    Between `bound` and `cost` is what no closer packing was found for; between this cost and that
    of the answer is what kube-scheduler's own choices cost, or the search for an answer. The place
    of every pod was checked in the final state: it could be bound there, were it the last one.
    Rollouts and failures take no part.
    """

    adds: tuple[NodeCount, ...]
    nodes: int
    cost: float
    bound: float
    """No nodes cost less on which all pods can land one after the other, whoever decides where."""
    gap: float
    """1 - bound / cost."""
    checked_pods: int
    """Pods that have a place."""
    waiting: tuple[WaitingPods, ...] = ()
    """Whom kube-scheduler leaves waiting on these nodes, under the tie seed that leaves most."""
    seeds: int
    """Tie seeds that were tried."""


class NeverRunning(Document):
    """A pod that no node of any pool takes."""

    pod: str
    workload: str
    reason: str


class NodePlan(Document):
    """The result of `planner scale-up`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["NodePlan"] = "NodePlan"
    source: ClusterSource | None = None
    status: NodePlanStatus
    objective: Literal["price", "nodes", "cpu"]
    pending: int
    """Pods that wait after kube-scheduler has placed what it can."""
    adds: tuple[AddedNodes, ...] = ()
    there: tuple[UsedNode, ...] = ()
    cost: float = 0
    bound: float | None = None
    """No answer costs less; absent if no set of nodes is one."""
    on_paper: NodesOnPaper | None = None
    """Where `status` is `feasible`. Absent with evictions, where all sets that come at once were
    looked at, where no model can hold the rules, and if what was found did not stand the check."""
    fills: Fills
    waiting: tuple[WaitingPods, ...] = ()
    never: tuple[NeverRunning, ...] = ()
    left_out: tuple[str, ...] = ()
    """Pods that kube-scheduler does not look at: gated, or another scheduler's."""
    rollouts: TriedRollouts | None = None
    survives: SurvivedFailures | None = None
    """Absent if nothing had to be survived, or no nodes were found that do."""
    batches: int = 1
    """In so many batches nodes may come (`--batches`). `optimal` and `bound` are then about sets in
    so many batches if the answer has more than one, else about those that come at once."""
    zones: Literal["given", "used"] = "used"
    """With `given`, every zone of the pools has a node then."""
    side_effects: tuple[NodeSideEffect, ...] = ()
    moves: NodeMoves | None = None
    """With `--moves`."""
    moves_instead: MovesInstead | None = None
    """Without `--moves`: 1 to 10 evictions that would save something, if some were soon found."""
    alternatives: tuple[NodeAlternative, ...] = ()
    baselines: tuple[NodeBaseline, ...] = ()
    """For the same pods; none was asked for, nothing waits, or pods have volumes."""
    tried_sets: int = 0
    time_limit: float
    notices: tuple[Notice, ...] = ()
