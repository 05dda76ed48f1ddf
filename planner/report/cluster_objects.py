"""Nodes and numbers of replicas in a written cluster, where something changed them."""

from __future__ import annotations

from typing import Any

from planner.cluster import Cluster
from planner_models.node import Node
from planner_models.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet

Json = dict[str, Any]
Objects = dict[tuple[str, str, str], Json]


def change_nodes(objects: Objects, cluster: Cluster) -> None:
    """Removed nodes go, new ones come, and others have the taints and the readiness of now."""
    for index, node in enumerate(cluster.nodes):
        key = ("Node", "default", node.name)
        raw = objects.get(key)
        if index in cluster.ghosts:
            objects.pop(key, None)
        elif raw is None:
            objects[key] = _new(node)
        elif _taints(raw) != _told(node) or _cordoned(raw) != node.spec.unschedulable:
            objects[key] = _changed(raw, node)


def change_replicas(objects: Objects, cluster: Cluster) -> None:
    """Controllers want as many pods as they do now."""
    for ref, found in cluster.owners.controllers.items():
        raw = objects.get((ref.kind, ref.namespace, ref.name))
        if raw is None or not isinstance(
            found, Deployment | ReplicaSet | StatefulSet | ReplicationController
        ):
            continue
        spec = raw.get("spec") or {}
        wanted = found.spec.replicas
        if spec.get("replicas", 1) != wanted:
            raw = {**raw, "spec": {**spec, "replicas": wanted}}
            objects[ref.kind, ref.namespace, ref.name] = raw


def _new(node: Node) -> Json:
    told = node.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"apiVersion": "v1", "kind": "Node", **told}


def _told(node: Node) -> list[tuple[str, str, str]]:
    return sorted((taint.key, taint.value, taint.effect) for taint in node.spec.taints)


def _taints(raw: Json) -> list[tuple[str, str, str]]:
    every = (raw.get("spec") or {}).get("taints") or ()
    return sorted((each["key"], each.get("value") or "", each["effect"]) for each in every)


def _cordoned(raw: Json) -> bool:
    return bool((raw.get("spec") or {}).get("unschedulable"))


def _changed(raw: Json, node: Node) -> Json:
    spec = {**(raw.get("spec") or {})}
    spec["taints"] = [
        {k: v for k, v in (("key", key), ("value", value), ("effect", effect)) if v}
        for key, value, effect in _told(node)
    ]
    spec["unschedulable"] = node.spec.unschedulable
    status = raw.get("status") or {}
    ready = [each for each in node.status.conditions if each.type == "Ready"]
    others = [each for each in status.get("conditions") or () if each.get("type") != "Ready"]
    now = [{"type": "Ready", "status": each.status} for each in ready]
    return {**raw, "spec": spec, "status": {**status, "conditions": [*others, *now]}}
