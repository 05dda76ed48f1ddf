"""How fast the scheduler decides, and how that grows: `python -m benchmarks.simulate`.

Two scenarios, all nodes looked at, every pod with hard zone and hostname spread:

* replicas: 4 Deployments of 500 replicas each in an empty cluster of 3 zones;
* variety: 500 different Deployments of 4 replicas each beside 10 running pods per node.

Each is run at several sizes. `pods/s` is by the wall clock, `/cpu-s` by processor time, which
other work on the machine stretches less; `x` is the processor time per pod against the row above.
Every run is checked: a sample of the decisions is made again by a scheduler that starts from
scratch at that very moment.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from planner.cluster import Cluster, build_cluster
from planner.scheduler.cycle import Scheduler
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import Attempt, simulate
from planner.scheduler.state import SchedulingState
from planner.sources.load import load_documents
from planner.sources.read import RawDocument

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
RUNNING_APPS = 500


@dataclass(frozen=True)
class Scenario:
    """How many of what; replicas of a Deployment come one after the other, or take turns."""

    name: str
    nodes: int
    deployments: int
    replicas: int
    running_per_node: int = 0
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


def pod(name: str, app: str, cpu: int, memory: int, node_name: str = "") -> Json:
    """A replica with hard zone and hostname spread over its own app."""
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
        }
        for key in (ZONE, HOSTNAME)
    ]
    spec: Json = {
        "containers": [{"name": "main", "image": app, "resources": {"requests": requests}}],
        "topologySpreadConstraints": spread,
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


def objects(scenario: Scenario) -> Iterator[Json]:
    """Nodes, running pods, pending pods."""
    for index in range(scenario.nodes):
        yield node(index)
    for index in range(scenario.running_per_node * scenario.nodes):
        app = index % RUNNING_APPS
        where = f"n{index % scenario.nodes:05}"
        yield pod(f"running-{index}", f"old-{app}", 100 + app % 7 * 10, 128, where)
    pairs = [(d, r) for d in range(scenario.deployments) for r in range(scenario.replicas)]
    if scenario.in_turns:
        pairs.sort(key=lambda pair: pair[1])
    for app, replica in pairs:
        yield pod(f"new-{app}-{replica}", f"new-{app}", 100 + app % 50 * 5, 128 + app % 20 * 16)


def build(scenario: Scenario) -> Cluster:
    """The cluster of a scenario."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects(scenario))})
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


@dataclass(frozen=True)
class Measured:
    """One run: the best of the repetitions, and what checking it found."""

    pods: int
    scheduled: int
    seconds: float
    cpu_seconds: float
    checked: int
    different: tuple[str, ...]


def measure(scenario: Scenario, repetitions: int) -> Measured:
    """Run the scenario, the first time to check decisions and then to take the time."""
    cluster = build(scenario)
    checks = Checks(cluster, every=max(1, len(cluster.pending) // 20))
    run = simulate(cluster, observe=checks.look)
    times = []
    for _ in range(repetitions):
        start, cpu_start = time.perf_counter(), time.process_time()
        simulate(cluster)
        times.append((time.perf_counter() - start, time.process_time() - cpu_start))
    seconds, cpu_seconds = min(times)
    scheduled = sum(result.outcome == "scheduled" for result in run.results)
    return Measured(
        len(run.results), scheduled, seconds, cpu_seconds, checks.made, tuple(checks.different)
    )


def show(scenario: Scenario, measured: Measured, before: float | None) -> float:
    """One row; returns the processor time per pod in milliseconds."""
    each = 1000 * measured.cpu_seconds / max(1, measured.pods)
    growth = "" if before is None else f"{each / before:5.2f}"
    wrong = f"  DIFFERENT: {', '.join(measured.different[:3])}" if measured.different else ""
    print(
        f"{scenario.name:<10} {scenario.nodes:>6} {scenario.running_per_node:>8} "
        f"{measured.scheduled:>6}/{measured.pods:<6} {measured.seconds:>7.2f} "
        f"{measured.pods / measured.seconds:>8.0f} {1000 / each:>8.0f} {growth:>5}  "
        f"{measured.checked - len(measured.different)}/{measured.checked}{wrong}",
        flush=True,
    )
    return each


def series(sizes: Sequence[int]) -> list[list[Scenario]]:
    """What is compared row by row."""
    largest = max(sizes)
    return [
        [Scenario("replicas", n, 4, 500) for n in sizes],
        [Scenario("variety", n, 500, 4, 10) for n in sizes],
        [Scenario("in turns", largest, 500, 4, 10, in_turns=True)],
        [Scenario("variety", largest, 500, 4, running) for running in (0, 10, 20)],
    ]


def main() -> int:
    """Run all series; exit code 1 if a decision differs from the one made from scratch."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[500, 1000, 2000, 5000])
    parser.add_argument("--repeat", type=int, default=2, metavar="N")
    arguments = parser.parse_args()
    print("scenario    nodes  running  placed/pods   seconds   pods/s   /cpu-s     x  checked")
    different = 0
    for rows in series(arguments.nodes):
        before: float | None = None
        for scenario in rows:
            measured = measure(scenario, arguments.repeat)
            different += len(measured.different)
            before = show(scenario, measured, before)
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
