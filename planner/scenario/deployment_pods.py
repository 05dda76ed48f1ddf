"""The pods of a Deployment in the course of a run, ReplicaSet by ReplicaSet.

A rollout of thousands of pods takes thousands of looks, and each changes a few of them: so numbers
and ranks are kept current by what the run has touched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from planner.cluster import GONE, Cluster
from planner.scenario.controller_run import ControllerRun
from planner.scenario.replica_set import Candidate, Ranking, as_stored


class Ages:
    """What a ReplicaSet compares of its pods: as the snapshot has them, or as the run has."""

    def __init__(self, cluster: Cluster, pods: Sequence[int], now: int) -> None:
        self.now = now
        self._stored = {pod: as_stored(pod, cluster.pods[pod]) for pod in pods}

    def candidate(self, run: ControllerRun, pod: int, together: int) -> Candidate:
        """The pod now; those of this run are as young as can be."""
        assigned, ready = run.node(pod) >= 0, run.ready(pod)
        stored = self._stored.get(pod)
        if stored is not None and not run.started(pod):
            return replace(stored, assigned=assigned, ready=ready, together=together)
        return Candidate(
            pod=pod,
            uid=str(pod),
            assigned=assigned,
            phase="Running" if ready else "Pending",
            ready=ready,
            cost=0 if stored is None else stored.cost,
            together=together,
            ready_since=self.now,
            created=self.now,
        )


class DeploymentPods:
    """Numbers by ReplicaSet: pods that are there, available, leaving; and those to be made."""

    def __init__(self, sets: Mapping[str, Sequence[int]], ages: Ages, run: ControllerRun) -> None:
        self._ages = ages
        self._name_of = {pod: name for name, pods in sets.items() for pod in pods}
        self.there: Counter[str] = Counter()
        self.available: Counter[str] = Counter()
        self.leaving: Counter[str] = Counter()
        self.free: dict[str, dict[int, None]] = {name: {} for name in sets}
        """Pods that may be made, in their order."""
        self.rankings = {name: Ranking(ages.now) for name in sets}
        self._known: dict[int, tuple[int, bool]] = {}
        """Where each pod is that is there, and whether it is available."""
        self._leaving: set[int] = set()
        self._on: dict[int, dict[int, None]] = defaultdict(dict)
        self._read = len(run.touched)
        self._take(run, self._name_of)

    def catch_up(self, run: ControllerRun) -> None:
        """Read on in what the run has touched."""
        touched = dict.fromkeys(run.touched[self._read :])
        self._read = len(run.touched)
        self._take(run, [pod for pod in touched if pod in self._name_of])

    def _take(self, run: ControllerRun, pods: Iterable[int]) -> None:
        nodes: dict[int, None] = {}
        for pod in pods:
            self._forget(pod, nodes)
            self._note(run, pod, nodes)
        for node in nodes:
            others = self._on[node]
            for pod in others:
                candidate = self._ages.candidate(run, pod, len(others) if node >= 0 else 0)
                self.rankings[self._name_of[pod]].put(candidate)

    def _forget(self, pod: int, nodes: dict[int, None]) -> None:
        name = self._name_of[pod]
        self.free[name].pop(pod, None)
        if pod in self._leaving:
            self._leaving.remove(pod)
            self.leaving[name] -= 1
        if pod in self._known:
            node, available = self._known.pop(pod)
            self.there[name] -= 1
            self.available[name] -= available
            del self._on[node][pod]
            self.rankings[name].drop(pod)
            if node >= 0:
                nodes[node] = None

    def _note(self, run: ControllerRun, pod: int, nodes: dict[int, None]) -> None:
        name, node = self._name_of[pod], run.node(pod)
        if run.leaving((pod,)):
            self._leaving.add(pod)
            self.leaving[name] += 1
        elif node == GONE:
            self.free[name][pod] = None
        else:
            available = run.ready(pod)
            self._known[pod] = (node, available)
            self.there[name] += 1
            self.available[name] += available
            self._on[node][pod] = None
            if node >= 0:
                nodes[node] = None
            else:
                self.rankings[name].put(self._ages.candidate(run, pod, 0))
