"""Placing under pressure: does a plan run more pods, by priority, than kube-scheduler alone?

The generator is the published one of "Priority Matters" (arXiv 2511.08373): identical nodes, 4 or 8
pods per node in ReplicaSets of 1 to 4, each with requests and a priority of its own, and capacity
such that everything together uses 90 to 105 % of it. All pods arrive at an empty cluster and are
placed one by one, by priority and arrival. Instances in which that leaves pods pending are the
*cases*: what runs and what waits goes to `solve --rebalance --preempt` with a time limit.

What is judged is the number of running pods by priority, the highest first:

    better    more than kube-scheduler's own choices reach, lexicographically
    proven    no plan runs more by priority; the plan's bounds on placed pods say so
    optimal   the fewest moves for that are proven, too
    failed    neither better nor proven

One rule differs from the paper: as in kube-scheduler, a running pod may lose its place only to one
of a higher priority that waits, never to one of its own. That makes `better` harder to reach, and
may make `proven` easier.

`seconds` and `cpu` are for all of `make_plan`, that is models, search, ordering, waves and checks.
The limit is in the solver's own work, so that the same case gives the same plan; `late` counts the
cases that took more processor time than the limit all the same. Every plan is checked here from its
document alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.case import Case, Measured
from planner.cluster import Cluster, build_cluster
from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.solver.problem.options import SolveOptions
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, Node, NodeStatus
from planner_models.plan import Plan
from planner_models.pod import Container, Pod, PodSpec
from planner_models.resources import CPU, MEMORY, ResourceRequirements

PODS_PER_NODE = (4, 8)
PRIORITIES = (1, 2, 4)
USAGES = (90, 95, 100, 105)
"""Per cent of the capacity that all pods together request."""
MILLICORES, BYTES = (100, 1000), (10**8, 10**9)


@dataclass(frozen=True)
class Instance:
    """One draw of the generator."""

    nodes: int
    pods_per_node: int
    priorities: int
    usage: int
    seed: int


@dataclass(frozen=True)
class Row:
    """What became of one case at one limit."""

    nodes: int
    pods_per_node: int
    priorities: int
    usage: int
    seed: int
    limit: float
    pending: int
    greedy: tuple[int, ...]
    planned: tuple[int, ...]
    bound: tuple[int, ...]
    moves: int
    moves_bound: int
    better: bool
    proven: bool
    optimal: bool
    seconds: float
    cpu: float
    wrong: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Nothing gained and nothing known."""
        return not (self.better or self.proven)


def snapshot(instance: Instance) -> Cluster:
    """The cluster after kube-scheduler's own choices: what runs, and what waits."""
    return simulate(build_cluster(inventory(instance)), (default_profile(),)).final


def inventory(instance: Instance) -> Inventory:
    """Nodes and pods as drawn; the same instance gives the same objects."""
    rng = np.random.default_rng(list(asdict(instance).values()))
    left = instance.nodes * instance.pods_per_node
    pods: list[Pod] = []
    number = 0
    while left:
        size = min(left, int(rng.integers(1, 5)))
        cpu, memory = (int(rng.integers(low, high + 1)) for low, high in (MILLICORES, BYTES))
        priority = int(rng.integers(1, instance.priorities + 1))
        pods += _replicas(f"rs-{number:03d}", size, cpu, memory, priority)
        left -= size
        number += 1
    return Inventory(nodes=tuple(_machines(instance, pods)), pods=tuple(pods))


def _machines(instance: Instance, pods: Sequence[Pod]) -> Iterator[Node]:
    amounts = {"pods": "110"}
    for name, unit in ((CPU, "m"), (MEMORY, "")):
        wanted = [pod.spec.requests[name] for pod in pods]
        together = -(-sum(wanted) * 100 // instance.usage)
        amounts[name] = f"{max(*wanted, -(-together // instance.nodes))}{unit}"
    for i in range(instance.nodes):
        host = f"node-{i:02d}"
        yield Node(
            metadata=ObjectMeta(name=host, labels={HOSTNAME: host}),
            status=NodeStatus.model_validate({"allocatable": amounts}),
        )


def _replicas(name: str, size: int, cpu: int, memory: int, priority: int) -> Iterator[Pod]:
    amounts = {"requests": {"cpu": f"{cpu}m", "memory": str(memory)}}
    spec = PodSpec(
        containers=(Container(resources=ResourceRequirements.model_validate(amounts)),),
        priority=priority,
    )
    owner = OwnerReference(kind="ReplicaSet", name=name, controller=True)
    for i in range(size):
        yield Pod(
            namespace="default",
            name=f"{name}-{i}",
            uid=f"{name}-{i}",
            spec=spec,
            labels={"app": name},
            owner=owner,
        )


def attempt(instance: Instance, cluster: Cluster, limit: float) -> Row:
    """Solve one case and check the answer."""
    options = SolveOptions(rebalance=True, preempt=True, time_limit=limit)
    wall, cpu = time.perf_counter(), time.process_time()
    plan = make_plan(cluster, options, default_profile())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    node_of, wrong = carried_out(cluster, plan)
    levels = sorted({pod.priority for pod in cluster.pods}, reverse=True)
    before = _running(cluster, cluster.node_of.tolist(), levels)
    after = _running(cluster, node_of, levels)
    wrong += _against(plan, cluster, node_of, levels, before, after)
    bounds = _bounds(plan, before, levels)
    moves = next((each for each in plan.objectives if each.name == "moves"), None)
    return Row(
        **asdict(instance),
        limit=limit,
        pending=len(cluster.pending),
        greedy=before,
        planned=after,
        bound=bounds,
        moves=0 if moves is None else moves.value,
        moves_bound=0 if moves is None else moves.bound,
        better=after > before,
        proven=after == bounds,
        optimal=plan.status == "optimal",
        seconds=wall,
        cpu=cpu,
        wrong=tuple(wrong),
    )


def carried_out(cluster: Cluster, plan: Plan) -> tuple[list[int], list[str]]:
    """Where every pod is after the plan's steps, and each step that can't be taken."""
    node_of = cluster.node_of.tolist()
    free = [dict(node.allocatable) for node in cluster.nodes]
    wrong: list[str] = []
    for pod, node in enumerate(node_of):
        if node >= 0:
            _take(cluster, free[node], pod)
    for wave in plan.waves:
        for step in wave.steps:
            if step.pod is None:
                continue
            pod = cluster.pod_index[step.pod]
            if step.action in ("evict", "move"):
                _take(cluster, free[node_of[pod]], pod, sign=-1)
                node_of[pod] = -1
            target = step.to if step.action == "move" else step.node
            if step.action in ("place", "move") and target is not None:
                node_of[pod] = cluster.node_index[target]
                _take(cluster, free[node_of[pod]], pod)
                if min(free[node_of[pod]].values()) < 0:
                    wrong.append(f"{step.pod} does not fit on {target} when its turn comes")
    return node_of, wrong


def _take(cluster: Cluster, free: dict[str, int], pod: int, sign: int = 1) -> None:
    for name, amount in {**cluster.pods[pod].spec.requests, "pods": 1}.items():
        free[name] -= sign * amount


def _running(cluster: Cluster, node_of: Sequence[int], levels: Sequence[int]) -> tuple[int, ...]:
    pods = zip(cluster.pods, node_of, strict=True)
    running = Counter(pod.priority for pod, node in pods if node >= 0)
    return tuple(running[level] for level in levels)


def _bounds(plan: Plan, before: tuple[int, ...], levels: Sequence[int]) -> tuple[int, ...]:
    """The plan's bounds by priority; it says nothing of priorities that it leaves as they are."""
    said = {each.name: each.bound for each in plan.objectives}
    return tuple(
        said.get(f"placed {level}", now) for level, now in zip(levels, before, strict=True)
    )


def _against(
    plan: Plan,
    cluster: Cluster,
    node_of: Sequence[int],
    levels: Sequence[int],
    before: tuple[int, ...],
    after: tuple[int, ...],
) -> Iterator[str]:
    """What contradicts the plan's own words or what was asked for."""
    if after < before:
        yield f"{after} pods run by priority, {before} before"
    said = {each.name: each.value for each in plan.objectives}
    for level, count in zip(levels, after, strict=True):
        if said.get(f"placed {level}", count) != count:
            yield f"the plan says {said[f'placed {level}']} of priority {level}, it is {count}"
    highest = max(cluster.pods[pod].priority for pod in cluster.pending.tolist())
    for pod, (old, new) in enumerate(zip(cluster.node_of.tolist(), node_of, strict=True)):
        if old >= 0 > new and cluster.pods[pod].priority >= highest:
            yield f"{cluster.pods[pod].key} lost its node to nobody of a higher priority"


def instances(nodes: Iterable[int], seeds: Iterable[int]) -> Iterator[Instance]:
    """The whole grid for some sizes and seeds."""
    for drawn in product(nodes, seeds, PODS_PER_NODE, PRIORITIES, USAGES):
        yield Instance(drawn[0], *drawn[2:], seed=drawn[1])


def attempts(instance: Instance, limit: float) -> Iterator[Row]:
    """One case; nothing if kube-scheduler places everything."""
    cluster = snapshot(instance)
    if len(cluster.pending):
        yield attempt(instance, cluster, limit)


def measure(case: Case, _cache: Path) -> Measured:
    """All instances of a size and a seed at a limit."""
    drawn = instances([case.integer("nodes")], [case.seed])
    rows = [row for each in drawn for row in attempts(each, case.number("limit"))]
    wrong = tuple(text for row in rows for text in row.wrong)
    seconds, cpu = sum(row.seconds for row in rows), sum(row.cpu for row in rows)
    return Measured(seconds, cpu, summary(rows), wrong)


def summary(rows: Sequence[Row]) -> dict[str, int | float]:
    """Per cent of the cases, and the middle and the longest time."""
    times = sorted(row.seconds for row in rows) or [0.0]

    def share(count: int) -> float:
        return round(100 * count / max(1, len(rows)), 1)

    return {
        "cases": len(rows),
        "failed": share(sum(row.failed for row in rows)),
        "better": share(sum(row.better for row in rows)),
        "proven": share(sum(row.proven for row in rows)),
        "better_and_proven": share(sum(row.better and row.proven for row in rows)),
        "optimal": share(sum(row.optimal for row in rows)),
        "late": share(sum(row.cpu > row.limit for row in rows)),
        "median": round(median(times), 3),
        "longest": round(times[-1], 3),
    }
