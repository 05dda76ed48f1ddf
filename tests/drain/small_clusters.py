"""Small random clusters at rest, in which every set of nodes can be tried."""

from __future__ import annotations

import random
from typing import Any

from planner.cluster import Cluster
from planner.evictions.suggest import settled
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, cluster_of, node, owned, pod


def small_cluster(seed: int, most_nodes: int) -> Cluster:
    """Two or three zones, hard spread and budgets on some workloads; nobody waits."""
    draw = random.Random(seed)
    zones = draw.choice(("ab", "abc"))
    count = draw.randint(len(zones), most_nodes)
    objects: list[dict[str, Any]] = [node(f"n{i}", zones[i % len(zones)]) for i in range(count)]
    for number in range(draw.randint(1, 4)):
        objects += _workload(draw, f"app-{number}", count)
    cluster = settled(cluster_of(*objects), default_profile())
    return cluster.without(cluster.pending.tolist())


def _workload(draw: random.Random, name: str, nodes: int) -> list[dict[str, Any]]:
    replicas = draw.randint(1, nodes + 2)
    cpu = draw.choice(("250m", "500m", "1", "1500m"))
    skews = ((ZONE, draw.choice((0, 0, 1, 1, 2))), (HOSTNAME, draw.choice((0, 0, 0, 1, 2))))
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
        "topologySpreadConstraints": [
            _spread(draw, name, key, skew) for key, skew in skews if skew
        ],
    }
    metadata = {"labels": {"app": name}, **owned("ReplicaSet", name)}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    found = [
        pod(f"{name}-{i}", spec=spec, metadata=metadata, status=ready) for i in range(replicas)
    ]
    if draw.random() < 0.4:
        found.append(_budget(name))
    return found


def _spread(draw: random.Random, name: str, key: str, skew: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
    }
    if draw.random() < 0.25:
        found["nodeTaintsPolicy"] = "Honor"
    if draw.random() < 0.2:
        found["minDomains"] = 2
    return found


def _budget(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}},
    }
