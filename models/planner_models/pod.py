"""Pods.

`PodSpec` holds what replicas have in common and is validated once per distinct text; `Pod` is the
slim per-pod record around it. A dump of 150,000 pods has a few thousand specs, which is what makes
loading it a matter of seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal, Self

import msgspec
from pydantic import BeforeValidator, Field, model_validator

from planner_models.affinity import Affinity
from planner_models.base import Bool, FieldError, Int, Int32, KubeModel
from planner_models.declared_features import required_features
from planner_models.labels import Labels
from planner_models.meta import ObjectMeta, OwnerReference, parse_time
from planner_models.pod_status import FINISHED, ContainerKind, Phase, QosClass
from planner_models.resources import (
    Amounts,
    ResourceClaim,
    ResourceRequirements,
    non_zero_requests,
    pod_requests,
    scored_requests,
)
from planner_models.taints import Toleration
from planner_models.topology_spread import TopologySpreadConstraint, check_distinct
from planner_models.volume import Volume

DEFAULT_SCHEDULER = "default-scheduler"

PreemptionPolicy = Literal["PreemptLowerPriority", "Never"]


def _tcp_if_empty(protocol: object) -> object:
    return "TCP" if protocol == "" else protocol


class ContainerPort(KubeModel):
    """A port; only host ports matter to scheduling."""

    container_port: Int = 0
    host_port: Int = 0
    host_ip: str = Field(default="", alias="hostIP")
    protocol: Annotated[Literal["TCP", "UDP", "SCTP"], BeforeValidator(_tcp_if_empty)] = "TCP"

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        for name, port in (("containerPort", self.container_port), ("hostPort", self.host_port)):
            if not 0 <= port <= 65535:
                raise FieldError(name, f"{name} is {port}; it must be between 1 and 65535")
        return self


class ContainerRestartRule(KubeModel):
    """What happens when the container exits in a certain way (KEP 5307)."""

    action: str = ""


class Container(KubeModel):
    """A container, an init container or (restartPolicy Always on the latter) a sidecar."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements.defaults()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()

    def on_host_network(self) -> Self:
        """On the network of its node every port is one of the node's, as the API server sets it."""
        ports = (
            each if each.host_port else each.replace(host_port=each.container_port)
            for each in self.ports
        )
        return self.replace(ports=tuple(ports))

    @property
    def sidecar(self) -> bool:
        """Whether an init container keeps running beside the main ones (KEP 753)."""
        return self.restart_policy == "Always"


class SchedulingGate(KubeModel):
    """A gate that keeps the pod out of the queue until it is removed."""

    name: str


class PodSpec(KubeModel):
    """The scheduling-relevant part of a pod's spec that its replicas share.

    `nodeName` and volumes differ between replicas and therefore live on `Pod`.
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements = ResourceRequirements.defaults()
    overhead: Amounts = Field(default_factory=dict)
    node_selector: Labels = Field(default_factory=dict)
    affinity: Affinity = Affinity.defaults()
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: PreemptionPolicy | None = None
    scheduler_name: str = DEFAULT_SCHEDULER
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    host_network: Bool = False
    host_users: Bool | None = None
    runtime_class_name: str = ""
    resource_claims: tuple[ResourceClaim, ...] = ()

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        check_distinct(self.topology_spread_constraints)
        return self

    @cached_property
    def requests(self) -> Mapping[str, int]:
        """What NodeResourcesFit counts: milli-cores and whole units, overhead included."""
        return pod_requests(self)

    @cached_property
    def non_zero_requests(self) -> tuple[int, int]:
        """(milli-cpu, memory bytes) with the scheduler's defaults for silent containers."""
        return non_zero_requests(self)

    @cached_property
    def scored_requests(self) -> Mapping[str, int]:
        """What NodeResourcesFit adds for this pod when it scores a node."""
        return scored_requests(self)

    @cached_property
    def host_ports(self) -> tuple[tuple[str, str, int], ...]:
        """(hostIP, protocol, hostPort) of containers and sidecars, as NodePorts sees them."""
        return tuple(
            (port.host_ip or "0.0.0.0", port.protocol, port.host_port)
            for container in (*self.containers, *(c for c in self.init_containers if c.sidecar))
            for port in container.ports
            if port.host_port > 0
        )

    @cached_property
    def required_features(self) -> tuple[str, ...]:
        """What its node has to declare, as NodeDeclaredFeatures sees it."""
        return required_features(self)

    @property
    def exclusive_on_node(self) -> bool:
        """Whether the pod takes something that a node has once, and not just an amount: a port."""
        return bool(self.host_ports)


class TemplatePodSpec(PodSpec):
    """The spec inside a pod template, with what a pod gets of its own."""

    node_name: str = ""
    volumes: tuple[Volume, ...] = ()


class PodTemplate(KubeModel):
    """`spec.template` of a workload."""

    metadata: ObjectMeta = ObjectMeta.defaults()
    spec: TemplatePodSpec = TemplatePodSpec.defaults()


class ContainerState(msgspec.Struct, frozen=True, gc=False):
    """What a container's status says beyond "it runs and always has".

    `waiting` and `terminated` are reasons, None where the container is not in that state.
    """

    kind: ContainerKind
    restarts: int = 0
    waiting: str | None = None
    terminated: str | None = None
    exit_code: int | None = None


class PodCondition(msgspec.Struct, frozen=True, gc=False):
    """One condition of the pod's status; `since` is its lastTransitionTime."""

    type: str
    status: str = ""
    reason: str = ""
    since: int | None = None


class Pod(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """One pod. Equality is identity: two pods are never the same pod.

    `labels`, `annotations`, `owner`, `spec` and `volumes` are shared between pods whose text is the
    same; `annotations` keeps only the keys planner reads.
    """

    namespace: str
    name: str
    spec: PodSpec
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner: OwnerReference | None = None
    other_owners: tuple[OwnerReference, ...] = ()
    """Owner references beside the managing controller's."""
    volumes: tuple[Volume, ...] = ()
    uid: str = ""
    node_name: str = ""
    nominated_node_name: str = ""
    phase: Phase = "Pending"
    terminating: bool = False
    preempted: bool = False
    """Whether it is terminating because kube-scheduler chose it as a victim."""
    ready: bool = False
    created: int | None = None
    started: int | None = None
    qos_class: QosClass | None = None
    reason: str = ""
    """`status.reason`: why the pod as a whole failed."""
    container_states: tuple[ContainerState, ...] = ()
    """Only containers of which there is something to say, in the order main, init, ephemeral."""
    condition_kinds: tuple[tuple[str, str, str], ...] = ()
    """(type, status, reason) of each condition; shared, for nearly all pods have the same ones."""
    condition_times: str = ""
    """Their lastTransitionTimes, joined by commas: half a million in a large dump, seldom asked."""
    scheduler_message: str = ""
    """What kube-scheduler says of this pod in its condition PodScheduled: why no node takes it."""
    synthesised: bool = False
    finalizers: str = ""
    """`metadata.finalizers`, joined by commas: the object stays until all of them are gone."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def priority(self) -> int:
        """`spec.priority`, absent 0, as the queue orders by it."""
        return self.spec.priority or 0

    @property
    def owners(self) -> tuple[OwnerReference, ...]:
        """All owner references, the managing controller's first."""
        return self.other_owners if self.owner is None else (self.owner, *self.other_owners)

    @property
    def restarts(self) -> int:
        """How often its containers, init containers included, were started again."""
        return sum(state.restarts for state in self.container_states if state.kind != "ephemeral")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the pod failed, and why its containers wait or ended."""
        found = [self.reason]
        for state in self.container_states:
            if state.kind != "ephemeral":
                found += [state.waiting or "", state.terminated or ""]
        return tuple(reason for reason in found if reason)

    @property
    def conditions(self) -> tuple[PodCondition, ...]:
        """The conditions of the pod's status."""
        times = self.condition_times.split(",")
        return tuple(
            PodCondition(kind, status, reason, parse_time(time) if time else None)
            for (kind, status, reason), time in zip(self.condition_kinds, times, strict=False)
        )

    @property
    def stored(self) -> bool:
        """Whether the API server has seen the pod (it has a uid) or it is a manifest."""
        return bool(self.uid)

    @property
    def finished(self) -> bool:
        """Succeeded or failed: such a pod does not exist for the scheduler."""
        return self.phase in FINISHED
