"""`Simulation`: what kube-scheduler would do with the pending pods, and why."""

from __future__ import annotations

from typing import Literal

from planner_models.base import Document
from planner_models.notice import Notice
from planner_models.source import ClusterSource

Outcome = Literal["scheduled", "unschedulable", "gated"]
AsideReason = Literal["otherScheduler", "nodeName", "terminating", "running"]


class Verdict(Document):
    """Why a node does not take a pod: the first filter plugin that refuses it."""

    plugin: str
    code: Literal["Unschedulable", "UnschedulableAndUnresolvable"]
    reasons: tuple[str, ...]


class SimulatedPreemption(Document):
    """Who would give way to a pod that no node takes, or did with `preempted` in the summary."""

    nominated_node: str | None = None
    nominated_any_of: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    message: str = ""


class SimulatedPod(Document):
    """One pod at its last attempt.

    `feasible` counts the nodes that pass all filters, of `lookedAt`; `best` are those with the
    highest total, of which kube-scheduler picks any, and `tied` is their number. `filters` has the
    first refusal of each node and `failingPlugins` all of them where there are more; `scores` are
    normalised and weighted, and a plugin that skipped the pod is absent. All these are absent if
    the document was asked for without details, and hold one node if it was about that one. With
    one feasible node kube-scheduler does not score; the scores are here all the same.
    """

    pod: str
    workload: str
    outcome: Outcome
    node: str | None = None
    priority: int = 0
    synthesised: bool = False
    attempts: int = 0
    looked_at: int = 0
    feasible: int = 0
    tied: int = 0
    feasible_nodes: tuple[str, ...] | None = None
    filters: dict[str, Verdict] | None = None
    failing_plugins: dict[str, tuple[str, ...]] | None = None
    scores: dict[str, dict[str, int]] | None = None
    totals: dict[str, int] | None = None
    best: tuple[str, ...] = ()
    message: str | None = None
    event_message: str | None = None
    diagnosis: str | None = None
    """Why no node takes it, in one sentence; `planner explain` says more."""
    preemption: SimulatedPreemption | None = None


class RefusedNodes(Document):
    """Nodes that did not take the first pod of a workload, for one reason.

    `where` says it in words, `numbers` has what was compared, where that is the same for all.
    """

    workload: str
    nodes: int
    where: str
    plugin: str
    reasons: tuple[str, ...]
    numbers: str | None = None


class AsidePod(Document):
    """A pod that was not tried, and why."""

    pod: str
    reason: AsideReason
    text: str


class SimulationSummary(Document):
    """How many pods had which outcome, and under which rules.

    `percentageOfNodesToScore` is absent if all nodes were looked at, and 0 for kube-scheduler's
    adaptive share. `allTies` asks texts to name every node that could have been chosen.
    """

    pods: int
    scheduled: int
    unschedulable: int
    gated: int
    left_aside: int
    preempted: int
    nodes: int
    seed: int
    preempt: bool
    percentage_of_nodes_to_score: int | None = None
    all_ties: bool = False
    ignored_plugins: tuple[str, ...] = ()


class Simulation(Document):
    """The pods in the order in which they were tried, gated ones last."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Simulation"] = "Simulation"
    source: ClusterSource | None = None
    summary: SimulationSummary
    pods: tuple[SimulatedPod, ...]
    refused: tuple[RefusedNodes, ...] = ()
    left_aside: tuple[AsidePod, ...] = ()
    preempted: tuple[str, ...] = ()
    explained_node: str | None = None
    notices: tuple[Notice, ...] = ()
