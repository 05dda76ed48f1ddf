"""Small random clusters of the kind that the search for large problems is made for."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from benchmarks.drift import Workload, machine, pods_of
from planner.cluster import Cluster, build_cluster
from planner.solver.large.solve import solve_at_scale
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.problem.solution import Solution
from planner.solver.progress import Report, silent
from planner.solver.route import solve_in_full
from planner.sources.inventory import Inventory
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import ContainerPort, Pod
from planner_models.taints import Taint

CPU = (500, 1000, 2000, 3000, 4500)
MEMORY = (512, 1024, 2048, 6144)


def tight_cluster(seed: int, nodes: int = 6, workloads: int = 8) -> Cluster:
    """Small nodes in three zones, pods where they happen to fit, some of them pending and big."""
    return build_cluster(_tight(seed, nodes, workloads))


def motley_cluster(seed: int) -> Cluster:
    """More room, a cordoned node, and a workload that is no plain group."""
    tight, rng = _tight(seed, 9, 7), np.random.default_rng(seed)
    nodes, cordoned = list(tight.nodes), int(rng.integers(len(tight.nodes)))
    taint = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")
    spec = nodes[cordoned].spec.replace(unschedulable=True, taints=(taint,))
    nodes[cordoned] = nodes[cordoned].replace(spec=spec)
    apps = sorted({pod.labels["app"] for pod in tight.pods if pod.namespace != "kube-system"})
    special = str(rng.choice(apps))
    pods = [_with_port(pod) if pod.labels["app"] == special else pod for pod in tight.pods]
    return build_cluster(replace(tight, nodes=tuple(nodes), pods=tuple(pods)))


def _with_port(pod: Pod) -> Pod:
    """No two of them on one node."""
    port = int(pod.labels["app"][-5:]) + 1000
    ports = (ContainerPort(container_port=port, host_port=port),)
    containers = tuple(each.replace(ports=ports) for each in pod.spec.containers)
    return msgspec.structs.replace(pod, spec=pod.spec.replace(containers=containers))


def _tight(seed: int, nodes: int, workloads: int) -> Inventory:
    rng = np.random.default_rng(seed)
    machines = tuple(machine(i, i % 3, int(rng.choice((0, 3)))) for i in range(nodes))
    free = np.array([[m.allocatable["cpu"], m.allocatable["memory"] >> 20] for m in machines])
    free -= np.array([200, 328])
    loads, placed, waiting = [], [], []
    for _ in range(workloads):
        load = _workload(rng)
        room = [
            n
            for n in rng.permutation(nodes).tolist()
            if machines[n].labels["node.example.com/flavour"] == "general" or load.flavours != (0,)
        ]
        chosen: list[int] = []
        for n in (room * load.replicas)[: 2 * load.replicas]:
            asked = np.array([load.cpu, load.memory])
            if len(chosen) < load.replicas and (free[n] >= asked).all():
                free[n] -= asked
                chosen.append(n)
        loads.append(load)
        placed.append(chosen)
        waiting.append(int(rng.integers(0, 2)) if chosen else 1)
    pods = tuple(pods_of(machines, loads, placed, waiting))
    return Inventory(nodes=machines, pods=pods)


def _workload(rng: np.random.Generator) -> Workload:
    return Workload(
        replicas=int(rng.integers(1, 6)),
        cpu=int(rng.choice(CPU)),
        memory=int(rng.choice(MEMORY)),
        flavours=(0,) if rng.random() < 0.15 else (0, 1, 2, 3),
        zone=bool(rng.random() < 0.6),
        host=bool(rng.random() < 0.15),
        priority=int(rng.choice((0, 1000))),
    )


def rebalancing(cluster: Cluster) -> Problem:
    """The problem with everything movable that may move."""
    return limited(cluster, 20.0)


def limited(cluster: Cluster, seconds: float) -> Problem:
    """The same with a limit of its own."""
    return build_problem(cluster, SolveOptions(rebalance=True, time_limit=seconds))


def at_scale(problem: Problem, report: Report = silent) -> Solution:
    """What the search for large problems finds, whatever the size."""
    return solve_at_scale(problem, decide_rest=solve_in_full, report=report)
