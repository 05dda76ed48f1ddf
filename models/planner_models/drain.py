"""The `DrainPlan` document: what `planner drain` says."""

from __future__ import annotations

from typing import Literal

from planner_models.base import Document
from planner_models.diagnosis import Conflict, Repair
from planner_models.evictions import Convergence, EvictionWave, PlannedEviction, Promised
from planner_models.notice import Notice
from planner_models.plan import ProtectedCount, Stop
from planner_models.source import ClusterSource

DrainStatus = Literal["possible", "impossible", "undecided"]
Survive = Literal["zone", "node", "none"]

BlockedBy = Literal[
    "budgetNever",
    "budgetNow",
    "severalBudgets",
    "rule",
    "ruleBehindBudget",
    "volume",
    "barePod",
    "localStorage",
    "annotation",
    "job",
    "notReplaced",
    "unknownOwner",
    "otherScheduler",
    "resourceClaim",
    "nodeNotReady",
    "priority",
    "unknown",
]
"""Why a pod can't leave; `unknown`: no way was found, and none is excluded."""


class DrainOptions(Document):
    """What was asked for, beside the nodes."""

    force: bool = False
    delete_emptydir_data: bool = False
    pod_selector: str | None = None
    max_unavailable: int | None = None
    seeds: int | None = None
    rolling: bool = False
    nodes_at_once: int | None = None
    extra_nodes: int = 0
    most: bool = False
    keep: str | None = None
    survive: Survive = "none"
    owners: tuple[str, ...] | None = None
    """Kinds of owners that were trusted to bring pods back."""


class DrainEviction(PlannedEviction):
    """A pod to evict in a round; `lost`: nobody makes it anew.

    `again`: an earlier round has evicted it already, so that it has another name by then.
    """

    round: int = 1
    lost: bool = False
    again: bool = False


class DrainRound(Document):
    """Nodes that are emptied together.

    They are cordoned first, and stay so unless `uncordon` names them: those are back, empty, before
    the next round. `extraNodes` are new nodes that the round needs.
    """

    nodes: tuple[str, ...]
    extra_nodes: tuple[str, ...] = ()
    waves: tuple[EvictionWave, ...] = ()
    uncordon: tuple[str, ...] = ()


class BudgetShare(Document):
    """A budget that lets so many of its `pods` on the nodes go at once."""

    budget: str
    pods: int
    at_once: int


class DrainBounds(Document):
    """What no drain of these nodes beats; absent where nothing is known.

    `tightest` is the budget that the number of waves comes from.
    """

    evictions: int | None = None
    waves: int | None = None
    rounds: int | None = None
    tightest: BudgetShare | None = None


class KeptInDomain(Document):
    """So many of a domain's nodes have to stay, for what hard spread keeps there requests."""

    topology_key: str
    domain: str
    keeps: int
    nodes: int
    requested: dict[str, int]


class AtOnce(Document):
    """How many of the nodes can be empty together at the most; `domains` where they say so."""

    most: int
    domains: tuple[KeptInDomain, ...] = ()


class LaterRounds(Document):
    """Rounds that are only counted: `evictions` are the pods on their nodes by then."""

    rounds: int
    nodes: int
    evictions: int


class DrainChoice(Document):
    """One shape of rounds that was planned."""

    rounds: int | None = None
    nodes_at_once: int
    extra_nodes: int = 0
    evictions: int | None = None
    waves: int | None = None
    status: DrainStatus
    per_domain: int | None = None
    topology_key: str | None = None
    """Set where all nodes of a domain of this key go at once."""


class BlockedPod(Document):
    """A pod that can't leave its node, and what keeps it there.

    `object` and `field` are the place to look at: a budget, the pod's template, the pod itself.
    `conflict` are the rules that leave no node together, where rules are the reason. `proven` says
    whether no order of evictions helps.
    """

    pod: str
    node: str
    workload: str
    by: BlockedBy
    object: str
    field: str = ""
    text: str
    conflict: Conflict | None = None
    message: str = ""
    """kube-scheduler's own message, where rules are the reason."""
    proven: bool = True


class KubectlDrain(Document):
    """What `kubectl drain` does with the same nodes and options.

    It asks for all evictions at once, retries what budgets refuse, and never looks where pods go.
    `pending` pods were evicted and find no node, `hanging` ones it retries for ever. `refuses`: it
    stops before it begins. Counted if ties are broken by name; `seeds` others were tried as well,
    and `agree` says whether they end alike.
    """

    evicted: int
    pending: tuple[str, ...] = ()
    hanging: tuple[str, ...] = ()
    refuses: str = ""
    rounds: int = 0
    seeds: int = 0
    agree: bool = True


class DrainBudget(Document):
    """A budget that evictions of the plan take from, and the most that are down at once."""

    budget: str
    down: int
    allowed: int


class Savings(Document):
    """What the emptied nodes cost of what all nodes cost, per hour; `bound`: no set costs more."""

    per_hour: float
    of: float
    bound: float


class Waiting(Document):
    """The fewest and the most pods that wait, over all single failures of a kind."""

    least: int
    most: int


class SavedNodes(Document):
    """A set of nodes that can go, and what the cluster stands without them.

    `node` and `zone`: if one more of these is lost and removed; absent where it was not tried.
    """

    nodes: tuple[str, ...]
    nodes_left: int
    evictions: int
    waves: int
    per_hour: float | None = None
    node: Waiting | None = None
    zone: Waiting | None = None
    survives: Survive = "none"


class AfterDrain(Document):
    """The cluster afterwards: the part of CPU that is requested, and sets to choose from."""

    requested: float
    sets: tuple[SavedNodes, ...] = ()


class MostNodes(Document):
    """How good the set of `--most` is.

    Of all nodes that may go no set has more than `bound` of them, or costs more than
    `savings.bound`. `setsTried` were worth as much or more, and all but the last of them failed.
    """

    of: int
    bound: int | None = None
    optimal: bool
    sets_tried: int
    at_once: AtOnce | None = None


class DrainPlan(Document):
    """The result of `planner drain`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["DrainPlan"] = "DrainPlan"
    plan_id: str | None = None
    """What `planner apply` knows it by: a hash of all the rest. Absent without a known cluster."""
    source: ClusterSource | None = None
    nodes: tuple[str, ...]
    """The nodes that are to be emptied."""
    options: DrainOptions = DrainOptions()
    status: DrainStatus
    rounds: tuple[DrainRound, ...] = ()
    evictions: tuple[DrainEviction, ...] = ()
    leaving: int = 0
    """Pods that have to leave: each of them takes an eviction."""
    bounds: DrainBounds = DrainBounds()
    choices: tuple[DrainChoice, ...] = ()
    blocked: tuple[BlockedPod, ...] = ()
    helps: tuple[Repair, ...] = ()
    """Changes with which the drain is possible, smallest first, each carried out on a copy."""
    proof: tuple[str, ...] = ()
    stays: tuple[ProtectedCount, ...] = ()
    """Pods that stay on their node and are no obstacle: those of DaemonSets, static pods."""
    budgets: tuple[DrainBudget, ...] = ()
    kubectl: KubectlDrain | None = None
    converges: bool = True
    checked_seeds: int = 0
    convergence: Convergence | None = None
    promised: Promised | None = None
    """Pods that stay although they had to leave, and pods that wait in the end."""
    state: str | None = None
    """A fingerprint of the cluster that it was made for."""
    part: int | None = None
    """With --wave: the only wave that is shown."""
    round: int | None = None
    """With --round: the only round that is shown."""
    at_once: AtOnce | None = None
    later: LaterRounds | None = None
    """With --rolling in a large cluster: rounds after those that are planned."""
    most: MostNodes | None = None
    savings: Savings | None = None
    after: AfterDrain | None = None
    stopped: Stop | None = None
    pods: int = 0
    notices: tuple[Notice, ...] = ()
