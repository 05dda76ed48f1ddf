"""A cluster with more nodes than its pods need, as scale-downs leave it behind.

Nodes of two sizes in three zones; Deployments of 3 to 300 pods, half of them spread over zones by a
hard rule and some over hosts, some with budgets. Every workload is even over the zones, so nothing
is broken; which node of a zone a pod is on is drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster, build_cluster
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, INSTANCE_TYPE, ZONE, Node, NodeStatus
from planner_models.pod import Container, Pod, PodSpec
from planner_models.policy import PodDisruptionBudget
from planner_models.resources import ResourceRequirements
from planner_models.selectors import LabelSelector
from planner_models.topology_spread import TopologySpreadConstraint

ZONES = ("zone-a", "zone-b", "zone-c")
SIZES = (("large", 16_000), ("xlarge", 32_000))
PODS_PER_NODE = 30
GIB_PER_CORE = 4
HOST_SPREAD = 30
"""Workloads that are spread over hosts have no more pods than this."""


@dataclass(frozen=True)
class Workload:
    """A Deployment."""

    name: str
    replicas: int
    cpu_milli: int
    zone_skew: int
    host_skew: int
    budget: int | None


def sparse_cluster(nodes: int, load: float, seed: int) -> Cluster:
    """So many nodes, 30 pods on each in the mean, this part of the CPU requested."""
    rng = np.random.default_rng([18, seed])
    sizes = rng.integers(0, len(SIZES), nodes)
    offered = np.array([SIZES[size][1] for size in sizes.tolist()])
    free = (offered * 0.95).astype(np.int64)
    mean = load * float(offered.sum()) / (nodes * PODS_PER_NODE)
    loads: list[Workload] = []
    pods: list[Pod] = []
    for workload in _workloads(rng, nodes, mean):
        loads.append(workload)
        pods += _pods(workload, _homes(rng, workload, free))
    inventory = Inventory(
        nodes=tuple(_node(i, int(size)) for i, size in enumerate(sizes.tolist())),
        pods=tuple(pods),
        budgets=tuple(_budget(each) for each in loads if each.budget is not None),
    )
    return build_cluster(inventory)


def _workloads(rng: np.random.Generator, nodes: int, mean: float) -> Iterator[Workload]:
    left, number = nodes * PODS_PER_NODE, 0
    while left > 0:
        zone, host = int(rng.choice([0, 1, 1, 2])), int(rng.choice([0, 0, 0, 1, 2]))
        replicas = min(left, int(3 * ((HOST_SPREAD / 3 if host else 100) ** rng.random())))
        left -= replicas
        cpu = max(10, 10 * int(mean * rng.choice([0.2, 0.5, 1.0, 1.5, 1.8]) / 10))
        budget = max(1, replicas // 10) if rng.random() < 0.4 else None
        yield Workload(f"app-{number:05d}", replicas, cpu, zone, host, budget)
        number += 1


def _homes(rng: np.random.Generator, load: Workload, free: np.ndarray) -> Iterator[int]:
    """The zones in turn, a random node with room in each, no node twice if that can be."""
    used = np.zeros(len(free), np.bool_)
    for number in range(load.replicas):
        zone = np.arange((number + load.cpu_milli) % len(ZONES), len(free), len(ZONES))
        fits = zone[(free[zone] >= load.cpu_milli) & ~used[zone]]
        if not len(fits):
            return
        node = int(rng.choice(fits))
        used[node] = True
        free[node] -= load.cpu_milli
        yield node


def _name(index: int) -> str:
    return f"node-{index:05d}"


def _node(index: int, size: int) -> Node:
    kind, cpu = SIZES[size]
    labels = {HOSTNAME: _name(index), ZONE: ZONES[index % len(ZONES)], INSTANCE_TYPE: kind}
    amounts = {"cpu": f"{cpu}m", "memory": f"{cpu // 1000 * GIB_PER_CORE}Gi", "pods": "250"}
    status = {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return Node(
        metadata=ObjectMeta(name=_name(index), labels=labels),
        status=NodeStatus.model_validate(status),
    )


def _pods(load: Workload, homes: Iterator[int]) -> Iterator[Pod]:
    selector = LabelSelector(match_labels={"app": load.name})
    skews = ((ZONE, load.zone_skew), (HOSTNAME, load.host_skew))
    memory = load.cpu_milli * GIB_PER_CORE * 1024 // 1000 * 6 // 10
    requests = {"requests": {"cpu": f"{load.cpu_milli}m", "memory": f"{memory}Mi"}}
    spec = PodSpec(
        containers=(Container(resources=ResourceRequirements.model_validate(requests)),),
        topology_spread_constraints=tuple(
            TopologySpreadConstraint(
                max_skew=skew,
                topology_key=key,
                when_unsatisfiable="DoNotSchedule",
                label_selector=selector,
            )
            for key, skew in skews
            if skew
        ),
    )
    labels = {"app": load.name}
    nothing: dict[str, str] = {}
    owner = OwnerReference(kind="ReplicaSet", name=load.name, controller=True)
    for number, home in enumerate(homes):
        yield Pod(
            namespace="default",
            name=f"{load.name}-{number:03d}",
            uid=f"{load.name}-{number}",
            spec=spec,
            labels=labels,
            annotations=nothing,
            owner=owner,
            node_name=_name(home),
            phase="Running",
            ready=True,
        )


def _budget(load: Workload) -> PodDisruptionBudget:
    return PodDisruptionBudget.model_validate(
        {
            "metadata": {"name": load.name, "namespace": "default"},
            "spec": {
                "maxUnavailable": load.budget,
                "selector": {"matchLabels": {"app": load.name}},
            },
        }
    )
