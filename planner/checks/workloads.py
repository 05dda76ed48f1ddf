"""Workloads of the manifests, each with two samples of the pods that its controller would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import msgspec

from planner.cluster.owners import WorkloadRef
from planner.sources.defaulting import default_spec, with_priority
from planner.sources.inventory import Inventory
from planner.sources.locations import ObjectName
from planner.sources.replicas import mould, owner_of
from planner_models.pod import Pod, PodTemplate
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


MAKING = (
    *("deployments", "stateful_sets", "daemon_sets", "replica_sets", "replication_controllers"),
    *("jobs", "cron_jobs", "pods", "autoscalers", "priority_classes"),
)
"""What an inventory keeps workloads in, and what decides about their pods."""


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
    """The number of its sample among all; the next one is a second pod like it."""
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


def checked_workloads(
    inventory: Inventory, refs: Set[WorkloadRef], pods: Set[str]
) -> tuple[tuple[CheckedWorkload, ...], tuple[Pod, ...]]:
    """The workloads and bare pods of these names, and the samples of all of them."""
    classes = {each.name: each for each in inventory.priority_classes}
    workloads: list[CheckedWorkload] = []
    samples: list[Pod] = []
    for ref, controller in controllers_of(inventory, refs):
        workloads.append(_workload(inventory, ref, controller, len(samples)))
        samples += _samples(ref, controller, classes)
    if pods:
        for pod in (each for each in inventory.pods if each.key in pods):
            workloads.append(_bare(pod, len(samples)))
            free = msgspec.structs.replace(pod, node_name="")
            samples += (free, msgspec.structs.replace(free, name=f"{pod.name}-second"))
    return tuple(workloads), tuple(samples)


def same_workloads(one: Inventory, other: Inventory) -> bool:
    """Whether everything that workloads and their samples are made from is the very same."""
    return all(getattr(one, name) is getattr(other, name) for name in MAKING)


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


def controllers_of(
    inventory: Inventory, only: Set[WorkloadRef] | None = None
) -> Iterator[tuple[WorkloadRef, Controller | CronJob]]:
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
    names = None if only is None else {ref.name for ref in only}
    for each in (controller for kind in every for controller in kind):
        if names is not None and each.metadata.name not in names:
            continue
        ref = WorkloadRef(each.namespace, type(each).__name__, each.name)
        if (only is None or ref in only) and each.metadata.controller is None:
            yield ref, each


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
