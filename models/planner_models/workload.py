"""Controllers that own pods, and the objects beside them that scheduling reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from planner_models.base import Bool, Count, Int32, KubeModel
from planner_models.labels import Labels
from planner_models.meta import KubeObject
from planner_models.pod import PodTemplate, PreemptionPolicy
from planner_models.policy import IntOrPercent, Surge
from planner_models.selectors import LabelSelector
from planner_models.volume import ClaimTemplate

SYSTEM_PRIORITY_CLASSES = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
HASH_LABEL = "pod-template-hash"
"""What a Deployment's revision is known by: in the labels of its pods and the ReplicaSet's name."""
REVISION_LABEL = "controller-revision-hash"
"""The ControllerRevision that a StatefulSet or DaemonSet made a pod from."""


class ReplicatedSpec(KubeModel):
    """Replicas of one template; an absent number means 1.

    A pod counts as available when it has been ready for `minReadySeconds`.
    """

    replicas: Count = 1
    min_ready_seconds: Count = 0
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate.defaults()


class RollingUpdateDeployment(KubeModel):
    """How far a rollout may go above and below the wanted number of pods."""

    max_surge: Surge = "25%"
    max_unavailable: IntOrPercent = "25%"


class DeploymentStrategy(KubeModel):
    """How a rollout goes; `Recreate` can't surge."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdateDeployment = RollingUpdateDeployment.defaults()


class DeploymentSpec(ReplicatedSpec):
    """`spec` of a Deployment."""

    strategy: DeploymentStrategy = DeploymentStrategy.defaults()
    paused: Bool = False


class Deployment(KubeObject):
    """Rolls out ReplicaSets."""

    spec: DeploymentSpec = DeploymentSpec.defaults()


class WorkloadCondition(KubeModel):
    """A condition in the status of a controller."""

    type: str
    status: str = ""
    reason: str = ""


class ReplicaSetStatus(KubeModel):
    """Whether pods can be made: `ReplicaFailure` says that the API server refuses them."""

    conditions: tuple[WorkloadCondition, ...] = ()

    @property
    def refused(self) -> bool:
        """A quota or an admission webhook keeps new pods out."""
        return any(
            c.type == "ReplicaFailure" and c.status == "True" and c.reason == "FailedCreate"
            for c in self.conditions
        )


class ReplicaSet(KubeObject):
    """Keeps replicas of one revision running."""

    spec: ReplicatedSpec = ReplicatedSpec.defaults()
    status: ReplicaSetStatus = ReplicaSetStatus.defaults()


class ReplicationControllerSpec(KubeModel):
    """`spec` of a ReplicationController: its selector is a plain map."""

    replicas: Count = 1
    min_ready_seconds: Count = 0
    selector: Labels = Field(default_factory=dict)
    template: PodTemplate = PodTemplate.defaults()


class ReplicationController(KubeObject):
    """The ReplicaSet's older relative."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec.defaults()
    status: ReplicaSetStatus = ReplicaSetStatus.defaults()


class StatefulSetOrdinals(KubeModel):
    """Where the numbering of the pods starts."""

    start: Count = 0


class RollingUpdateStatefulSet(KubeModel):
    """Pods from the ordinal `partition` on are updated, `maxUnavailable` at once.

    Only an API server with the feature MaxUnavailableStatefulSet stores that number.
    """

    partition: Count = 0
    max_unavailable: IntOrPercent | None = None


class StatefulSetUpdateStrategy(KubeModel):
    """Whether the controller replaces pods of an old revision, or waits for their deletion."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdateStatefulSet | None = None


class StatefulSetSpec(ReplicatedSpec):
    """`spec` of a StatefulSet."""

    service_name: str = ""
    volume_claim_templates: tuple[ClaimTemplate, ...] = ()
    ordinals: StatefulSetOrdinals = StatefulSetOrdinals.defaults()
    pod_management_policy: str = "OrderedReady"
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy.defaults()


class StatefulSetStatus(KubeModel):
    """Which revisions there are, by the names of their ControllerRevisions."""

    current_revision: str = ""
    update_revision: str = ""
    current_replicas: Count = 0


class StatefulSet(KubeObject):
    """Keeps pods with stable names and volumes."""

    spec: StatefulSetSpec = StatefulSetSpec.defaults()
    status: StatefulSetStatus = StatefulSetStatus.defaults()


class RollingUpdateDaemonSet(KubeModel):
    """On how many nodes the pod may be down meanwhile, or be there twice."""

    max_unavailable: IntOrPercent = 1
    max_surge: IntOrPercent = 0


class DaemonSetUpdateStrategy(KubeModel):
    """Whether the controller replaces pods of an old template, or waits for their deletion."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdateDaemonSet = RollingUpdateDaemonSet.defaults()


class DaemonSetSpec(KubeModel):
    """`spec` of a DaemonSet."""

    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate.defaults()
    update_strategy: DaemonSetUpdateStrategy = DaemonSetUpdateStrategy.defaults()


class DaemonSet(KubeObject):
    """One pod per eligible node, pinned by matchFields."""

    spec: DaemonSetSpec = DaemonSetSpec.defaults()


class PodFailureCondition(KubeModel):
    """A condition of a failed pod that a rule asks for; an absent status means True."""

    type: str
    status: str = "True"


class PodFailureRule(KubeModel):
    """What the Job controller does with a failed pod that has one of these conditions.

    Rules about exit codes have none; what a stopped container exits with is not known before.
    """

    action: str
    on_pod_conditions: tuple[PodFailureCondition, ...] = ()


class PodFailurePolicy(KubeModel):
    """Rules in order; the first that fits decides."""

    rules: tuple[PodFailureRule, ...] = ()


class JobSpec(KubeModel):
    """`spec` of a Job. At most min(parallelism, completions left) pods run at once."""

    parallelism: Count = 1
    completions: Count | None = None
    suspend: Bool = False
    completion_mode: Literal["NonIndexed", "Indexed"] = "NonIndexed"
    backoff_limit: Count = 6
    backoff_limit_per_index: Count | None = None
    pod_failure_policy: PodFailurePolicy = PodFailurePolicy.defaults()
    pod_replacement_policy: Literal["", "TerminatingOrFailed", "Failed"] = ""
    managed_by: str = ""
    template: PodTemplate = PodTemplate.defaults()


class JobStatus(KubeModel):
    """How far the Job is."""

    succeeded: Count = 0
    failed: Count = 0
    conditions: tuple[WorkloadCondition, ...] = ()
    """`Complete` and `Failed` end the Job."""


class Job(KubeObject):
    """Runs pods to completion."""

    spec: JobSpec = JobSpec.defaults()
    status: JobStatus = JobStatus.defaults()

    @property
    def finished(self) -> bool:
        """Complete or failed for good, or about to be so: no more pods are made."""
        ends = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
        return any(c.type in ends and c.status == "True" for c in self.status.conditions)

    @property
    def replaces_failed_only(self) -> bool:
        """Whether a new pod waits until the old one has ended; with a podFailurePolicy always."""
        policy = self.spec.pod_replacement_policy
        return policy == "Failed" or bool(not policy and self.spec.pod_failure_policy.rules)

    @property
    def wanted(self) -> int:
        """How many pods the Job controller keeps running now."""
        if self.finished or self.spec.suspend:
            return 0
        if self.spec.completions is None:
            return 0 if self.status.succeeded else self.spec.parallelism
        return max(0, min(self.spec.parallelism, self.spec.completions - self.status.succeeded))


class JobTemplate(KubeModel):
    """What a CronJob makes its Jobs from."""

    spec: JobSpec = JobSpec.defaults()


class CronJobSpec(KubeModel):
    """A Job at each time of the schedule, unless suspended."""

    schedule: str = ""
    suspend: Bool = False
    job_template: JobTemplate = JobTemplate.defaults()


class CronJob(KubeObject):
    """Makes Jobs by the clock; the Jobs make pods."""

    spec: CronJobSpec = CronJobSpec.defaults()


Controller = Deployment | ReplicaSet | StatefulSet | DaemonSet | Job | ReplicationController
"""Everything that makes pods from a template."""


class ServiceSpec(KubeModel):
    """Only the selector matters: default spread constraints apply to selected pods."""

    selector: Labels = Field(default_factory=dict)


class Service(KubeObject):
    """Selects pods."""

    spec: ServiceSpec = ServiceSpec.defaults()


class Namespace(KubeObject):
    """Its labels are what `namespaceSelector` reads."""


class PriorityClass(KubeObject):
    """A name for a priority; without a value it is 0."""

    value: Int32 = 0
    global_default: Bool = False
    preemption_policy: PreemptionPolicy = "PreemptLowerPriority"


def priority_values(classes: Mapping[str, PriorityClass]) -> dict[str, int]:
    """The value of every PriorityClass by name, Kubernetes' own ones included."""
    return SYSTEM_PRIORITY_CLASSES | {name: each.value for name, each in classes.items()}
