"""What is checked: the workloads and budgets of the manifests, and the cluster they come to.

A manifest is known by what its controller would make of it. So each checked workload has a
*sample*, a pod made from its template, which waits in a snapshot of the nodes and the running pods:
rules that need no simulation ask about the sample, whatever the number of replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from planner.checks.finding import Change
from planner.checks.snapshots import Snapshots
from planner.checks.workloads import (
    CheckedWorkload,
    checked_workloads,
    controllers_of,
    same_workloads,
)
from planner.cluster.owners import WorkloadRef
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.known_fields import UnknownField
from planner.sources.locations import ObjectName
from planner.sources.replenish import replenished
from planner_models.pod import Pod, PodSpec
from planner_models.policy import PodDisruptionBudget

if TYPE_CHECKING:
    from planner.cluster import Cluster, PodGroup
    from planner.cluster.node_rules import NodeRules
    from planner.scheduler.profile import Profile

Survive = Literal["zone", "node", "none"]


@dataclass(frozen=True)
class CheckOptions:
    """Which rules are asked, and how long they may take."""

    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    survive: Survive = "zone"
    seeds: int = 20
    time_limit: float = 60.0


@dataclass(frozen=True)
class Manifests:
    """The names of what is checked, and what is wrong with its text."""

    workloads: frozenset[WorkloadRef]
    pods: frozenset[str]
    budgets: frozenset[str]
    refused: tuple[SourceError, ...] = ()
    unknown_fields: tuple[UnknownField, ...] = ()


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that rules ask about."""

    workloads: tuple[CheckedWorkload, ...]
    snapshots: Snapshots
    options: CheckOptions
    manifests: Manifests
    memo: dict[object, Any] = field(default_factory=dict)
    """What was simulated once and several rules ask about."""
    undecided: dict[str, str] = field(default_factory=dict)
    """By rule: what it could not find out within its limits, and about whom."""

    @property
    def inventory(self) -> Inventory:
        """After the manifests were applied: pods that their controllers would make are in it."""
        return self.snapshots.inventory

    @property
    def sample_pods(self) -> tuple[Pod, ...]:
        """Two for each workload of the manifests."""
        return self.snapshots.sample_pods

    @property
    def profile(self) -> Profile:
        """kube-scheduler's, which rules about the text alone do without."""
        return self.snapshots.profile_of()

    @property
    def cluster(self) -> Cluster:
        """After the manifests were applied: their pods wait, unless they run already."""
        return self.snapshots.cluster

    @property
    def samples(self) -> Cluster:
        """The same nodes and running pods; nobody waits but the samples, which come last."""
        return self.snapshots.samples

    @property
    def settled(self) -> Cluster:
        """After the manifests were applied, pods moved to their new rules, and placed."""
        return self.snapshots.settled

    @property
    def before_rollout(self) -> Cluster:
        """After the manifests were applied, with running pods as they still are."""
        return self.snapshots.before_rollout

    @property
    def node_rules(self) -> NodeRules:
        """Which nodes the samples may use."""
        return self.snapshots.node_rules

    @cached_property
    def budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """Those of the manifests."""
        mine = self.manifests.budgets
        return tuple(each for each in self.inventory.budgets if each.key in mine)

    def changed(self, change: Change) -> Subject:
        """The same question about a changed input."""
        given, inventory = self.manifests, replenished(change(self.inventory), self.inventory)
        whole = len(self.sample_pods) == 2 * len(self.workloads)
        if whole and same_workloads(inventory, self.inventory):
            workloads, samples = self.workloads, self.sample_pods
        else:
            workloads, samples = checked_workloads(inventory, given.workloads, given.pods)
        return Subject(workloads, self.snapshots.changed(inventory, samples), self.options, given)

    def about(self, objects: frozenset[ObjectName]) -> Subject:
        """The same about some of the workloads alone, if any of them is among the objects."""
        mine = tuple(each for each in self.workloads if each.object in objects)
        return replace(self, workloads=mine) if mine else self

    def without(self, objects: frozenset[ObjectName]) -> Subject:
        """The same about all other workloads; what was simulated of all of them is left alone."""
        others = tuple(each for each in self.workloads if each.object not in objects)
        if len(others) == len(self.workloads):
            return self
        return replace(self, workloads=others, memo={})

    def seeds(self, landings: int) -> int:
        """As many draws of ties as were asked for, or as the work allows."""
        from planner.replay.trial_work import BESIDE_NODES, TRIAL_WORK

        work = max(1, landings) * (len(self.inventory.nodes) + BESIDE_NODES)
        return max(1, min(self.options.seeds, TRIAL_WORK // work))

    def sample(self, workload: CheckedWorkload) -> Pod:
        """A pod as the workload makes it."""
        return self.sample_pods[workload.sample]

    def spec(self, workload: CheckedWorkload) -> PodSpec:
        """The spec of its pods, with the API server's defaults."""
        return self.sample(workload).spec

    def sample_index(self, workload: CheckedWorkload) -> int:
        """Where its sample stands in `samples`; the next one is a second pod like it."""
        return len(self.samples.pods) - len(self.sample_pods) + workload.sample

    def group(self, workload: CheckedWorkload) -> PodGroup:
        """The group of its sample."""
        return self.samples.groups[int(self.samples.group_of[self.sample_index(workload)])]

    @property
    def has_nodes(self) -> bool:
        """Whether rules about nodes can be asked."""
        return bool(self.inventory.nodes)


def manifests_of(given: Inventory, unknown: Iterable[UnknownField] = ()) -> Manifests:
    """What an input asks to have checked."""
    return Manifests(
        workloads=frozenset(ref for ref, _ in controllers_of(given)),
        pods=frozenset(p.key for p in given.pods if p.owner is None and not p.finished),
        budgets=frozenset(budget.key for budget in given.budgets),
        refused=given.refused,
        unknown_fields=tuple(unknown),
    )


def subject_of(
    inventory: Inventory,
    given: Manifests,
    profile_of: Callable[[], Profile],
    options: CheckOptions,
) -> Subject:
    """`inventory` is everything, `given` names what is to be checked of it."""
    workloads, samples = checked_workloads(inventory, given.workloads, given.pods)
    snapshots = Snapshots(inventory, samples, given.pods, cache(profile_of))
    return Subject(workloads, snapshots, options, given)
