"""`FleetDecision`: which member clusters a placement gets, as Fleet picks them and at best."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Document
from planner_models.fleet import PlacementType
from planner_models.notice import Notice

FleetVerdict = Literal["fulfilled", "deadlock", "impossible", "undecided"]
CandidateOutcome = Literal["picked", "passed", "refused"]
ScoredOutcome = Literal["picked", "kept", "passed", "refused"]
DropReason = Literal["left", "leaving", "scaledDown", "newPolicy"]
FactKind = Literal[
    "numberOfClusters",
    "topologySpread",
    "clusterAffinity",
    "eligibility",
    "namespace",
    "taints",
    "clusterNames",
]
FleetRepairKind = Literal[
    "raiseMaxSkew",
    "scheduleAnyway",
    "evictBinding",
    "fewerClusters",
    "labelCluster",
    "addCluster",
    "addToleration",
    "relaxAffinity",
]


class SkewStep(Document):
    """What picking a cluster does to one constraint; `domain` is absent without the label."""

    topology_key: str
    domain: str | None = None
    before: int | None = None
    after: int | None = None


class FleetCandidate(Document):
    """A cluster in one round; a refused one has no scores, as in Fleet, but a reason."""

    cluster: str
    outcome: CandidateOutcome
    spread: int | None = None
    affinity: int | None = None
    previous: int | None = None
    skews: tuple[SkewStep, ...] = ()
    reason: str | None = None


class FleetRound(Document):
    """One scheduling cycle, its candidates best first; `leftOut` counts those not listed."""

    round: int
    picked: tuple[str, ...]
    candidates: tuple[FleetCandidate, ...]
    left_out: int = 0


class FleetScores(Document):
    """The scores of a cluster in the round in which it was picked, or in the last one."""

    outcome: ScoredOutcome
    round: int | None = None
    spread: int | None = None
    affinity: int
    previous: int = 0


class DroppedCluster(Document):
    """A cluster that loses what was placed on it."""

    cluster: str
    reason: DropReason
    text: str


class FleetDomain(Document):
    """The clusters with one value of a constraint's label.

    `pickable` of them pass the filters or are picked already; the counts are of picked clusters:
    `before` the decision, as `picked` by Fleet, and in the `optimal` choice.
    """

    domain: str
    clusters: int
    pickable: int
    before: int
    picked: int
    optimal: int | None = None


class FleetConstraint(Document):
    """A spread constraint; `outside` are clusters without its label.

    `leastSkew` is the best that so many clusters can have, if nothing else is asked.
    """

    field: str
    topology_key: str
    max_skew: int
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    domains: tuple[FleetDomain, ...]
    outside: int
    skew_before: int
    skew: int
    optimal_skew: int | None = None
    least_skew: int | None = None
    holds: bool


class FleetObjective(Document):
    """One level of comparison; `fleet` is Fleet's value, `value` the optimum's.

    Without `bound` nothing is known about how good it could be.
    """

    name: Literal["excess", "clusters", "softExcess", "affinity", "changes", "skew"]
    fleet: int
    value: int
    bound: int | None = None


class OptimalPicks(Document):
    """The best choice, under the same rules, of clusters in the end."""

    status: Literal["optimal", "feasible"]
    picked: tuple[str, ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    objectives: tuple[FleetObjective, ...]


class FleetFact(Document):
    """A rule that takes part in a conflict."""

    kind: FactKind
    object: str
    field: str | None = None
    text: str


class FleetConflict(Document):
    """Rules that together leave too few clusters; minimal if none of them can be spared."""

    facts: tuple[FleetFact, ...]
    minimal: bool


class FleetChange(Document):
    """A field's value before and after a repair."""

    from_: str = Field(alias="from")
    to: str


class FleetRepair(Document):
    """A change after which Fleet picks as many as wanted; it was tried on a copy.

    A changed policy makes Fleet pick anew: `picks` are the clusters in that order, `drops` those
    that lose what was placed on them. With `undoable` the change may be taken back afterwards:
    Fleet then keeps the clusters. `fields` are all that change, `field` is the only one.
    """

    kind: FleetRepairKind
    object: str
    field: str | None = None
    fields: tuple[str, ...] = ()
    change: FleetChange | None = None
    command: str | None = None
    picks: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    undoable: bool | None = None
    effect: str
    verified: bool
    text: str


class FleetCondition(Document):
    """The condition that Fleet itself would report."""

    type: Literal["Scheduled"] = "Scheduled"
    status: Literal["True", "False"]
    reason: str
    message: str


class FleetDecision(Document):
    """One placement.

    `picked` are all clusters in the end, of which `kept` had a binding and `added` are new.
    `filtered` has every reason against a cluster, in Fleet's words and order; `failingPlugins`
    names whose they are. `differs` says whether the optimum is better than Fleet's choice.
    `lacking` has, for clusters that the affinity excludes, what they lack for each required term.
    `otherOrder` are picks, in this order, by which Fleet's own rule would reach all that is wanted;
    `everyOrderTried` is true if there is none. `policySnapshot` is the one in force, kept or new;
    without a `condition` Fleet says nothing.
    """

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["FleetDecision"] = "FleetDecision"
    placement: str
    placement_kind: Literal["ClusterResourcePlacement", "ResourcePlacement"]
    placement_type: PlacementType
    policy_snapshot: str = ""
    verdict: FleetVerdict
    wanted: int | None = None
    clusters: int
    picked: tuple[str, ...]
    kept: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[DroppedCluster, ...] = ()
    scores: dict[str, FleetScores]
    filtered: dict[str, tuple[str, ...]]
    failing_plugins: dict[str, tuple[str, ...]]
    lacking: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    rounds: tuple[FleetRound, ...] = ()
    constraints: tuple[FleetConstraint, ...] = ()
    optimal: OptimalPicks | None = None
    differs: bool
    deadlock: bool = False
    every_order_tried: bool | None = None
    other_order: tuple[str, ...] = ()
    kube_scheduler_accepts: tuple[str, ...] = ()
    headline: str
    narrative: tuple[str, ...] = ()
    conflicts: tuple[FleetConflict, ...] = ()
    repairs: tuple[FleetRepair, ...] = ()
    condition: FleetCondition | None = None
    notices: tuple[Notice, ...] = ()


class FleetDecisionList(Document):
    """Several placements, each decided by itself, in the order of their names."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["FleetDecisionList"] = "FleetDecisionList"
    items: tuple[FleetDecision, ...]
