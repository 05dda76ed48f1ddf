"""Clusters that drifted away from their spread rules, made directly as `Cluster` objects.

Heavy-tailed Deployments on three zones and four flavours of nodes: hard zone spread with maxSkew 1,
some also over hosts, some pinned to a flavour, some without any rule. Drifts:

    zone    a zone was lost and came back empty; its pods run in the two others
    scale   scale-downs left zones uneven, and scale-ups left pods pending
    big     the same, with big pending pods of a high priority that need holes
    none    nothing drifted: every workload is spread as it should be, and nothing is pending

The same size, drift and seed give the same cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.cluster import Cluster, build_cluster
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory
from planner_models.affinity import Affinity
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, ZONE, Node, NodeStatus
from planner_models.pod import Container, Pod, PodSpec
from planner_models.resources import ResourceRequirements
from planner_models.selectors import LabelSelector
from planner_models.topology_spread import TopologySpreadConstraint

Drift = Literal["zone", "scale", "big", "none"]
DRIFTS: tuple[Drift, ...] = ("zone", "scale", "big")
STEADY: Drift = "none"
FLAVOUR = "node.example.com/flavour"
FLAVOURS = (("general", 16, 64), ("compute", 32, 64), ("memory", 16, 128), ("small", 8, 32))
SHARES = (0.45, 0.2, 0.15, 0.2)
PODS_PER_NODE = 27
DAEMONS = (("kube-proxy", 100, 128), ("log-agent", 100, 200))
NAMESPACES = ("checkout", "catalog", "identity", "search", "payments", "media", "analytics", "edge")
GONE = -2


@dataclass(frozen=True)
class Workload:
    """A Deployment: its size, its requests (milli-cores, MiB) and its rules."""

    replicas: int
    cpu: int
    memory: int
    flavours: tuple[int, ...]
    zone: bool
    host: bool
    priority: int = 0


@dataclass
class Layout:
    """What is placed while the cluster is made: `node_of[i]` of the pods of each workload."""

    zone: IntArray
    flavour: IntArray
    free: IntArray
    rng: np.random.Generator

    def put(self, load: Workload, wanted: int, zones: tuple[int, ...]) -> list[int]:
        """Nodes for up to `wanted` pods in these zones, emptier nodes first, with some noise."""
        open_ = np.isin(self.zone, zones) & np.isin(self.flavour, load.flavours)
        request = np.array([load.cpu, load.memory, 1])
        chosen: list[int] = []
        used = np.zeros(len(self.zone), np.int64)
        while len(chosen) < wanted:
            fits = open_ & (self.free >= request).all(axis=1)
            if load.host:
                fits &= used == 0
            nodes = np.flatnonzero(fits)
            if not len(nodes):
                break
            score = self.free[nodes, 0] / (1 + self.free[:, 0].max()) + self.rng.random(len(nodes))
            take = nodes[np.argsort(-score, kind="stable")[: wanted - len(chosen)]]
            self.free[take] -= request
            used[take] += 1
            chosen.extend(take.tolist())
        return chosen

    def remove(self, load: Workload, nodes: list[int]) -> None:
        """Gives back the room of pods on these nodes."""
        np.add.at(self.free, nodes, np.array([load.cpu, load.memory, 1]))


def drifted(nodes: int, drift: Drift, seed: int) -> Cluster:
    """The cluster of this size, drift and seed."""
    rng = np.random.default_rng([nodes, (*DRIFTS, STEADY).index(drift), seed])
    zone = np.arange(nodes) % 3
    flavour = rng.choice(len(FLAVOURS), nodes, p=SHARES)
    size = np.array([[1000 * cpu, 1024 * gib, 110] for _, cpu, gib in FLAVOURS])
    taken = np.array([sum(d[1] for d in DAEMONS), sum(d[2] for d in DAEMONS), len(DAEMONS)])
    layout = Layout(zone, flavour, size[flavour] - taken, rng)
    before = 1 if drift in ("zone", "none") else 1.22
    total = round((PODS_PER_NODE * before - len(DAEMONS)) * nodes)
    usage = 0.54 if drift in ("zone", "none") else rng.uniform(0.84, 0.92)
    loads = list(_workloads(rng, total, layout.free[:, :2].sum(axis=0) * usage, nodes, drift))
    zones = ((0, 1),) if drift == "zone" else ((0,), (1,), (2,))
    placed = [list(_initial(layout, load, zones)) for load in loads]
    waiting = [0] * len(loads)
    if drift in ("scale", "big"):
        _scale(rng, layout, loads, placed, waiting)
    if drift == "big":
        for load in _big(rng, nodes):
            loads.append(load)
            placed.append([])
            waiting.append(load.replicas)
    machines = tuple(machine(i, zone[i], flavour[i]) for i in range(nodes))
    pods = tuple(pods_of(machines, loads, placed, waiting))
    return build_cluster(Inventory(nodes=machines, pods=pods))


def _workloads(
    rng: np.random.Generator, total: int, room: np.ndarray, nodes: int, drift: Drift
) -> Iterator[Workload]:
    """Deployments of `total` pods that request `room` together, biggest pods first."""
    sizes: list[int] = []
    while (left := total - sum(sizes)) > 0:
        sizes.append(int(min(left, 1 + rng.pareto(0.8), max(8, nodes // 4))))
    count = np.array(sizes)
    cpu = np.clip(rng.lognormal(0, 0.9, len(count)), 0.1, 16)
    memory = cpu * np.clip(rng.lognormal(0, 0.6, len(count)), 0.2, 5)
    cpu *= room[0] / (cpu * count).sum()
    memory *= room[1] / (memory * count).sum()
    millis = np.clip((cpu / 50).round() * 50, 50, 6000).astype(int)
    mib = np.clip((memory / 64).round() * 64, 64, 28000).astype(int)
    for i in np.argsort(-(millis / 16000 + mib / 65536), kind="stable").tolist():
        pinned = (int(rng.integers(3)),) if rng.random() < 0.12 else (0, 1, 2, 3)
        few = count[i] <= nodes // (16 if drift == "zone" else 12)
        spread = rng.random()
        yield Workload(
            replicas=int(count[i]),
            cpu=int(millis[i]),
            memory=int(mib[i]),
            flavours=pinned,
            zone=spread < 0.6,
            host=bool(few and (spread < 0.08 or 0.6 <= spread < 0.65)),
        )


def _initial(layout: Layout, load: Workload, zones: tuple[tuple[int, ...], ...]) -> Iterator[int]:
    """Every workload spreads evenly at first; the order of zones is drawn."""
    if zones == ((0, 1),) and not load.zone:
        yield from layout.put(load, load.replicas, (0, 1))
        return
    parts: list[tuple[int, ...]] = [(0,), (1,)] if len(zones) == 1 else list(zones)
    first = int(layout.rng.integers(len(parts)))
    room = []
    for i, part in enumerate(parts[first:] + parts[:first]):
        wanted = load.replicas // len(parts) + (i < load.replicas % len(parts))
        room.append(layout.put(load, wanted, part))
    least = min(map(len, room)) + 1 if load.zone else load.replicas
    for nodes in room:
        layout.remove(load, nodes[least:])
        yield from nodes[:least]


def _scale(
    rng: np.random.Generator,
    layout: Layout,
    loads: list[Workload],
    placed: list[list[int]],
    waiting: list[int],
) -> None:
    """A third of all workloads loses pods at random; some others ask for more than they have."""
    for i, load in enumerate(loads):
        drawn = rng.random()
        if drawn < 0.35 and len(placed[i]) > 1:
            keep = round(len(placed[i]) * rng.uniform(0.4, 0.9))
            order = rng.permutation(placed[i]).tolist()
            layout.remove(load, order[keep:])
            placed[i] = order[:keep]
        elif drawn < 0.42:
            waiting[i] = int(min(1 + len(placed[i]) * rng.uniform(0, 0.4), 40))


def _big(rng: np.random.Generator, nodes: int) -> Iterator[Workload]:
    """Pods of a quarter to two thirds of a node, a pod for every 15 nodes, half of them pinned."""
    left = max(3, nodes // 15)
    while left:
        replicas = min(left, int(rng.integers(1, 9)))
        left -= replicas
        flavour = int(rng.integers(3))
        _, cpu, gib = FLAVOURS[flavour]
        bound = rng.random() < 0.5
        share, other = rng.uniform(0.25, 0.65), rng.uniform(0.1, 0.4)
        of_cpu, of_memory = (share, other) if rng.random() < 0.6 else (other, share)
        yield Workload(
            replicas=replicas,
            cpu=int(of_cpu * cpu * 10) * 100,
            memory=int(of_memory * gib * 4) * 256,
            flavours=(flavour,) if bound else (0, 1, 2, 3),
            zone=rng.random() < 0.8,
            host=False,
            priority=1000,
        )


def machine(index: int, zone: int, flavour: int) -> Node:
    name, (kind, cpu, gib) = f"node-{index:04d}", FLAVOURS[flavour]
    labels = {HOSTNAME: name, ZONE: f"zone-{'abc'[zone]}", FLAVOUR: kind}
    amounts = {"cpu": str(cpu), "memory": f"{gib}Gi", "pods": "110"}
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        status=NodeStatus.model_validate({"allocatable": amounts}),
    )


def _spread(key: str, name: str) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        max_skew=1,
        topology_key=key,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={"app": name}),
    )


def _spec(load: Workload, name: str) -> PodSpec:
    keys = [ZONE] * load.zone + [HOSTNAME] * load.host
    amounts = {"requests": {"cpu": f"{load.cpu}m", "memory": f"{load.memory}Mi"}}
    affinity: dict[str, object] = {}
    if len(load.flavours) == 1:
        kind = FLAVOURS[load.flavours[0]][0]
        term = {"matchExpressions": [{"key": FLAVOUR, "operator": "In", "values": [kind]}]}
        affinity = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}
            }
        }
    return PodSpec(
        containers=(Container(resources=ResourceRequirements.model_validate(amounts)),),
        affinity=Affinity.model_validate(affinity),
        topology_spread_constraints=tuple(_spread(key, name) for key in keys),
        priority=load.priority,
    )


def pods_of(
    machines: tuple[Node, ...],
    loads: list[Workload],
    placed: list[list[int]],
    waiting: list[int],
) -> Iterator[Pod]:
    names = [machine.name for machine in machines]
    for kind, cpu, memory in DAEMONS:
        load = Workload(len(names), cpu, memory, (0, 1, 2, 3), zone=False, host=False)
        owner = OwnerReference(kind="DaemonSet", name=kind, controller=True)
        spec, labels = _spec(load, kind), {"app": kind}
        for i, name in enumerate(names):
            yield Pod(
                namespace="kube-system",
                name=f"{kind}-{i:04d}",
                spec=spec,
                labels=labels,
                owner=owner,
                node_name=name,
                phase="Running",
                ready=True,
            )
    for number, load in enumerate(loads):
        app = f"{'big' if load.priority else 'app'}-{number:05d}"
        owner = OwnerReference(kind="ReplicaSet", name=f"{app}-5f7c", controller=True)
        spec, labels = _spec(load, app), {"app": app}
        hosts = [*(names[n] for n in placed[number]), *[""] * waiting[number]]
        for i, host in enumerate(hosts):
            yield Pod(
                namespace=NAMESPACES[number % len(NAMESPACES)],
                name=f"{app}-5f7c-{i:04d}",
                spec=spec,
                labels=labels,
                owner=owner,
                node_name=host,
                phase="Running" if host else "Pending",
                ready=bool(host),
            )
