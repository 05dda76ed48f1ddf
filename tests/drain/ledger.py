"""The packaged cluster with one more workload: a single replica under a budget."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

Json = dict[str, Any]
LABELS = {"app": "ledger", "pod-template-hash": "abc12"}


def with_ledger(budget: Json) -> list[Json]:
    """zone-outage-before, and ledger: 1 replica on c2, 500m and 1Gi, under this budget."""
    text = (files("planner.examples") / "data" / "zone-outage-before.json").read_text()
    items: list[Json] = json.loads(text)["items"]
    spec = {
        "containers": [{"name": "app", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]
    }
    deployment = _object("Deployment", "ledger", uid="d")
    deployment["spec"] = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "ledger"}},
        "template": {"metadata": {"labels": {"app": "ledger"}}, "spec": spec},
    }
    replica_set = _object("ReplicaSet", "ledger-abc12", uid="r", owner=("Deployment", "ledger"))
    replica_set["spec"] = {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": spec},
    }
    pod = _object("Pod", "ledger-abc12-00", uid="p", owner=("ReplicaSet", "ledger-abc12"))
    pod["metadata"]["labels"] = LABELS
    pod["spec"] = {**spec, "nodeName": "c2"}
    ready = [{"type": "Ready", "status": "True"}]
    pod["status"] = {"phase": "Running", "conditions": ready}
    limits = _object("PodDisruptionBudget", "ledger", uid="b")
    limits["spec"] = {"selector": {"matchLabels": {"app": "ledger"}}, **budget}
    return [*items, deployment, replica_set, pod, limits]


def _object(kind: str, name: str, *, uid: str, owner: tuple[str, str] | None = None) -> Json:
    version = {"Pod": "v1", "PodDisruptionBudget": "policy/v1"}.get(kind, "apps/v1")
    metadata: Json = {"name": name, "namespace": "default", "uid": uid}
    if owner is not None:
        reference = {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1]}
        metadata["ownerReferences"] = [{**reference, "uid": "d", "controller": True}]
    return {"apiVersion": version, "kind": kind, "metadata": metadata}
