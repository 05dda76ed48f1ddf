"""Clusters of a few pods, written in few words."""

from __future__ import annotations

from typing import Any

import msgspec

from planner.cluster import Cluster, build_cluster
from planner.sources.inventory import Inventory
from planner_models.meta import OwnerReference
from planner_models.node import HOSTNAME, ZONE, Node
from planner_models.pod import Pod, PodSpec

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def node(name: str, zone: str = "", *, cpu: str = "8", pods: str = "20", **spec: Any) -> Node:
    zonal = {ZONE: zone} if zone else {}
    return Node.model_validate(
        {
            "metadata": {"name": name, "labels": {HOSTNAME: name, **zonal}},
            "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": "32Gi", "pods": pods}},
        }
    )


def spread(key: str = ZONE, skew: int = 1, app: str = "a", **fields: Any) -> dict[str, Any]:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **fields,
    }


def apart(key: str = HOSTNAME, app: str = "a") -> dict[str, Any]:
    """Required anti-affinity to the pods of an app."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {REQUIRED: [term]}}


def pods(*nodes: str, app: str = "a", cpu: str = "0", **fields: Any) -> list[Pod]:
    """Replicas of one workload, one on each of the nodes; "" waits."""
    constraints = fields.pop("spread", [])
    of_the_pod = {k: fields.pop(k) for k in ("terminating", "annotations") if k in fields}
    container: dict[str, Any] = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    if "port" in fields:
        container["ports"] = [{"hostPort": fields.pop("port"), "containerPort": 80}]
    spec = PodSpec.model_validate(
        {"containers": [container], "topologySpreadConstraints": constraints, **fields}
    )
    owner = OwnerReference(kind="ReplicaSet", name=app, controller=True)
    labels = {"app": app}
    return [
        Pod(
            namespace="default",
            name=app,
            spec=spec,
            labels=labels,
            owner=owner,
            node_name=name,
            **of_the_pod,
        )
        for name in nodes
    ]


def cluster(nodes: list[Node], *workloads: list[Pod]) -> Cluster:
    """Pods are named `app-0`, `app-1`, ... in their order."""
    named = [
        msgspec.structs.replace(pod, name=f"{pod.name}-{i}", uid=f"{pod.name}-{i}")
        for workload in workloads
        for i, pod in enumerate(workload)
    ]
    return build_cluster(Inventory(nodes=tuple(nodes), pods=tuple(named)))
