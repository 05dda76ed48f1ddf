"""Kubernetes objects for tests, as plain JSON values, and the way from them to a cluster."""

from __future__ import annotations

import json
from typing import Any

from planner.cluster import Cluster, build_cluster
from planner.sources.inventory import Inventory
from planner.sources.load import load_documents
from planner.sources.read import RawDocument

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def merged(base: Json, changes: Json) -> Json:
    """The base with the changes put in, mapping by mapping."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[key] = merged(old, value) if both and old is not None else value
    return result


def node(name: str, zone: str = "a", **changes: Any) -> Json:
    base = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }
    return merged(base, changes)


def pod(name: str, node_name: str = "", *, spec: Json | None = None, **changes: Any) -> Json:
    """A stored pod (it has a uid); running if it has a node."""
    base: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "500m"}}}]},
        "status": {"phase": "Running" if node_name else "Pending"},
    }
    if node_name:
        base["spec"]["nodeName"] = node_name
    return merged(base, {"spec": spec or {}, **changes})


def manifest(name: str, *, spec: Json | None = None, **changes: Any) -> Json:
    """A pod that was never applied."""
    made = pod(name, spec=spec, **changes)
    del made["metadata"]["uid"], made["status"]
    return made


def owned(kind: str, name: str) -> Json:
    """Metadata of an object that this controller manages."""
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": "o", "controller": True}]}


def template(labels: dict[str, str] | None = None, spec: Json | None = None) -> Json:
    containers = [{"name": "main", "resources": {"requests": {"cpu": "500m"}}}]
    return {
        "metadata": {"labels": labels or {"app": "web"}},
        "spec": merged({"containers": containers}, spec or {}),
    }


def workload(kind: str, name: str, spec: Json | None = None, **changes: Any) -> Json:
    group = {"Job": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    base: Json = {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": template()},
    }
    if kind not in ("Job", "ReplicationController"):
        base["spec"]["selector"] = {"matchLabels": {"app": "web"}}
    return merged(base, {"spec": spec or {}, **changes})


def document(*objects: Any, file: str = "web.yaml") -> RawDocument:
    value = objects[0] if len(objects) == 1 else {"kind": "List", "items": list(objects)}
    return RawDocument(file=file, data=json.dumps(value).encode(), line=1)


def inventory_of(*objects: Any) -> Inventory:
    return load_documents([document(*objects)])


def cluster_of(*objects: Any) -> Cluster:
    return build_cluster(inventory_of(*objects))
