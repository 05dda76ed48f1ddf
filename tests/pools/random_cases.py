"""Random demand in Karpenter's published mix: five kinds of rules, many sizes, a cloud's prices."""

from __future__ import annotations

import random

from planner.cluster import Cluster
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, template, workload
from tests.pools.templates import pool

ZONES = "a,b,c"
FAMILIES = (("c", 2, "0.0446"), ("m", 4, "0.0504"), ("r", 8, "0.0661"))
SIZES = (2, 4, 8)


def instance_types() -> list[Json]:
    """Three families in three sizes: the kubelet's reserve is taken off, prices grow with CPU."""
    return [
        pool(
            f"{family}-{cpus}",
            f"{cpus * 1000 - 70 - 10 * cpus}m",
            f"{int(cpus * ratio * 1024 * 0.93) - 350}Mi",
            price=f"{float(price) * cpus:.4f}",
            zones=ZONES,
        )
        for family, ratio, price in FAMILIES
        for cpus in SIZES
    ]


def demand(seed: int, workloads: int, replicas: tuple[int, int]) -> Cluster:
    """Workloads that wait beside three nodes, one in each zone, with little room."""
    draw = random.Random(seed)
    there = [
        node(f"old-{zone}", zone, status={"allocatable": {"cpu": "1", "memory": "2Gi"}})
        for zone in "abc"
    ]
    return cluster_of(*there, *(_workload(draw, i, replicas) for i in range(workloads)))


def _workload(draw: random.Random, number: int, replicas: tuple[int, int]) -> Json:
    name = f"w{number}"
    labels = {"app": name}
    requests = {
        "cpu": f"{50 * draw.randint(2, 30)}m",
        "memory": f"{64 * draw.randint(2, 64)}Mi",
    }
    rules: list[Json] = [
        {},
        spread(ZONE, labels),
        spread(HOSTNAME, labels, maxSkew=2),
        _affinity("podAffinity", ZONE, labels),
        _affinity("podAntiAffinity", HOSTNAME, labels),
    ]
    spec = {
        "containers": [{"name": "main", "resources": {"requests": requests}}],
        **draw.choice(rules),
    }
    found = {
        "replicas": draw.randint(*replicas),
        "selector": {"matchLabels": labels},
        "template": template(labels, spec),
    }
    return workload("Deployment", name, found)


def _affinity(kind: str, key: str, labels: dict[str, str]) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
