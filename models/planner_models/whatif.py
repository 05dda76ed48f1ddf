"""The `WhatIf` document: what `planner whatif` says."""

from __future__ import annotations

from typing import Literal

from planner_models.base import Document
from planner_models.diagnosis import Repair
from planner_models.notice import Notice
from planner_models.source import ClusterSource

WhatIfMannerName = Literal["only", "unreachable", "removed"]
"""The changes alone, without a failure; nodes that stop answering, and whose objects stay; nodes
whose objects are deleted, too."""

WhatIfAnswer = Literal["same", "worse", "undecided"]
"""Whatever runs now runs then, and nothing is more uneven; not so; or it depends on ties."""


class WhatIfChange(Document):
    """Something that is changed before anything fails."""

    kind: str
    objects: tuple[str, ...]
    text: str


class WhatIfLoss(Document):
    """Nodes that fail together, and what people call them."""

    name: str
    kind: str
    """`zone`, `node`, or the key of a label; `nodes` for several that have nothing in common."""
    nodes: tuple[str, ...]
    domains: tuple[str, ...] = ()
    """Of the document's `domains` those that have no other node."""


class WhatIfMoment(Document):
    """What happens to silent nodes of a zone, so many seconds after the failure."""

    seconds: int
    event: Literal["notReady", "firstTainted", "lastTainted", "firstDeleted", "lastDeleted"]
    zone: str
    count: int
    """Nodes, or pods, that are concerned at that moment."""


class WhatIfWorkload(Document):
    """Running pods of a workload by domain, before and after, and those that do not run then.

    Numbers by domain are in the order of the document's `domains`; the last one counts pods on
    nodes without the label.
    """

    workload: str
    before: tuple[int, ...]
    lost: int = 0
    after: tuple[int, ...]
    waited: int = 0
    """Pods without a node before."""
    waiting: int = 0
    unreplaced: int = 0
    """Lost pods that nothing comes after, or only when the old ones are gone."""
    missing: int = 0
    """Pods that do not run then, without those that waited before."""
    message: str = ""
    """kube-scheduler's word on the first pod that waits."""
    reason: str = ""
    """The same in one sentence."""


class WhatIfHeld(Document):
    """A spread constraint that counts lost nodes as domains without pods.

    So every other domain may have `maxSkew` pods at most.
    """

    topology_key: str
    constraint: int
    max_skew: int
    domains: tuple[str, ...]
    """The lost ones."""
    workloads: tuple[str, ...]
    min_domains: bool = False
    """Whether one of these workloads sets minDomains: if such domains did not count, fewer than
    that might be left, and the minimum would be 0 all the same."""


class WhatIfLeft(Document):
    """Pods that do not come back by themselves, and why."""

    fate: Literal["held", "stays", "ends", "unknown"]
    pods: tuple[str, ...]
    reason: str = ""


class WhatIfRequested(Document):
    """CPU that running pods request, of what nodes that answer have, in milli-cores."""

    used: int
    allocatable: int


class WhatIfSeeds(Document):
    """How often it was tried with other draws of ties, and how many came out alike.

    They are alike if as many pods of each workload wait. `worse` counts those that are worse than
    now; `least` and `most` are the pods that do not run.
    """

    tried: int
    agree: int
    worse: int
    least: int
    most: int


class WhatIfManner(Document):
    """What happens in one manner of a failure."""

    manner: WhatIfMannerName
    lost: int
    waiting: int
    """Pods that wait for a node in the end, without those that waited before."""
    unreplaced: int
    daemons: int = 0
    """Pods that went down with the node that they belong to."""
    excess_before: int
    excess_after: int
    """Pods above the limits of hard spread constraints."""
    unmet_budgets: tuple[str, ...] = ()
    """Budgets with fewer healthy pods than they ask for, which had enough before."""
    requested: WhatIfRequested
    timeline: tuple[WhatIfMoment, ...] = ()
    seconds_between_nodes: int | None = None
    """Of a zone's silent nodes one after the other is emptied; absent: none ever is."""
    workloads: tuple[WhatIfWorkload, ...]
    held: tuple[WhatIfHeld, ...] = ()
    left: tuple[WhatIfLeft, ...] = ()
    preempted: tuple[str, ...] = ()
    seeds: WhatIfSeeds
    without_changes: int | None = None
    """With manifests applied: the pods that would not run if they were not."""


class WhatIfHelp(Repair):
    """A change that was made on a copy, and how many pods do not run then."""

    when: Literal["before", "during"] = "before"
    manner: WhatIfMannerName
    waiting_before: int
    waiting_after: int


class WhatIfComesBack(Document):
    """What is left uneven when lost nodes are back, empty; and what a rebalancing plan moves."""

    excess: int
    workloads: int
    moves: int | None = None
    """Absent where no plan was made."""
    excess_then: int | None = None


class HitHardest(Document):
    """The workload that loses the largest part of its pods."""

    workload: str
    down: int
    of: int


class WhatIfSingle(Document):
    """One failure alone.

    `certified`: counted, and so for every draw of ties; otherwise simulated, under `seeds` of them.
    """

    domain: str
    """A node, a zone, or a value of another key; two of them in a pair."""
    kind: str
    pods_down: int
    waiting: dict[Literal["unreachable", "removed"], int]
    """Pods that do not run then, by manner, under the seed that leaves the most."""
    hardest: HitHardest | None = None
    requested: WhatIfRequested
    certified: bool = False
    seeds: int = 0
    agree: bool = True


class WhatIfDeletion(Document):
    """Which pods go when a workload is scaled down: its controller does not look at domains.

    `steady` of `choices` break no hard spread constraint of the workload, `emptied` leave a domain
    that has pods without any. `exact`: counted; otherwise so many choices were drawn.
    """

    workload: str
    before: int
    after: int
    topology_key: str
    domains: tuple[str, ...]
    has_rule: bool
    """Whether the workload has a hard spread constraint at all."""
    steady: int
    emptied: int
    choices: int
    exact: bool
    equal: int = 0
    """Pods of the rank in which chance decides; the others go or stay for sure."""
    best: tuple[int, ...] = ()
    """Pods by domain if those of `annotate` go."""
    annotate: tuple[str, ...] = ()
    """Pods to give the pod-deletion-cost `cost`: then they go, in every order of ties."""
    cost: int = 0


class WhatIf(Document):
    """The result of `planner whatif`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["WhatIf"] = "WhatIf"
    source: ClusterSource | None = None
    answer: WhatIfAnswer
    nodes: int
    pods: int
    """Pods that run now."""
    requested: WhatIfRequested
    changes: tuple[WhatIfChange, ...] = ()
    applied: tuple[str, ...] = ()
    """Files whose manifests are applied."""
    loss: WhatIfLoss | None = None
    topology_key: str
    domains: tuple[str, ...] = ()
    manners: tuple[WhatIfManner, ...] = ()
    helps: tuple[WhatIfHelp, ...] = ()
    helps_not_tried: int = 0
    """Changes beyond those that were tried."""
    helps_too_large: bool = False
    """Whether none was tried, because one trial takes too long."""
    comes_back: WhatIfComesBack | None = None
    singles: tuple[WhatIfSingle, ...] = ()
    """Worst first."""
    pairs: bool = False
    """Whether these are pairs of failures."""
    not_tried: int = 0
    """Failures beyond what is tried at most; those with the most pods were tried."""
    stopped: Literal["interrupted"] | None = None
    """Whether Ctrl-C kept the rest from being tried."""
    deletions: tuple[WhatIfDeletion, ...] = ()
    notices: tuple[Notice, ...] = ()
