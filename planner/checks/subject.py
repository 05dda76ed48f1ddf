"""What is checked: the workloads and budgets of the manifests, and the cluster they come to.

A manifest is known by what its controller would make of it. So each checked workload has a
*sample*, a pod made from its template, which waits in a snapshot of the nodes and the running pods:
rules that need no simulation ask about the sample, whatever the number of replicas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import msgspec

from planner.checks.finding import Change
from planner.cluster import Cluster, PodGroup, build_cluster
from planner.cluster.node_rules import NodeRules
from planner.cluster.owners import WorkloadRef
from planner.scheduler.profile import Profile
from planner.sources.defaulting import default_spec, with_priority
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.known_fields import UnknownField
from planner.sources.locations import ObjectName
from planner.sources.replenish import replenished
from planner.sources.replicas import mould, owner_of
from planner_models.pod import Pod, PodSpec, PodTemplate
from planner_models.policy import PodDisruptionBudget
from planner_models.quota import HorizontalPodAutoscaler
from planner_models.workload import (
    HASH_LABEL,
    REVISION_LABEL,
    Controller,
    CronJob,
    DaemonSet,
    Job,
    PriorityClass,
)

Survive = Literal["zone", "node", "none"]
IGNORE = "planner/ignore"
"""An annotation on an object or its template: rules, separated by commas, that are silent there."""

LABELS_BY_CONTROLLER: Mapping[str, tuple[str, ...]] = {
    "Deployment": (HASH_LABEL,),
    "StatefulSet": (
        REVISION_LABEL,
        "apps.kubernetes.io/pod-index",
        "statefulset.kubernetes.io/pod-name",
    ),
    "DaemonSet": (REVISION_LABEL,),
    "Job": (
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    ),
}
"""Labels that a controller gives its pods beside those of the template."""


@dataclass(frozen=True)
class CheckOptions:
    """Which rules are asked, and how long they may take."""

    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    survive: Survive = "zone"
    seeds: int = 20
    time_limit: float = 60.0


@dataclass(frozen=True, eq=False)
class CheckedWorkload:
    """A workload of the manifests; `pods` are those of it that run or wait in the cluster.

    `spec_field` is where its pod spec stands. An autoscaler may change `replicas` between `least`
    and `most`; without one all three are the same.
    """

    ref: WorkloadRef
    spec_field: str
    template: PodTemplate
    replicas: int
    least: int
    most: int
    sample: int
    """The index of its sample in `Subject.samples`; the next one is a second pod like it."""
    silent: frozenset[str] = frozenset()

    @property
    def object(self) -> ObjectName:
        """What findings are about."""
        return ObjectName(self.ref.kind, self.ref.namespace, self.ref.name)

    def field(self, path: str) -> str:
        """A field of its pods, as it stands in the workload."""
        return f"{self.spec_field}.{path}"

    @property
    def name(self) -> str:
        """What texts call it."""
        return self.ref.name


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that rules ask about."""

    cluster: Cluster
    """After the manifests were applied: their pods wait, unless they run already."""
    samples: Cluster
    """The same nodes and running pods, with one waiting pod for each checked workload."""
    workloads: tuple[CheckedWorkload, ...]
    budgets: tuple[PodDisruptionBudget, ...]
    """Those of the manifests."""
    inventory: Inventory
    profile: Profile
    options: CheckOptions
    manifests: Manifests
    memo: dict[object, Any] = field(default_factory=dict)
    """What was simulated once and several rules ask about."""

    def changed(self, change: Change) -> Subject:
        """The same question about a changed input."""
        return subject_of(
            replenished(change(self.inventory)), self.manifests, self.profile, self.options
        )

    def about(self, objects: frozenset[ObjectName]) -> Subject:
        """The same about some of the workloads alone, if any of them is among the objects."""
        mine = tuple(each for each in self.workloads if each.object in objects)
        return replace(self, workloads=mine) if mine else self

    @cached_property
    def settled(self) -> Cluster:
        """After the manifests were applied, pods moved to their new rules, and placed."""
        from planner.scenario.manifests import applied

        now, _ = applied(self.cluster, self.inventory)
        return self._placed(now)

    @cached_property
    def before_rollout(self) -> Cluster:
        """After the manifests were applied, with running pods as they still are."""
        return self._placed(self.cluster)

    def _placed(self, cluster: Cluster) -> Cluster:
        from planner.disruption.node_lifecycle import with_condition_taints
        from planner.evictions.suggest import settled

        return settled(with_condition_taints(cluster), self.profile)

    def seeds(self, landings: int) -> int:
        """As many draws of ties as were asked for, or as the work allows."""
        from planner.replay.trial_work import BESIDE_NODES, TRIAL_WORK

        work = max(1, landings) * (len(self.cluster.nodes) + BESIDE_NODES)
        return max(1, min(self.options.seeds, TRIAL_WORK // work))

    @cached_property
    def node_rules(self) -> NodeRules:
        """Which nodes the samples may use."""
        return NodeRules(self.samples)

    def sample(self, workload: CheckedWorkload) -> Pod:
        """A pod as the workload makes it."""
        return self.samples.pods[workload.sample]

    def spec(self, workload: CheckedWorkload) -> PodSpec:
        """The spec of its pods, with the API server's defaults."""
        return self.sample(workload).spec

    def group(self, workload: CheckedWorkload) -> PodGroup:
        """The group of its sample."""
        return self.samples.groups[int(self.samples.group_of[workload.sample])]

    @property
    def has_nodes(self) -> bool:
        """Whether rules about nodes can be asked."""
        return bool(self.cluster.nodes)


@dataclass(frozen=True)
class Manifests:
    """The names of what is checked, and what is wrong with its text."""

    workloads: frozenset[WorkloadRef]
    pods: frozenset[str]
    budgets: frozenset[str]
    refused: tuple[SourceError, ...] = ()
    unknown_fields: tuple[UnknownField, ...] = ()


def manifests_of(given: Inventory, unknown: Iterable[UnknownField] = ()) -> Manifests:
    """What an input asks to have checked."""
    return Manifests(
        workloads=frozenset(ref for ref, _ in _controllers(given)),
        pods=frozenset(p.key for p in given.pods if p.owner is None and not p.finished),
        budgets=frozenset(budget.key for budget in given.budgets),
        refused=given.refused,
        unknown_fields=tuple(unknown),
    )


def subject_of(
    inventory: Inventory, given: Manifests, profile: Profile, options: CheckOptions
) -> Subject:
    """`inventory` is everything, `given` names what is to be checked of it."""
    running = tuple(
        pod
        for pod in inventory.pods
        if pod.node_name and not pod.finished and pod.key not in given.pods
    )
    classes = {each.name: each for each in inventory.priority_classes}
    workloads: list[CheckedWorkload] = []
    samples: list[Pod] = []
    for ref, controller in _controllers(inventory):
        if ref in given.workloads:
            workloads.append(_workload(inventory, ref, controller, len(running) + len(samples)))
            samples += _samples(ref, controller, classes)
    for pod in inventory.pods:
        if pod.key in given.pods:
            workloads.append(_bare(pod, len(running) + len(samples)))
            free = msgspec.structs.replace(pod, node_name="")
            samples += (free, msgspec.structs.replace(free, name=f"{pod.name}-second"))
    return Subject(
        cluster=build_cluster(inventory),
        samples=build_cluster(replace(inventory, pods=(*running, *samples))),
        workloads=tuple(workloads),
        budgets=tuple(each for each in inventory.budgets if each.key in given.budgets),
        inventory=inventory,
        profile=profile,
        options=options,
        manifests=given,
    )


def _workload(
    inventory: Inventory, ref: WorkloadRef, controller: Controller | CronJob, sample: int
) -> CheckedWorkload:
    replicas, template = _replicas(controller), template_of(controller)
    scale = next((each.spec for each in inventory.autoscalers if _scales(each, ref)), None)
    return CheckedWorkload(
        ref=ref,
        spec_field=_spec_field(controller),
        template=template,
        replicas=replicas,
        least=replicas if scale is None else scale.min_replicas,
        most=replicas if scale is None else max(scale.max_replicas, scale.min_replicas),
        sample=sample,
        silent=_silenced((controller.metadata.annotations, template.metadata.annotations)),
    )


def _scales(autoscaler: HorizontalPodAutoscaler, ref: WorkloadRef) -> bool:
    target = autoscaler.spec.scale_target_ref
    return (autoscaler.namespace, target.kind, target.name) == (ref.namespace, ref.kind, ref.name)


def template_of(controller: Controller | CronJob) -> PodTemplate:
    """What it makes its pods from."""
    if isinstance(controller, CronJob):
        return controller.spec.job_template.spec.template
    return controller.spec.template


def _controllers(inventory: Inventory) -> Iterator[tuple[WorkloadRef, Controller | CronJob]]:
    """Workloads that somebody wrote: ReplicaSets of Deployments and Jobs of CronJobs are made."""
    every: Sequence[Iterable[Controller | CronJob]] = (
        inventory.deployments,
        inventory.stateful_sets,
        inventory.daemon_sets,
        inventory.replica_sets,
        inventory.replication_controllers,
        inventory.jobs,
        inventory.cron_jobs,
    )
    for each in (controller for kind in every for controller in kind):
        if each.metadata.controller is None:
            yield WorkloadRef(each.namespace, type(each).__name__, each.name), each


def _samples(
    ref: WorkloadRef, controller: Controller | CronJob, classes: Mapping[str, PriorityClass]
) -> tuple[Pod, Pod]:
    """Two pods as the controller would make them and the API server would store them."""
    owner = owner_of(ref.kind, controller.metadata)
    made = mould(template_of(controller), ref.namespace, owner, None).pod(f"{ref.name}-sample")
    labels = {**made.labels, **dict.fromkeys(LABELS_BY_CONTROLLER.get(ref.kind, ()), "sample")}
    spec = with_priority(default_spec(made.spec, labels), classes)
    first = msgspec.structs.replace(made, node_name="", labels=labels, spec=spec)
    return first, msgspec.structs.replace(first, name=f"{ref.name}-second")


def _replicas(controller: Controller | CronJob) -> int:
    match controller:
        case CronJob():
            return controller.spec.job_template.spec.parallelism
        case Job():
            return controller.wanted
        case DaemonSet():
            return 0
        case _:
            return controller.spec.replicas


def _spec_field(controller: Controller | CronJob) -> str:
    if isinstance(controller, CronJob):
        return "spec.jobTemplate.spec.template.spec"
    return "spec.template.spec"


def _bare(pod: Pod, sample: int) -> CheckedWorkload:
    template = PodTemplate.defaults()
    template = template.replace(metadata=template.metadata.replace(labels=dict(pod.labels)))
    return CheckedWorkload(
        ref=WorkloadRef(pod.namespace, "Pod", pod.name),
        spec_field="spec",
        template=template,
        replicas=1,
        least=1,
        most=1,
        sample=sample,
        silent=_silenced((pod.annotations,)),
    )


def _silenced(annotations: Iterable[Mapping[str, str]]) -> frozenset[str]:
    texts = (each.get(IGNORE, "") for each in annotations)
    return frozenset(rule.strip() for text in texts for rule in text.split(",") if rule.strip())
