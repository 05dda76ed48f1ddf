"""Controllers that own pods, and the objects beside them that scheduling reads."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Bool, Count, Int32, KubeModel
from planner_models.labels import Labels
from planner_models.meta import KubeObject
from planner_models.pod import PodTemplate, PreemptionPolicy
from planner_models.selectors import LabelSelector
from planner_models.volume import ClaimTemplate

SYSTEM_PRIORITY_CLASSES = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
HASH_LABEL = "pod-template-hash"
"""What a Deployment's revision is known by: in the labels of its pods and the ReplicaSet's name."""


class ReplicatedSpec(KubeModel):
    """Replicas of one template; an absent number means 1."""

    replicas: Count = 1
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate.defaults()


class DeploymentStrategy(KubeModel):
    """How a rollout goes; `Recreate` can't surge."""

    type: str = "RollingUpdate"


class DeploymentSpec(ReplicatedSpec):
    """`spec` of a Deployment."""

    strategy: DeploymentStrategy = DeploymentStrategy.defaults()


class Deployment(KubeObject):
    """Rolls out ReplicaSets."""

    spec: DeploymentSpec = DeploymentSpec.defaults()


class ReplicaSet(KubeObject):
    """Keeps replicas of one revision running."""

    spec: ReplicatedSpec = ReplicatedSpec.defaults()


class ReplicationControllerSpec(KubeModel):
    """`spec` of a ReplicationController: its selector is a plain map."""

    replicas: Count = 1
    selector: Labels = Field(default_factory=dict)
    template: PodTemplate = PodTemplate.defaults()


class ReplicationController(KubeObject):
    """The ReplicaSet's older relative."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec.defaults()


class StatefulSetOrdinals(KubeModel):
    """Where the numbering of the pods starts."""

    start: Count = 0


class StatefulSetSpec(ReplicatedSpec):
    """`spec` of a StatefulSet."""

    service_name: str = ""
    volume_claim_templates: tuple[ClaimTemplate, ...] = ()
    ordinals: StatefulSetOrdinals = StatefulSetOrdinals.defaults()


class StatefulSet(KubeObject):
    """Keeps pods with stable names and volumes."""

    spec: StatefulSetSpec = StatefulSetSpec.defaults()


class DaemonSetSpec(KubeModel):
    """`spec` of a DaemonSet."""

    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate.defaults()


class DaemonSet(KubeObject):
    """One pod per eligible node, pinned by matchFields."""

    spec: DaemonSetSpec = DaemonSetSpec.defaults()


class JobSpec(KubeModel):
    """`spec` of a Job. At most min(parallelism, completions left) pods run at once."""

    parallelism: Count = 1
    completions: Count | None = None
    suspend: Bool = False
    completion_mode: Literal["NonIndexed", "Indexed"] = "NonIndexed"
    template: PodTemplate = PodTemplate.defaults()


class JobCondition(KubeModel):
    """A condition; `Complete` and `Failed` end the Job."""

    type: str
    status: str = ""


class JobStatus(KubeModel):
    """How far the Job is."""

    succeeded: Count = 0
    conditions: tuple[JobCondition, ...] = ()


class Job(KubeObject):
    """Runs pods to completion."""

    spec: JobSpec = JobSpec.defaults()
    status: JobStatus = JobStatus.defaults()

    @property
    def finished(self) -> bool:
        """Complete or failed for good."""
        return any(
            c.type in ("Complete", "Failed") and c.status == "True" for c in self.status.conditions
        )


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
