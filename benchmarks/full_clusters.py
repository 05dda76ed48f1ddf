"""Clusters that are nearly full, in two shapes of our own, made directly as `Cluster` objects.

    sizes     one kind of node, pods of many sizes: free cpu and free memory are on different nodes
    flavours  four kinds of nodes, two of them with accelerators, and pods that are pinned to some

Pods come one by one, each to a random node of those with room for it that its rules admit; those
that find none wait. All pods together request more than there is of the scarcest resource, so that
what runs takes up 90 % and more of it. The same size, shape and seed give the same cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.cluster import Cluster, build_cluster
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory
from planner_models.affinity import Affinity
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, Node, NodeStatus
from planner_models.pod import Container, Pod, PodSpec
from planner_models.resources import ResourceRequirements

Shape = Literal["sizes", "flavours"]
SHAPES: tuple[Shape, ...] = ("sizes", "flavours")
FLAVOUR, CARD = "node.example.com/flavour", "example.com/card"
PRIORITIES = (1000, 100, 0)
CARDS, PINNED = (0, 0, 1, 1, 2, 4), ((), ("card-a",), ("card-b",))
MIB = 2**20
DEMAND = 1.08


@dataclass(frozen=True)
class Flavour:
    """A kind of node: milli-cores, MiB and cards."""

    name: str
    cpu: int
    memory: int
    cards: int
    share: float


FLAVOURS: dict[Shape, tuple[Flavour, ...]] = {
    "sizes": (Flavour("general", 32_000, 131_072, 0, 1.0),),
    "flavours": (
        Flavour("general", 32_000, 131_072, 0, 0.4),
        Flavour("memory", 16_000, 262_144, 0, 0.2),
        Flavour("card-a", 64_000, 262_144, 4, 0.25),
        Flavour("card-b", 96_000, 524_288, 8, 0.15),
    ),
}


@dataclass(frozen=True)
class Load:
    """A ReplicaSet: its size, its requests and the flavours that it is pinned to, if any."""

    replicas: int
    request: tuple[int, int, int]
    pinned: tuple[str, ...]
    priority: int


def full_cluster(nodes: int, shape: Shape, seed: int) -> Cluster:
    """The cluster of this size, shape and seed."""
    rng = np.random.default_rng([nodes, SHAPES.index(shape), seed])
    kinds = FLAVOURS[shape]
    flavour = rng.choice(len(kinds), nodes, p=[kind.share for kind in kinds])
    size = np.array([[kind.cpu, kind.memory, kind.cards] for kind in kinds])[flavour]
    loads = list(_loads(rng, shape, size.sum(axis=0)))
    machines = tuple(_machine(i, kinds[flavour[i]]) for i in range(nodes))
    names = np.array([kind.name for kind in kinds])[flavour]
    pods = tuple(_pods(rng, loads, names, size, [node.name for node in machines]))
    return build_cluster(Inventory(nodes=machines, pods=pods))


def _loads(rng: np.random.Generator, shape: Shape, room: IntArray) -> Iterator[Load]:
    """ReplicaSets until one resource is used up by all of them together."""
    used = np.zeros(3, np.int64)
    while (used <= room * DEMAND).all():
        cpu = int(50 * round(np.clip(rng.lognormal(7.6, 0.9), 100, 24_000) / 50))
        memory = int(64 * round(np.clip(cpu * rng.lognormal(1.35, 0.6), 128, 120_000) / 64))
        cards = int(rng.choice(CARDS)) if shape == "flavours" else 0
        pinned = PINNED[int(rng.integers(len(PINNED)))] if cards else ()
        priority = int(rng.choice(PRIORITIES, p=[0.3, 0.2, 0.5]))
        load = Load(int(rng.geometric(0.35)), (cpu, memory, cards), pinned, priority)
        used += load.replicas * np.array(load.request)
        yield load


def _pods(
    rng: np.random.Generator,
    loads: list[Load],
    flavour: NDArray[np.str_],
    size: IntArray,
    hosts: list[str],
) -> Iterator[Pod]:
    free = size.copy()
    for number, load in enumerate(loads):
        request = np.array(load.request)
        admitted = np.isin(flavour, load.pinned) if load.pinned else np.ones(len(free), np.bool_)
        for replica in range(load.replicas):
            nodes = np.flatnonzero(admitted & (free >= request).all(axis=1))
            node = int(rng.choice(nodes)) if len(nodes) else None
            if node is not None:
                free[node] -= request
            yield _pod(load, f"rs-{number:04d}", replica, None if node is None else hosts[node])


def _pod(load: Load, name: str, replica: int, host: str | None) -> Pod:
    return Pod(
        namespace="default",
        name=f"{name}-{replica}",
        uid=f"{name}-{replica}",
        labels={"app": name},
        owner=OwnerReference(kind="ReplicaSet", name=name, controller=True),
        spec=_spec(load),
        node_name=host or "",
        phase="Running" if host else "Pending",
        ready=host is not None,
    )


def _spec(load: Load) -> PodSpec:
    cpu, memory, cards = load.request
    requests = {"cpu": f"{cpu}m", "memory": str(memory * MIB)}
    if cards:
        requests[CARD] = str(cards)
    affinity: dict[str, object] = {}
    if load.pinned:
        term = {"matchExpressions": [{"key": FLAVOUR, "operator": "In", "values": load.pinned}]}
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        affinity = {"nodeAffinity": {required: {"nodeSelectorTerms": [term]}}}
    resources = ResourceRequirements.model_validate({"requests": requests})
    return PodSpec(
        containers=(Container(resources=resources),),
        affinity=Affinity.model_validate(affinity),
        priority=load.priority,
    )


def _machine(number: int, kind: Flavour) -> Node:
    host = f"node-{number:04d}"
    amounts = {"cpu": f"{kind.cpu}m", "memory": str(kind.memory * MIB), "pods": "110"}
    if kind.cards:
        amounts[CARD] = str(kind.cards)
    return Node(
        metadata=ObjectMeta(name=host, labels={HOSTNAME: host, FLAVOUR: kind.name}),
        status=NodeStatus.model_validate({"allocatable": amounts}),
    )
