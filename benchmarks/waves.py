"""Moves into waves: time and memory as the number of moves grows.

Full nodes in a ring, with room for one pod more each: every pod goes to the next node, so that each
landing waits for a departure there. Deployments of twenty, half of them with a budget of two. The
time is that of finding a legal order and of grouping it; `bytes_per_move` is what the grouping
allocates (tracemalloc, in a run of its own).
"""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.case import Case, Measured, Stopwatch
from planner.cluster import Cluster, build_cluster
from planner.disruption.budgets import Allowances, allowances
from planner.scheduler.profile import default_profile
from planner.sequences.order import Order, find_order
from planner.sequences.waves import Waves, guess_waves
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, Node, NodeStatus
from planner_models.pod import Container, Pod, PodSpec
from planner_models.policy import PodDisruptionBudget
from planner_models.resources import ResourceRequirements

PODS_PER_NODE = 10
REPLICAS = 20


def ring(moves: int) -> tuple[Cluster, dict[tuple[int, int], int]]:
    """A cluster, and how many pods of each group are to be on each node: all one node further.

    A Deployment has pods on every other node, so that none can take the place of another.
    """
    nodes = 4 * -(-moves // (4 * PODS_PER_NODE))
    count = nodes * PODS_PER_NODE
    homes = [_home(*divmod(pod, REPLICAS)) % nodes for pod in range(count)]
    loads, spec = -(-count // REPLICAS), _spec()
    cluster = build_cluster(
        Inventory(
            nodes=tuple(_node(i) for i in range(nodes)),
            pods=tuple(_pod(i, home, spec) for i, home in enumerate(homes)),
            budgets=tuple(_budget(load) for load in range(0, loads, 2)),
        )
    )
    wanted: Counter[tuple[int, int]] = Counter()
    for pod, home in enumerate(cluster.node_of.tolist()):
        wanted[int(cluster.group_of[pod]), (home + 1) % nodes] += 1
    return cluster, dict(wanted)


def _node(index: int) -> Node:
    name = f"node-{index:05d}"
    amounts = {"cpu": f"{(PODS_PER_NODE + 1) * 100}m", "memory": "64Gi", "pods": "110"}
    return Node(
        metadata=ObjectMeta(name=name, labels={HOSTNAME: name}),
        status=NodeStatus.model_validate({"allocatable": amounts}),
    )


def _home(load: int, replica: int) -> int:
    return 4 * (load // 2) + load % 2 + 2 * replica


def _spec() -> PodSpec:
    requests = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    resources = ResourceRequirements.model_validate(requests)
    return PodSpec(containers=(Container(resources=resources),))


def _pod(index: int, home: int, spec: PodSpec) -> Pod:
    app = f"app-{index // REPLICAS:05d}"
    return Pod(
        namespace="default",
        name=f"{app}-{index % REPLICAS:02d}",
        uid=f"{app}-{index % REPLICAS}",
        spec=spec,
        labels={"app": app},
        owner=OwnerReference(kind="ReplicaSet", name=app, controller=True),
        node_name=f"node-{home:05d}",
        phase="Running",
        ready=True,
    )


def _budget(load: int) -> PodDisruptionBudget:
    name = f"app-{load:05d}"
    return PodDisruptionBudget.model_validate(
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"maxUnavailable": 2, "selector": {"matchLabels": {"app": name}}},
        }
    )


def broken(cluster: Cluster, limits: Allowances, waves: Waves) -> Iterator[str]:
    """What is wrong with the waves, counted by hand; nothing of a wave is over before its end."""
    requests, allocatable = cluster.resources.requests, cluster.resources.allocatable
    used = cluster.used.copy()
    for wave in waves.waves:
        going = Counter(number for step in wave for number in limits.of_pod(step.pod))
        if any(count > limits.each[number].limit for number, count in going.items()):
            yield "a budget is broken"
        for step in wave:
            used[step.node] += requests[cluster.group_of[step.pod]]
        if (used > allocatable).any():
            yield "a node is overcommitted"
        for step in wave:
            used[cluster.node_of[step.pod]] -= requests[cluster.group_of[step.pod]]
    if sum(map(len, waves.waves)) != len(cluster.pods):
        yield "a move is missing"


def measure(case: Case, _cache: Path) -> Measured:
    """One size."""
    cluster, wanted = ring(case.integer("moves"))
    limits = allowances(cluster)
    problem = build_problem(cluster, SolveOptions(rebalance=True))
    with Stopwatch() as watch:
        order = find_order(problem, wanted, default_profile())
        waves = guess_waves(cluster, order.steps, limits) if isinstance(order, Order) else None
    if not isinstance(order, Order) or waves is None:
        return Measured(watch.seconds, watch.cpu, wrong=("no order or no waves",))
    tracemalloc.start()
    again = guess_waves(cluster, order.steps, limits)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    wrong = [*broken(cluster, limits, waves), *([] if again == waves else ["not repeatable"])]
    values = {"waves": len(waves.waves), "bytes_per_move": round(peak / len(cluster.pods))}
    return Measured(watch.seconds, watch.cpu, values, tuple(wrong))
