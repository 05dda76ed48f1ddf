"""Small random clusters with nodes to drain: spread, anti-affinity, tight room and budgets.

random_drain(7)     the same cluster and nodes each time
"""

from __future__ import annotations

import random
from typing import Any

from planner.cluster import Cluster
from tests.objects import HOSTNAME, ZONE, cluster_of, node, owned, pod

Json = dict[str, Any]
MOST_LEAVING = 4


def random_drain(number: int) -> tuple[Cluster, tuple[int, ...]]:
    """A cluster, and the nodes to empty: few pods have to leave them."""
    draw = random.Random(number)
    size, zones = draw.randint(2, 4), draw.choice((1, 2, 2, 3))
    cpu = {f"n{i}": draw.choice((1, 2, 3)) for i in range(size)}
    objects = [
        node(name, "abc"[i % zones], status={"allocatable": {"cpu": str(room)}})
        for i, (name, room) in enumerate(cpu.items())
    ]
    free = {name: 1000 * room for name, room in cpu.items()}
    for app in ("web", "api", "db")[: draw.randint(1, 3)]:
        objects += _workload(draw, app, free)
    cluster = cluster_of(*objects)
    drained = draw.sample(range(size), draw.choice((1, 1, 2)))
    while sum(len(cluster.pods_on(each)) for each in drained) > MOST_LEAVING:
        drained.pop()
    return cluster, tuple(sorted(drained))


def _workload(draw: random.Random, app: str, free: dict[str, int]) -> list[Json]:
    request, replicas = draw.choice((200, 500, 1000)), draw.randint(1, 3)
    spec = _rules(draw, app)
    spec["containers"] = [{"name": "c", "resources": {"requests": {"cpu": f"{request}m"}}}]
    metadata = {"labels": {"app": app}, **owned("ReplicaSet", app)}
    found: list[Json] = []
    for i in range(replicas):
        homes = [name for name, room in free.items() if room >= request]
        if homes:
            home = draw.choice(homes)
            free[home] -= request
            ready = {"conditions": [{"type": "Ready", "status": "True"}]}
            found.append(pod(f"{app}-{i}", home, spec=spec, metadata=metadata, status=ready))
    if draw.random() < 0.6:
        found.append(_budget(draw, app, max(1, len(found))))
    return found


def _rules(draw: random.Random, app: str) -> Json:
    selector = {"matchLabels": {"app": app}}
    spec: Json = {}
    if draw.random() < 0.6:
        constraint = {
            "maxSkew": draw.choice((1, 1, 2)),
            "topologyKey": draw.choice((ZONE, HOSTNAME)),
            "whenUnsatisfiable": "DoNotSchedule",
            "nodeTaintsPolicy": draw.choice(("Ignore", "Ignore", "Honor")),
            "labelSelector": selector,
        }
        spec["topologySpreadConstraints"] = [constraint]
    if draw.random() < 0.25:
        term = {"topologyKey": HOSTNAME, "labelSelector": selector}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": required}
    return spec


def _budget(draw: random.Random, app: str, replicas: int) -> Json:
    limit = draw.choice(
        ({"maxUnavailable": 1}, {"maxUnavailable": 2}, {"minAvailable": max(1, replicas - 1)})
    )
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **limit},
    }
