"""Eviction plans against the descheduler's, on random clusters that have drifted.

Clusters of 5 to 50 nodes in three zones, hard spread over zones and hosts, budgets on some
workloads, tight or loose capacity. Three drifts: a zone came back empty; scale-downs left counts
uneven; pods are anywhere. A case is a batch of clusters; the same number gives the same cluster.
Wrong is a plan that does not converge, and one that is worse than the best of the descheduler's
runs: it leaves more, or evicts more for the same end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.case import Case, Measured, Stopwatch
from planner.cluster import PENDING, Cluster, build_cluster
from planner.descheduler.baselines import SPREAD, default_policy
from planner.descheduler.rounds import run_rounds
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions
from planner.replay import total
from planner.scheduler.profile import default_profile
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import HOSTNAME, ZONE, Node, NodeStatus
from planner_models.pod import Container, Pod, PodSpec
from planner_models.policy import PodDisruptionBudget
from planner_models.resources import ResourceRequirements
from planner_models.selectors import LabelSelector
from planner_models.topology_spread import TopologySpreadConstraint

Drift = Literal["zone", "scale", "random"]
DRIFTS: tuple[Drift, ...] = ("zone", "scale", "random")
NODE_CPU = 4000
DESCHEDULER_SEEDS = 3


@dataclass(frozen=True)
class Outcome:
    """What became of one cluster; the descheduler's is that of its best seed."""

    evictions: int
    rounds: int
    excess: int
    pending: int
    loops: int = 0
    cordons: int = 0
    converges: bool = True

    @property
    def left(self) -> tuple[int, int]:
        """What is still wrong; less is better."""
        return self.excess, self.pending


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


def by_planner(cluster: Cluster, seeds: int, limit: float) -> Outcome:
    """Our plan; one that is only sure with a new plan after every wave counts as sure."""
    found = find_evictions(cluster, EvictOptions(seeds=seeds, time_limit=limit), default_profile())
    again = found.replanned is not None and found.replanned[0] == found.replanned[1]
    return Outcome(
        evictions=found.evictions,
        rounds=len(found.tried.waves),
        excess=total(found.remaining),
        pending=int(np.count_nonzero(found.after.node_of == PENDING)),
        cordons=sum(len(wave.cordons) for wave in found.tried.waves),
        converges=found.tried.converges or again,
    )


def by_descheduler(cluster: Cluster) -> Outcome:
    """The topology spread strategy, round after round; ties go as the best of some seeds has it."""
    runs = [
        run_rounds(cluster, default_policy(SPREAD), (default_profile(),), seed=seed)
        for seed in range(DESCHEDULER_SEEDS)
    ]
    best = min(runs, key=lambda r: (r.violations_left, len(r.final.pending), r.evictions))
    return Outcome(
        evictions=best.evictions,
        rounds=len(best.rounds),
        excess=best.violations_left,
        pending=len(best.final.pending),
        loops=sum(run.loops for run in runs),
    )


def measure(case: Case, _cache: Path) -> Measured:
    """A batch of clusters of one drift."""
    size, drift = case.integer("clusters"), DRIFTS.index(_drift(case))
    first = case.seed * size
    clusters = [random_cluster(3 * (first + i) + drift)[0] for i in range(size)]
    ours = case.method == "planner"
    with Stopwatch() as watch:
        found = [
            by_planner(cluster, case.integer("seeds"), case.number("limit"))
            if ours
            else by_descheduler(cluster)
            for cluster in clusters
        ]
    wrong = list(_wrong(clusters, found, 3 * first + drift)) if ours else []
    return Measured(watch.seconds, watch.cpu, _values(found), tuple(wrong))


def _drift(case: Case) -> Drift:
    return next(drift for drift in DRIFTS if drift == case.text("drift"))


def _wrong(clusters: Sequence[Cluster], found: Sequence[Outcome], first: int) -> Iterator[str]:
    for i, (cluster, ours) in enumerate(zip(clusters, found, strict=True)):
        number, theirs = first + 3 * i, by_descheduler(cluster)
        if not ours.converges:
            yield f"cluster {number} does not converge"
        if theirs.left < ours.left:
            yield f"cluster {number}: {ours.left} is left, the descheduler leaves {theirs.left}"
        elif theirs.left == ours.left and theirs.evictions < ours.evictions:
            yield f"cluster {number}: {ours.evictions} evictions, descheduler {theirs.evictions}"


def _values(found: Sequence[Outcome]) -> dict[str, int | float]:
    return {
        "evictions": sum(each.evictions for each in found),
        "most_rounds": max(each.rounds for each in found),
        "rounds": sum(each.rounds for each in found) / len(found),
        "excess": sum(each.excess for each in found),
        "pending": sum(each.pending for each in found),
        "unrepaired": sum(each.left != (0, 0) for each in found),
        "loops": sum(each.loops > 0 for each in found),
        "cordons": sum(each.cordons for each in found),
    }
