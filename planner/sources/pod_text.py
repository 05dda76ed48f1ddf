"""The texts of pods and templates, taken apart without building what scheduling ignores.

These shapes say where the parts stand that planner reads. What goes to a model stays raw text, so
that equal texts are validated once; managed fields, environment, probes and the like are skipped.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

Raw = msgspec.Raw
ABSENT = (b"", b"null")
NOTHING = Raw()
"""The one raw text of fields that are not there: known by identity, without a copy."""

Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]

_encode = msgspec.json.Encoder().encode


class Annotations(
    msgspec.Struct,
    rename={
        "mirror": "kubernetes.io/config.mirror",
        "source": "kubernetes.io/config.source",
        "prefer_no_eviction": "descheduler.alpha.kubernetes.io/prefer-no-eviction",
        "evict": "descheduler.alpha.kubernetes.io/evict",
        "request_evict_only": "descheduler.alpha.kubernetes.io/request-evict-only",
        "safe_to_evict": "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "safe_to_evict_local": "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes",
        "do_not_disrupt": "karpenter.sh/do-not-disrupt",
        "deletion_cost": "controller.kubernetes.io/pod-deletion-cost",
        "ignore": "planner/ignore",
    },
    gc=False,
):
    """The annotations planner reads; the others are skipped without being built."""

    mirror: str | None = None
    source: str | None = None
    prefer_no_eviction: str | None = None
    evict: str | None = None
    request_evict_only: str | None = None
    safe_to_evict: str | None = None
    safe_to_evict_local: str | None = None
    do_not_disrupt: str | None = None
    deletion_cost: str | None = None
    ignore: str | None = None


class MetadataText(msgspec.Struct, rename="camel", gc=False):
    """`metadata` of a pod."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: Raw = NOTHING
    annotations: Annotations | None = None
    owner_references: Raw = NOTHING
    generation: int | None = None
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    finalizers: list[str] | None = None


class ContainerText(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """A container of a pod or template."""

    name: str | None = None
    image: str | None = None
    resources: Raw = NOTHING
    ports: Raw = NOTHING
    restart_policy: str | None = None
    restart_policy_rules: Raw = NOTHING

    def text(self) -> bytes:
        """Everything that makes it this container."""
        return _encode(self)


class VolumeText(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """A volume with the sources that scheduling or moving looks at."""

    name: str
    persistent_volume_claim: Raw = NOTHING
    ephemeral: Raw = NOTHING
    gce_persistent_disk: Raw = NOTHING
    aws_elastic_block_store: Raw = NOTHING
    iscsi: Raw = NOTHING
    rbd: Raw = NOTHING
    empty_dir: Raw = NOTHING
    host_path: Raw = NOTHING

    def text(self) -> bytes:
        """The volume with the sources that matter, or nothing if none does."""
        if (
            self.persistent_volume_claim
            is self.ephemeral
            is self.gce_persistent_disk
            is self.aws_elastic_block_store
            is self.iscsi
            is self.rbd
            is self.empty_dir
            is self.host_path
            is NOTHING
        ):
            return b""
        return _encode(self)


class SpecText(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """`spec` of a pod or template."""

    node_name: str | None = None
    containers: list[ContainerText] | None = None
    init_containers: list[ContainerText] | None = None
    volumes: list[VolumeText] | None = None
    resources: Raw = NOTHING
    overhead: Raw = NOTHING
    node_selector: Raw = NOTHING
    affinity: Raw = NOTHING
    tolerations: Raw = NOTHING
    topology_spread_constraints: Raw = NOTHING
    priority: Raw = NOTHING
    priority_class_name: Raw = NOTHING
    preemption_policy: Raw = NOTHING
    scheduler_name: Raw = NOTHING
    scheduling_gates: Raw = NOTHING
    host_network: Raw = NOTHING
    host_users: Raw = NOTHING
    runtime_class_name: Raw = NOTHING
    resource_claims: Raw = NOTHING

    def text(self) -> bytes:
        """Everything in it."""
        return _encode(self)

    def shared(self) -> bytes:
        """What replicas have in common."""
        own, self.node_name, self.volumes = (self.node_name, self.volumes), None, None
        text = _encode(self)
        self.node_name, self.volumes = own
        return text

    def rest(self) -> bytes:
        """What replicas have in common, without the parts that also differing specs share."""
        return _encode(
            msgspec.structs.replace(
                self,
                node_name=None,
                volumes=None,
                containers=None,
                init_containers=None,
                affinity=NOTHING,
                tolerations=NOTHING,
                topology_spread_constraints=NOTHING,
            )
        )


class ConditionText(msgspec.Struct, rename="camel", gc=False):
    """A condition of a pod."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    last_transition_time: str | None = None
    message: str | None = None
    observed_generation: int | None = None


class ReasonText(msgspec.Struct, rename="camel", gc=False):
    """Why a container waits or ended."""

    reason: str | None = None
    exit_code: int | None = None


class StateText(msgspec.Struct, gc=False):
    """The state of a container."""

    waiting: ReasonText | None = None
    terminated: ReasonText | None = None


class ContainerStatusText(msgspec.Struct, rename="camel", gc=False):
    """How a container fares."""

    allocated_resources: Raw = NOTHING
    name: str | None = None
    resources: Raw = NOTHING
    restart_count: int | None = None
    state: StateText | None = None


class StatusText(msgspec.Struct, rename="camel", gc=False):
    """`status` of a pod; its words may be any text, as for the API server."""

    phase: str | None = None
    reason: str | None = None
    qos_class: str | None = None
    nominated_node_name: str | None = None
    start_time: Timestamp | None = None
    conditions: list[ConditionText] | None = None
    container_statuses: list[ContainerStatusText] | None = None
    init_container_statuses: list[ContainerStatusText] | None = None
    ephemeral_container_statuses: list[ContainerStatusText] | None = None
    resources: Raw = NOTHING
    allocated_resources: Raw = NOTHING


class PodText(msgspec.Struct, gc=False):
    """A pod."""

    metadata: MetadataText | None = None
    spec: SpecText | None = None
    status: StatusText | None = None


class TemplateMetadataText(msgspec.Struct, gc=False):
    """`metadata` of a template."""

    labels: Raw = NOTHING
    annotations: Raw = NOTHING


class TemplateText(msgspec.Struct, gc=False):
    """A pod template of a workload."""

    metadata: TemplateMetadataText | None = None
    spec: SpecText | None = None
