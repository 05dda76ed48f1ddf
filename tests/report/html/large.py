"""A cluster of 5,000 nodes, and a plan that moves 6,000 pods without having been solved."""

from __future__ import annotations

from planner.cluster import Cluster, build_cluster
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, ZONE, Node, NodeStatus
from planner_models.plan import (
    Comparison,
    Placement,
    Plan,
    PlanOptions,
    PlanStatistics,
    PlanVerification,
    Step,
    Wave,
)
from planner_models.pod import Container, Pod, PodSpec
from planner_models.resources import ResourceRequirements

NODES = 5_000
PODS = 60_000
MOVED = 6_000
WORKLOADS = 1_500
ZONES = ("eu-1a", "eu-1b", "eu-1c")


def large_cluster() -> Cluster:
    """Everything runs in two zones; the third is empty."""
    requests = {"requests": {"cpu": "500m", "memory": "512Mi"}}
    container = Container(resources=ResourceRequirements.model_validate(requests))
    specs = [PodSpec(containers=(container,)) for _ in range(WORKLOADS)]
    pods = tuple(
        Pod(
            namespace=f"team-{i % 20}",
            name=f"app-{i % WORKLOADS}-{i // WORKLOADS}",
            spec=specs[i % WORKLOADS],
            labels={"app": f"app-{i % WORKLOADS}"},
            owner=OwnerReference(kind="ReplicaSet", name=f"app-{i % WORKLOADS}", controller=True),
            uid=f"uid-{i}",
            node_name=node_name(i % (2 * NODES // 3)),
            phase="Running",
        )
        for i in range(PODS)
    )
    nodes = tuple(_node(i) for i in range(NODES))
    return build_cluster(Inventory(nodes=nodes, pods=pods))


def node_name(index: int) -> str:
    return f"node-{index:04}.example.internal"


def _node(index: int) -> Node:
    zone = ZONES[3 * index // NODES]
    labels = {HOSTNAME: node_name(index), ZONE: zone}
    offered = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return Node(
        metadata=ObjectMeta(name=node_name(index), labels=labels),
        status=NodeStatus.model_validate({"allocatable": offered}),
    )


def large_plan(cluster: Cluster) -> Plan:
    """Pods of the first two zones go to the third, in three waves."""
    moves = [(cluster.pods[i], node_name(NODES - 1 - i % (NODES // 3))) for i in range(MOVED)]
    steps = [
        Step.model_validate({"action": "move", "pod": pod.key, "from": pod.node_name, "to": target})
        for pod, target in moves
    ]
    third = MOVED // 3
    return Plan(
        status="optimal",
        options=PlanOptions(rebalance=True, time_limit=60),
        placements=tuple(
            Placement.model_validate(
                {
                    "pod": pod.key,
                    "workload": f"rs/{pod.owner.name if pod.owner else ''}",
                    "node": target,
                    "from": pod.node_name,
                    "reason": "eu-1c is empty",
                }
            )
            for pod, target in moves
        ),
        waves=tuple(Wave(steps=tuple(steps[i : i + third])) for i in range(0, MOVED, third)),
        greedy=Comparison(placed=0, pending=0, excess=0),
        verification=PlanVerification(steady=True, admissible=True, capacity=True, budgets=True),
        statistics=PlanStatistics(nodes=NODES, pods=PODS, groups=0, variables=0, cuts=0),
    )
