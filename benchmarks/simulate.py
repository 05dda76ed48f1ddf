"""How fast the scheduler decides: pods per second against nodes, running pods, workloads, rules.

All nodes are looked at. The method `from scratch` decides every pod with a scheduler that is made
anew for it, which is what the incremental state has to beat and has to equal. A sample of
planner's decisions is checked against such schedulers in every run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Measured, Stopwatch
from planner.cluster import Cluster, build_cluster
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import Attempt, simulate
from planner.sources.load import load_documents
from planner.sources.read import RawDocument

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
RUNNING_APPS = 500
SAMPLE = 20
"""Decisions that are made again from scratch."""


@dataclass(frozen=True)
class Scenario:
    """How many of what; replicas of a Deployment come one after the other, or take turns."""

    nodes: int
    deployments: int
    replicas: int
    running_per_node: int = 0
    rules: str = "spread"
    in_turns: bool = False


def node(index: int) -> Json:
    """One of three zones in turn, 32 CPU."""
    name = f"n{index:05}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: f"z{index % 3}"}},
        "status": {"allocatable": {"cpu": "32", "memory": "128Gi", "pods": "110"}},
    }


def spread(app: str) -> Json:
    """Hard spread over zones and hosts."""
    return {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": app}},
            }
            for key in (ZONE, HOSTNAME)
        ]
    }


def node_affinity(_: str) -> Json:
    """Two zones required, one of them preferred."""

    def term(*zones: str) -> Json:
        return {"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}

    required = {"nodeSelectorTerms": [term("z0", "z1")]}
    preferred = [{"weight": 10, "preference": term("z1")}]
    return {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": required,
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            }
        }
    }


def pod_affinity(app: str) -> Json:
    """No host twice, and rather not the same zone."""
    selector = {"matchLabels": {"app": app}}
    return {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": selector, "topologyKey": HOSTNAME}
                ],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 50,
                        "podAffinityTerm": {"labelSelector": selector, "topologyKey": ZONE},
                    }
                ],
            }
        }
    }


def mixed(app: str) -> Json:
    """All of them."""
    affinity = node_affinity(app)["affinity"] | pod_affinity(app)["affinity"]
    return spread(app) | {"affinity": affinity}


RULES = {
    "none": lambda _: {},
    "spread": spread,
    "node affinity": node_affinity,
    "pod affinity": pod_affinity,
    "all": mixed,
}


def pod(name: str, app: str, cpu: int, memory: int, rules: Json, node_name: str = "") -> Json:
    """A replica of an app with its rules."""
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    spec: Json = {
        "containers": [{"name": "main", "image": app, "resources": {"requests": requests}}],
        **rules,
    }
    if node_name:
        spec["nodeName"] = node_name
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "uid": name,
            "labels": {"app": app},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": spec,
        "status": {"phase": "Running" if node_name else "Pending"},
    }


def objects(scenario: Scenario, seed: int) -> Iterator[Json]:
    """Nodes, running pods, pending pods; the seed shifts who asks for how much."""
    rules = RULES[scenario.rules]
    for index in range(scenario.nodes):
        yield node(index)
    for index in range(scenario.running_per_node * scenario.nodes):
        app = f"old-{index % RUNNING_APPS}"
        where = f"n{index % scenario.nodes:05}"
        cpu = 100 + (index + seed) % RUNNING_APPS % 7 * 10
        yield pod(f"running-{index}", app, cpu, 128, rules(app), where)
    pairs = [(d, r) for d in range(scenario.deployments) for r in range(scenario.replicas)]
    if scenario.in_turns:
        pairs.sort(key=lambda pair: pair[1])
    for number, replica in pairs:
        app = f"new-{number}"
        cpu, memory = 100 + (number + seed) % 50 * 5, 128 + (number + seed) % 20 * 16
        yield pod(f"{app}-{replica}", app, cpu, memory, rules(app))


def build(scenario: Scenario, seed: int = 0) -> Cluster:
    """The cluster of a scenario."""
    items = list(objects(scenario, seed))
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return build_cluster(load_documents([RawDocument(file="", data=text.encode(), line=1)]))


class Checks:
    """Decides a sample of the pods again, from scratch, on the cluster as it was then."""

    def __init__(self, cluster: Cluster, every: int) -> None:
        self._cluster = cluster
        self._every = every
        self._placed: dict[int, int] = {}
        self._seen = 0
        self.made = 0
        self.different: list[str] = []

    def look(self, attempt: Attempt) -> None:
        """An observer of the simulation."""
        result = attempt.result
        if self._seen % self._every == 0:
            self._check(attempt)
        self._seen += 1
        if result.node is not None:
            self._placed[result.pod] = result.node

    def _check(self, attempt: Attempt) -> None:
        snapshot = self._cluster.with_placement(self._placed)
        fresh = Scheduler(SchedulingState(snapshot), default_profile())
        again = fresh.evaluate(attempt.result.pod)
        seen = attempt.evaluation
        self.made += 1
        same = (
            again.feasible.tolist() == seen.feasible.tolist()
            and again.scores.totals.tolist() == seen.scores.totals.tolist()
            and again.best.tolist() == seen.best.tolist()
        )
        if not same:
            self.different.append(self._cluster.pods[attempt.result.pod].key)


def measure(case: Case, _cache: Path) -> Measured:
    """Decide all pending pods: incrementally, or each from scratch."""
    scenario = Scenario(
        case.integer("nodes"),
        case.integer("deployments"),
        case.integer("replicas"),
        case.integer("running"),
        case.text("rules"),
    )
    cluster = build(scenario, case.seed)
    return _from_scratch(cluster) if case.method == "from scratch" else _incrementally(cluster)


def _incrementally(cluster: Cluster) -> Measured:
    with Stopwatch() as watch:
        run = simulate(cluster)
    checks = Checks(cluster, every=max(1, len(cluster.pending) // SAMPLE))
    simulate(cluster, observe=checks.look)
    wrong = tuple(f"{key} is decided differently from scratch" for key in checks.different)
    scheduled = sum(result.outcome == "scheduled" for result in run.results)
    return _measured(watch, len(run.results), scheduled, wrong)


def _from_scratch(cluster: Cluster) -> Measured:
    """Ties go to the first node, which is as good as any for the time that it takes."""
    placed: dict[int, int] = {}
    with Stopwatch() as watch:
        for index in cluster.pending.tolist():
            snapshot = cluster.with_placement(placed)
            found = Scheduler(SchedulingState(snapshot), default_profile()).evaluate(index)
            if len(found.best):
                placed[index] = int(found.best[0])
    return _measured(watch, len(cluster.pending), len(placed), ())


def _measured(watch: Stopwatch, pods: int, scheduled: int, wrong: tuple[str, ...]) -> Measured:
    values = {
        "pods": pods,
        "scheduled": scheduled,
        "pods_per_second": pods / watch.seconds,
        "ms_per_pod": 1000 * watch.cpu / pods,
    }
    return Measured(watch.seconds, watch.cpu, values, wrong)
