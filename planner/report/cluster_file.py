"""A cluster as a file: the objects that were read, with pods where they are now.

The result is a `v1` List that kubectl and planner read. Objects are written as they came, so that
nothing is lost that planner has no use for; only pods change, nodes that were tainted, added or
removed, and numbers of replicas. Pods that planner made from templates are added, with what their
controllers would have made for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.owners import WorkloadRef
from planner.report.cluster_objects import change_nodes, change_replicas
from planner.report.text.files import write_file
from planner.sources.raw_objects import Json, ObjectKey, key_of, raw_objects
from planner.sources.read import RawDocument
from planner_models.pod import Pod
from planner_models.workload import HASH_LABEL

API_VERSIONS = {"Job": "batch/v1", "ReplicationController": "v1"}
"""Of controllers; all others are in apps/v1."""
LEAVING_SINCE = "1970-01-01T00:00:00Z"


def write_cluster(path: str, documents: Iterable[RawDocument], cluster: Cluster) -> None:
    """Write the List as a file."""
    write_file(path, msgspec.json.format(cluster_text(documents, cluster), indent=2) + b"\n")


def cluster_text(documents: Iterable[RawDocument], cluster: Cluster) -> bytes:
    """The List as JSON."""
    objects: dict[ObjectKey, Json] = {
        key_of(each): each
        for each in raw_objects(documents)
        if isinstance(each.get("metadata"), dict)
    }
    change_nodes(objects, cluster)
    change_replicas(objects, cluster)
    for index, pod in enumerate(cluster.pods):
        node = int(cluster.node_of[index])
        raw = objects.get(("Pod", pod.namespace, pod.name))
        if raw is None and pod.synthesised and node >= PENDING and not pod.terminating:
            raw = _made(pod, objects, cluster)
        if raw is None:
            continue
        key = ("Pod", pod.namespace, pod.name)
        if node >= 0:
            objects[key] = _placed(_leaving(raw, pod), cluster.nodes[node].name)
        elif node == PENDING:
            objects[key] = _waiting(raw)
        elif node == GONE:
            objects.pop(key, None)
    items = list(objects.values())
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items})


def _placed(raw: Json, node: str) -> Json:
    """As after binding; a pod that runs there already is left as it is."""
    spec = raw.get("spec") or {}
    if spec.get("nodeName") == node:
        return raw
    status = {k: v for k, v in (raw.get("status") or {}).items() if k != "nominatedNodeName"}
    conditions = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
    status["phase"] = status.get("phase") or "Pending"
    status["conditions"] = [*conditions, {"type": "PodScheduled", "status": "True"}]
    return {**raw, "spec": {**spec, "nodeName": node}, "status": status}


def _leaving(raw: Json, pod: Pod) -> Json:
    """A pod that was told to go and has not gone; when is not known."""
    metadata = raw["metadata"]
    if not pod.terminating or metadata.get("deletionTimestamp"):
        return raw
    return {**raw, "metadata": {**metadata, "deletionTimestamp": LEAVING_SINCE}}


def _waiting(raw: Json) -> Json:
    spec = raw.get("spec") or {}
    return {**raw, "spec": {k: v for k, v in spec.items() if k != "nodeName"}}


def _made(pod: Pod, objects: dict[ObjectKey, Json], cluster: Cluster) -> Json | None:
    """A pod from the text of its template, with its ReplicaSet if that had to be made, too."""
    owner = pod.owner
    if owner is None:
        return None
    key = (owner.kind, pod.namespace, owner.name)
    if key not in objects and owner.kind == "ReplicaSet":
        made = _replica_set(pod, objects, cluster)
        if made is not None:
            objects[key] = made
    template = ((objects.get(key) or {}).get("spec") or {}).get("template") or {}
    metadata = template.get("metadata") or {}
    spec = dict(template.get("spec") or {})
    if owner.kind == "DaemonSet":
        for field in ("affinity", "tolerations"):
            spec[field] = pod.spec.model_dump(
                mode="json", by_alias=True, exclude_defaults=True, include={field}
            ).get(field)
    spec["volumes"] = list(_volumes(spec.get("volumes") or (), pod))
    reference = {
        "apiVersion": API_VERSIONS.get(owner.kind, "apps/v1"),
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "labels": dict(pod.labels),
            "annotations": metadata.get("annotations") or {},
            "ownerReferences": [reference],
        },
        "spec": spec,
    }


def _volumes(raw: Iterable[Json], pod: Pod) -> Iterator[Json]:
    """The template's volumes; claims of a StatefulSet are the pod's own."""
    claimed = {
        volume.name: volume.persistent_volume_claim.claim_name
        for volume in pod.volumes
        if volume.persistent_volume_claim is not None
    }
    seen: set[str] = set()
    for volume in raw:
        seen.add(volume["name"])
        yield volume
    for name, claim in claimed.items():
        if name not in seen:
            yield {"name": name, "persistentVolumeClaim": {"claimName": claim}}


def _replica_set(pod: Pod, objects: Mapping[ObjectKey, Json], cluster: Cluster) -> Json | None:
    """The ReplicaSet that a Deployment's controller would make."""
    owner = pod.owner
    if owner is None:
        return None
    found = cluster.owners.controllers.get(WorkloadRef(pod.namespace, owner.kind, owner.name))
    parent = found.metadata.controller if found is not None else None
    raw = objects.get(("Deployment", pod.namespace, parent.name)) if parent is not None else None
    if raw is None or parent is None:
        return None
    spec = raw.get("spec") or {}
    template = spec.get("template") or {}
    labels = {**((template.get("metadata") or {}).get("labels") or {})}
    if HASH_LABEL in pod.labels:
        labels[HASH_LABEL] = pod.labels[HASH_LABEL]
    metadata = {**(template.get("metadata") or {}), "labels": labels}
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": parent.name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": owner.name,
            "namespace": pod.namespace,
            "labels": labels,
            "ownerReferences": [{**reference, "uid": parent.uid, "controller": True}],
        },
        "spec": {
            "replicas": spec.get("replicas", 1),
            "selector": spec.get("selector"),
            "template": {**template, "metadata": metadata},
        },
    }
