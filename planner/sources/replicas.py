"""What the replicas of a workload have in common, and the names they get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from planner.sources.pod_row import ANNOTATIONS
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.pod import Pod, PodSpec, PodTemplate
from planner_models.volume import ClaimSource, Volume
from planner_models.workload import StatefulSet


@dataclass(frozen=True, eq=False)
class Mould:
    """Everything about a new replica but its name; shared, so that replicas form one group."""

    namespace: str
    spec: PodSpec
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    volumes: tuple[Volume, ...]
    owner: OwnerReference
    node_name: str

    def pod(self, name: str) -> Pod:
        """A replica of this name."""
        return Pod(
            namespace=self.namespace,
            name=name,
            spec=self.spec,
            labels=self.labels,
            annotations=self.annotations,
            volumes=self.volumes,
            owner=self.owner,
            node_name=self.node_name,
            synthesised=True,
        )


def mould(
    template: PodTemplate, namespace: str, owner: OwnerReference, sibling: Pod | None
) -> Mould:
    """Replicas of a template; a sibling shows what admission made of it, so its spec is used.

    All but the gates: the sibling's may have been lifted, a new pod has those of the template.
    """
    spec = PodSpec().replace(
        **{name: getattr(template.spec, name) for name in PodSpec.model_fields}
    )
    if sibling is not None and sibling.spec.scheduling_gates == spec.scheduling_gates:
        spec, owner = sibling.spec, sibling.owner or owner
    read = {key for _, key in ANNOTATIONS}
    return Mould(
        namespace=namespace,
        spec=spec,
        labels=template.metadata.labels,
        annotations={k: v for k, v in template.metadata.annotations.items() if k in read},
        volumes=template.spec.volumes,
        owner=owner,
        node_name=template.spec.node_name,
    )


def stateful_pod(replica: Mould, owner: StatefulSet, ordinal: int) -> Pod:
    """The replica of an ordinal: with its name in the labels, and with claims of its own."""
    name = f"{owner.name}-{ordinal}"
    labels = {
        **replica.labels,
        "apps.kubernetes.io/pod-index": str(ordinal),
        "statefulset.kubernetes.io/pod-name": name,
    }
    claimed = (
        Volume(
            name=each.metadata.name,
            persistent_volume_claim=ClaimSource(claim_name=f"{each.metadata.name}-{name}"),
        )
        for each in owner.spec.volume_claim_templates
    )
    volumes = (*claimed, *replica.volumes)
    return msgspec.structs.replace(replica.pod(name), labels=labels, volumes=volumes)


def owner_of(kind: str, metadata: ObjectMeta) -> OwnerReference:
    """The reference of a pod to its controller."""
    return OwnerReference(kind=kind, name=metadata.name, uid=metadata.uid, controller=True)
