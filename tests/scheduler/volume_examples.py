"""Small clusters with storage, written in few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.cluster import build_cluster
from planner.scheduler.framework.plugin import FilterPlugin, PreFilterResult, Status
from planner.scheduler.framework.state import SchedulingState
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import Node
from planner_models.pod import Pod, PodSpec
from planner_models.selectors import NodeSelector
from planner_models.volume import (
    BIND_COMPLETED,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    Volume,
    VolumeAttachment,
)

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
DRIVER = "disk.csi.example.com"


def node(name: str, labels: Mapping[str, str] | None = None, *, zone: str = "") -> Node:
    zonal = {ZONE: zone} if zone else {}
    return Node(metadata=ObjectMeta(name=name, labels={HOSTNAME: name, **zonal, **(labels or {})}))


def pod(
    name: str,
    *claims: str,
    on: str = "",
    namespace: str = "default",
    volumes: Sequence[Mapping[str, Any]] = (),
) -> Pod:
    mounted = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return Pod(
        namespace=namespace,
        name=name,
        uid=f"uid-of-{name}",
        spec=PodSpec(),
        node_name=on,
        volumes=tuple(Volume.model_validate(v) for v in (*mounted, *volumes)),
    )


def claim(
    name: str,
    *,
    bound_to: str = "",
    storage_class: str | None = "late",
    size: str = "10Gi",
    modes: Sequence[str] = ("ReadWriteOnce",),
    annotations: Mapping[str, str] | None = None,
    namespace: str = "default",
    owner: str = "",
    **spec: Any,
) -> PersistentVolumeClaim:
    completed = {BIND_COMPLETED: "yes"} if bound_to else {}
    made = PersistentVolumeClaim.model_validate(
        {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"uid-of-{name}",
                "annotations": {**completed, **(annotations or {})},
            },
            "spec": {
                "accessModes": list(modes),
                "resources": {"requests": {"storage": size}},
                "volumeName": bound_to,
                "storageClassName": storage_class,
                **spec,
            },
            "status": {"phase": "Bound" if bound_to else "Pending"},
        }
    )
    if not owner:
        return made
    reference = OwnerReference(kind="Pod", name=owner, uid=f"uid-of-{owner}", controller=True)
    return made.replace(metadata=made.metadata.replace(owner_references=(reference,)))


def volume(
    name: str,
    *,
    zones: Sequence[str] = (),
    hosts: Sequence[str] = (),
    size: str = "10Gi",
    storage_class: str = "late",
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> PersistentVolume:
    """A free CSI volume; `zones` and `hosts` are its node affinity, `labels` its own."""
    asked = [(ZONE, zones), (HOSTNAME, hosts)]
    expressions = [{"key": k, "operator": "In", "values": list(v)} for k, v in asked if v]
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return PersistentVolume.model_validate(
        {
            "metadata": {"name": name, "labels": dict(labels or {})},
            "spec": {
                "capacity": {"storage": size},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage_class,
                "csi": {"driver": DRIVER, "volumeHandle": f"handle-of-{name}"},
                "nodeAffinity": {"required": NodeSelector.model_validate(terms)}
                if expressions
                else {},
                **spec,
            },
            "status": {"phase": "Available"},
        }
    )


def storage_class(name: str = "late", *, provisioner: str = DRIVER, **fields: Any) -> StorageClass:
    """A class that waits for the first consumer, unless told otherwise."""
    return StorageClass.model_validate(
        {
            "metadata": {"name": name},
            "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer",
            **fields,
        }
    )


def limit(node_name: str, count: int | None) -> CSINode:
    """How many volumes of the driver a node can attach."""
    driver = {"name": DRIVER, "allocatable": {"count": count}}
    return CSINode.model_validate({"metadata": {"name": node_name}, "spec": {"drivers": [driver]}})


def attachment(node_name: str, volume_name: str) -> VolumeAttachment:
    return VolumeAttachment.model_validate(
        {
            "metadata": {"name": f"{node_name}-{volume_name}"},
            "spec": {
                "attacher": DRIVER,
                "nodeName": node_name,
                "source": {"persistentVolumeName": volume_name},
            },
        }
    )


def state_of(
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    *,
    claims: Sequence[PersistentVolumeClaim] = (),
    volumes: Sequence[PersistentVolume] = (),
    classes: Sequence[StorageClass] = (),
    **others: Any,
) -> SchedulingState:
    return SchedulingState(
        build_cluster(
            Inventory(
                nodes=tuple(nodes),
                pods=tuple(pods),
                claims=tuple(claims),
                persistent_volumes=tuple(volumes),
                storage_classes=tuple(classes),
                **others,
            )
        )
    )


def pre_filter(plugin: FilterPlugin, state: SchedulingState, name: str) -> PreFilterResult:
    """What a plugin says of a pod of the default namespace before it looks at nodes."""
    return plugin.pre_filter(state, state.group(index(state, name)))


def rejection(plugin: FilterPlugin, state: SchedulingState, name: str) -> Status | None:
    return pre_filter(plugin, state, name).rejection


def refusals(plugin: FilterPlugin, state: SchedulingState, name: str) -> dict[str, str]:
    """The nodes that a plugin refuses for a pod, with its reasons."""
    return judged(state, pre_filter(plugin, state, name))


def judged(state: SchedulingState, result: PreFilterResult) -> dict[str, str]:
    """The nodes that a filter refuses right now, with its reasons."""
    assert result.rejection is None
    if result.filter is None:
        return {}
    found = result.filter.verdicts().tolist()
    assert found == [result.filter.verdict_at(i) for i in range(len(found))]
    verdicts = zip(state.cluster.nodes, found, strict=True)
    return {
        each.name: ", ".join(result.filter.status(verdict).reasons)
        for each, verdict in verdicts
        if verdict
    }


def judged_at(state: SchedulingState, result: PreFilterResult, name: str) -> str:
    """Why a filter refuses one node in a what-if, or nothing."""
    assert result.filter is not None
    verdict = result.filter.verdict_at(state.cluster.node_index[name])
    return ", ".join(result.filter.status(verdict).reasons) if verdict else ""


def index(state: SchedulingState, name: str, namespace: str = "default") -> int:
    return state.cluster.pod_index[f"{namespace}/{name}"]


def place(state: SchedulingState, name: str, on: str) -> None:
    state.place(index(state, name), state.cluster.node_index[on])


def remove(state: SchedulingState, name: str) -> None:
    state.remove(index(state, name))


def gets(state: SchedulingState, name: str, on: str) -> tuple[dict[str, str], list[str]]:
    """What the unbound claims of a pod would get on a node: bound, provisioned."""
    found = state.volumes.bindings(state.group(index(state, name)), state.cluster.node_index[on])
    return dict(found.bind), list(found.provision)
