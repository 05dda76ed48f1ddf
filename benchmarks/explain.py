"""How long an explanation takes in a large cluster: `python -m benchmarks.explain`.

5,000 nodes in four classes and 137,000 pods; one pod of a workload with a zone spread constraint
waits. What is timed: the conflict, all repairs and the fewest evictions, from a loaded cluster. The
answer is checked: the four rules of the conflict, one eviction, and at least five repairs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from models.diagnosis import Diagnosis
from models.meta import OwnerReference
from models.node import HOSTNAME, ZONE, Node
from models.pod import Pod, PodSpec
from planner.cluster import Cluster, build_cluster
from planner.explain.diagnose import explain_pod
from planner.scheduler.profile import default_profile
from planner.sources.inventory import Inventory

ZONES = ("eu-1a", "eu-1b", "eu-1c")
ML = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
REPLICAS = 50
"""Pods of each small workload that fills the general nodes."""


def nodes() -> Iterator[Node]:
    """3,600 general ones, 800 with fast disks for machine learning, 600 with fast disks."""
    for zone, special in zip(ZONES, (300, 300, 200), strict=True):
        for pool, number in (("gen", 1200), ("ml", special), ("ssd", 200)):
            for index in range(number):
                yield _node(f"{pool}-{zone[-1]}-{index:04}", zone, pool)


def _node(name: str, zone: str, pool: str) -> Node:
    labels = {HOSTNAME: name, ZONE: zone, **({"disktype": "ssd"} if pool != "gen" else {})}
    return Node.model_validate(
        {
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": [ML] if pool == "ml" else []},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
        }
    )


def spec(cpu: str, **more: object) -> PodSpec:
    """One container."""
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return PodSpec.model_validate({"containers": [container], **more})


def pods(total: int) -> Iterator[Pod]:
    """Etl 40/40/39 and one that waits; spark fills eu-1c; small ones everywhere else."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "etl"}},
    }
    ssd = {"disktype": "ssd"}
    etl = spec("6", nodeSelector=ssd, topologySpreadConstraints=[constraint])
    places = [f"ssd-{z}-{i:04}" for z, n in (("a", 40), ("b", 40), ("c", 39)) for i in range(n)]
    yield from _replicas("etl", etl, [*places, ""])
    rest = [f"ssd-c-{i:04}" for i in range(200) for _ in range(1 if i < 39 else 2)]
    yield from _replicas("spark", spec("6", nodeSelector=ssd), rest)
    small = spec("100m")
    general = [f"gen-{zone[-1]}-{i:04}" for i in range(1200) for zone in ZONES]
    left = total - len(places) - 1 - len(rest)
    for start in range(0, left, REPLICAS):
        number = min(REPLICAS, left - start)
        where = [general[(start + i) % len(general)] for i in range(number)]
        yield from _replicas(f"app{start // REPLICAS}", small, where)


def _replicas(app: str, template: PodSpec, places: list[str]) -> Iterator[Pod]:
    owner = OwnerReference(kind="ReplicaSet", name=app, controller=True)
    labels = {"app": app}
    for index, place in enumerate(places):
        yield Pod(
            namespace="default",
            name=f"{app}-{index:05}",
            uid=f"{app}-{index}",
            spec=template,
            labels=labels,
            owner=owner,
            node_name=place,
            phase="Running" if place else "Pending",
        )


def check(found: Diagnosis) -> None:
    """Fast and wrong would be worth nothing."""
    kinds = sorted(fact.kind for fact in found.conflicts[0].constraints)
    assert kinds == ["capacity", "nodeAffinity", "taints", "topologySpread"]
    assert found.conflicts[0].minimal
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == 1
    assert sum(repair.kind != "movePods" for repair in found.repairs) >= 5


def measure(cluster: Cluster, rounds: int) -> None:
    """The best of some rounds, each from scratch."""
    pod = int(cluster.pending[0])
    for number in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        found = explain_pod(cluster, pod, default_profile())
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        check(found)
        print(f"round {number + 1}: {wall:.2f} s by the clock, {cpu:.2f} s of the processor")


def main() -> None:
    """Build, explain, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=137_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    cluster = build_cluster(Inventory(nodes=tuple(nodes()), pods=tuple(pods(arguments.pods))))
    print(f"{len(cluster.nodes)} nodes, {len(cluster.pods)} pods, {len(cluster.groups)} groups")
    measure(cluster, arguments.rounds)


if __name__ == "__main__":
    main()
