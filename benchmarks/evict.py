"""Eviction plans against the descheduler's, on random clusters that have drifted.

`python -m benchmarks.evict --clusters 500 --seeds 20`. Clusters of 5 to 50 nodes in three zones,
hard spread over zones and hosts, budgets on some workloads, tight or loose capacity. Three drifts:
a zone came back empty; scale-downs left counts uneven; pods are anywhere. For each cluster: our
plan, and the rounds of the descheduler's topology spread strategy under several seeds. The same
number gives the same cluster. The exit code is 3 if ours is worse anywhere, or not sure.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from models.meta import ObjectMeta, OwnerReference
from models.node import HOSTNAME, ZONE, Node, NodeStatus
from models.pod import Container, Pod, PodSpec
from models.policy import PodDisruptionBudget
from models.resources import ResourceRequirements
from models.selectors import LabelSelector
from models.topology_spread import TopologySpreadConstraint
from planner.cluster import PENDING, Cluster, build_cluster
from planner.evictions.baselines import SPREAD, default_policy
from planner.evictions.rounds import run_rounds
from planner.evictions.suggest import EvictOptions, find_evictions
from planner.scheduler.profile import default_profile
from planner.sources.inventory import Inventory
from planner.verify import total

Drift = Literal["zone", "scale", "random"]
DRIFTS: tuple[Drift, ...] = ("zone", "scale", "random")
NODE_CPU = 4000
DESCHEDULER_SEEDS = 3


@dataclass(frozen=True)
class Case:
    """What became of one cluster; the descheduler's numbers are those of its best seed."""

    number: int
    nodes: int
    pods: int
    drift: str
    before: int
    evictions: int
    waves: int
    cordons: int
    excess: int
    pending: int
    converges: bool
    replanned: bool
    seconds: float
    descheduler_evictions: int
    descheduler_rounds: int
    descheduler_excess: int
    descheduler_pending: int
    descheduler_loops: int
    worse: str


@dataclass(frozen=True)
class Workload:
    """A Deployment of a random cluster."""

    name: str
    replicas: int
    cpu: int
    zone_skew: int
    host_skew: int
    budget: int | None


def random_cluster(number: int) -> tuple[Cluster, Drift]:
    """The cluster of this number."""
    rng = np.random.default_rng([6, number])
    nodes = int(rng.integers(5, 51))
    drift = DRIFTS[number % len(DRIFTS)]
    fill = rng.uniform(0.75, 0.9) if rng.random() < 0.4 else rng.uniform(0.3, 0.6)
    zones = np.arange(nodes) % 3
    free = np.full(nodes, NODE_CPU)
    loads = list(_workloads(rng, nodes, fill * (2 / 3 if drift == "zone" else 1)))
    pods: list[Pod] = []
    for load in loads:
        homes = list(_homes(rng, load, zones, free, drift))
        if drift == "scale" and len(homes) > 2:
            keep = max(2, round(len(homes) * rng.uniform(0.4, 0.9)))
            gone = rng.permutation(len(homes))[keep:].tolist()
            for i in gone:
                free[homes[i]] += load.cpu
            homes = [home for i, home in enumerate(homes) if i not in set(gone)]
        pods.extend(_pods(load, homes))
    inventory = Inventory(
        nodes=tuple(_node(i, int(zones[i])) for i in range(nodes)),
        pods=tuple(pods),
        budgets=tuple(_budget(load) for load in loads if load.budget is not None),
    )
    return build_cluster(inventory), drift


def _workloads(rng: np.random.Generator, nodes: int, fill: float) -> Iterator[Workload]:
    room = NODE_CPU * nodes * fill
    number = 0
    while room > 0:
        replicas = int(rng.integers(2, max(4, nodes // 2)))
        cpu = int(rng.choice([100, 250, 500, 1000, 1500]))
        room -= replicas * cpu
        budget = int(rng.integers(1, 3)) if rng.random() < 0.4 else None
        zone_skew = int(rng.choice([0, 1, 1, 1, 2]))
        yield Workload(
            f"app-{number}", replicas, cpu, zone_skew, int(rng.choice([0, 0, 1, 2])), budget
        )
        number += 1


def _homes(
    rng: np.random.Generator, load: Workload, zones: np.ndarray, free: np.ndarray, drift: Drift
) -> Iterator[int]:
    """Nodes with room: evenly over the zones that are in use, or anywhere."""
    counts: Counter[int] = Counter()
    per_zone: Counter[int] = Counter()
    for _ in range(load.replicas):
        fits = free >= load.cpu
        if drift == "zone":
            fits &= zones != 2
        candidates = np.flatnonzero(fits).tolist()
        if not candidates:
            return
        noise = rng.random(len(zones))
        if drift == "random":
            node = min(candidates, key=lambda n: noise[n])
        else:
            node = min(candidates, key=lambda n: (per_zone[int(zones[n])], counts[n], noise[n]))
        free[node] -= load.cpu
        counts[node] += 1
        per_zone[int(zones[node])] += 1
        yield node


def _node(index: int, zone: int) -> Node:
    name = f"node-{index:02d}"
    amounts = {"cpu": f"{NODE_CPU}m", "memory": "16Gi", "pods": "110"}
    status = {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return Node(
        metadata=ObjectMeta(name=name, labels={HOSTNAME: name, ZONE: f"zone-{'abc'[zone]}"}),
        status=NodeStatus.model_validate(status),
    )


def _pods(load: Workload, homes: Sequence[int]) -> Iterator[Pod]:
    selector = LabelSelector(match_labels={"app": load.name})
    skews = ((ZONE, load.zone_skew), (HOSTNAME, load.host_skew))
    spec = PodSpec(
        containers=(
            Container(
                resources=ResourceRequirements.model_validate(
                    {"requests": {"cpu": f"{load.cpu}m", "memory": "64Mi"}}
                )
            ),
        ),
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
    owner = OwnerReference(kind="ReplicaSet", name=f"{load.name}-5f7c", controller=True)
    labels = {"app": load.name}
    for i, home in enumerate(homes):
        yield Pod(
            namespace="default",
            name=f"{load.name}-5f7c-{i:02d}",
            uid=f"{load.name}-{i}",
            spec=spec,
            labels=labels,
            owner=owner,
            node_name=f"node-{home:02d}",
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


def measure(number: int, seeds: int, limit: float) -> Case:
    """One cluster."""
    cluster, drift = random_cluster(number)
    profile = default_profile()
    begin = time.process_time()
    found = find_evictions(cluster, EvictOptions(seeds=seeds, time_limit=limit), profile)
    seconds = time.process_time() - begin
    pending = int(np.count_nonzero(found.after.node_of == PENDING))
    excess = total(found.remaining)
    theirs = [
        run_rounds(cluster, default_policy(SPREAD), (profile,), seed=seed)
        for seed in range(DESCHEDULER_SEEDS)
    ]
    best = min(theirs, key=lambda r: (r.violations_left, len(r.final.pending), r.evictions))
    left = (best.violations_left, len(best.final.pending))
    worse = ""
    if left < (excess, pending):
        worse = "excess"
    elif left == (excess, pending) and best.evictions < found.evictions:
        worse = "evictions"
    replanned = found.replanned is not None and found.replanned[0] == found.replanned[1]
    return Case(
        number=number,
        nodes=len(cluster.nodes),
        pods=len(cluster.pods),
        drift=drift,
        before=total(found.broken),
        evictions=found.evictions,
        waves=len(found.tried.waves),
        cordons=sum(len(wave.cordons) for wave in found.tried.waves),
        excess=excess,
        pending=pending,
        converges=found.tried.converges,
        replanned=replanned,
        seconds=round(seconds, 2),
        descheduler_evictions=best.evictions,
        descheduler_rounds=len(best.rounds),
        descheduler_excess=best.violations_left,
        descheduler_pending=len(best.final.pending),
        descheduler_loops=sum(r.loops for r in theirs),
        worse=worse,
    )


def quantiles(values: Sequence[float]) -> str:
    """Median, 90 %, and the largest."""
    found = np.quantile(np.array(values), [0.5, 0.9, 1.0]) if values else np.zeros(3)
    return " / ".join(f"{value:g}" for value in np.round(found, 2).tolist())


def summary(cases: Sequence[Case]) -> Iterator[str]:
    """The distribution, ours beside the descheduler's."""
    count = len(cases)
    yield f"{count} clusters; median / 90 % / most"
    yield f"excess before          {quantiles([c.before for c in cases])}"
    yield f"evictions, planner     {quantiles([c.evictions for c in cases])}"
    yield f"evictions, descheduler {quantiles([c.descheduler_evictions for c in cases])}"
    yield f"waves, planner         {quantiles([c.waves for c in cases])}"
    yield f"rounds, descheduler    {quantiles([c.descheduler_rounds for c in cases])}"
    yield f"excess, planner        {quantiles([c.excess for c in cases])}"
    yield f"excess, descheduler    {quantiles([c.descheduler_excess for c in cases])}"
    yield f"seconds, planner       {quantiles([c.seconds for c in cases])}"
    yield f"nothing left, planner: {sum(not c.excess for c in cases)}"
    yield f"nothing left, descheduler: {sum(not c.descheduler_excess for c in cases)}"
    yield f"loops, descheduler: {sum(c.descheduler_loops > 0 for c in cases)}"
    yield f"converges: {sum(c.converges for c in cases)} of {count}"
    yield f"else with a new plan after every wave: {sum(c.replanned for c in cases)}"
    yield f"with cordons: {sum(c.cordons > 0 for c in cases)}"
    yield f"worse than the descheduler: {sum(bool(c.worse) for c in cases)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """All cases, a line each, and their summary."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evict", description=__doc__)
    parser.add_argument("--clusters", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=10.0)
    chosen = parser.parse_args(arguments)
    cases: list[Case] = []
    for number in range(chosen.first, chosen.first + chosen.clusters):
        cases.append(measure(number, chosen.seeds, chosen.time_limit))
        print(json.dumps(asdict(cases[-1])), flush=True)
    for line in summary(cases):
        print(line)
    wrong = any(case.worse or not (case.converges or case.replanned) for case in cases)
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
