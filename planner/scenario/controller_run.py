"""Controllers make and delete pods, kube-scheduler places them, until nothing changes any more.

What is assumed: a pod that has a node becomes ready. Pods that run and are not ready in the
snapshot stay so. `minReadySeconds`, probes and progress deadlines take no part. The manner says
the rest: ties by its seed; `terminating` pods hold their room until nothing else happens any more;
`one_by_one` pods become ready only when controllers have nothing more to do, one after the other,
otherwise all at once after each of their looks. On a node that does not answer nothing starts, and
nothing that is told to go ever ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from planner.cluster import GONE, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.pod_making import PodMaking
from planner.replay.settling import Settling
from planner.replay.trial import Manner
from planner.replay.trial_state import TrialState
from planner.replay.verify import with_old_pods
from planner.scheduler.profile import Profile
from planner_models.node import Node

UNREACHABLE = "node.kubernetes.io/unreachable"


def manners(seeds: int) -> tuple[Manner, ...]:
    """One manner per seed: every other one by one, every other pair with terminating pods."""
    return tuple(
        Manner(seed, terminating=seed % 4 >= 2, one_by_one=seed % 2 == 1) for seed in range(seeds)
    )


class Controller(Protocol):
    """Looks at its pods once, and makes or deletes some."""

    def act(self, run: ControllerRun) -> bool:
        """Whether there was anything to do."""
        ...


class Stage:
    """A snapshot on which runs begin again and again; kube-scheduler's answers are kept.

    `pods` are those that controllers watch: pods that they may make are in the snapshot as GONE.
    """

    def __init__(self, cluster: Cluster, profile: Profile, pods: Iterable[int]) -> None:
        self.cluster = cluster
        self.pods = tuple(pods)
        self.twins = {pod: len(cluster.pods) + i for i, pod in enumerate(self.pods)}
        """Stand in for pods that are terminating."""
        self.state = TrialState(with_old_pods(cluster, list(self.pods)), profile)
        self.making = PodMaking(cluster)
        self.shared = (cluster.group_index, cluster.terminating)
        """Found here once; snapshots that are made of this one have them from it."""
        self.silent = silent_nodes(cluster)


def silent_nodes(cluster: Cluster) -> frozenset[int]:
    """Nodes on which nothing starts, and nothing ever ends."""
    return frozenset(i for i, node in enumerate(cluster.nodes) if _silent(node))


def _silent(node: Node) -> bool:
    """Whether its kubelet does not answer any more."""
    return any(taint.key == UNREACHABLE for taint in node.spec.taints) or any(
        each.type == "Ready" and each.status == "Unknown" for each in node.status.conditions
    )


class ControllerRun:
    """One run from the snapshot of a stage."""

    def __init__(
        self,
        stage: Stage,
        manner: Manner,
        cordoned: Iterable[int] = (),
        watched: Sequence[int] | None = None,
    ) -> None:
        """`watched` are the pods of this run's controllers; without them all of the stage are."""
        watched = stage.pods if watched is None else watched
        self._stage = stage
        self._manner = manner
        self._state = stage.state
        self._state.restore()
        self._state.cordon(cordoned)
        self._settling = Settling(self._state, stage.making, manner.seed)
        self._settling.wave = 0
        self.random = self._settling.random
        self._watched = frozenset(watched)
        pods, node_of = stage.cluster.pods, stage.cluster.node_of
        there = [pod for pod in watched if node_of[pod] >= 0]
        self._ready = {pod for pod in there if pods[pod].ready and not pods[pod].terminating}
        self._started: set[int] = set()
        """Pods that became ready in this run."""
        self._starting: dict[int, None] = {}
        self.touched: list[int] = []
        """Pods of which something may have changed, over and over; controllers read on from where
        they were."""
        self._leaving = {pod: pod for pod in there if pods[pod].terminating}
        """Terminating pods, with the twins that hold their room; those of the snapshot hold it."""
        self._seen = (0, 0)
        self._settle()

    # What controllers see

    def node(self, pod: int) -> int:
        """Where the pod is now, or PENDING, GONE."""
        return self._state.node(pod)

    def there(self, pods: Iterable[int]) -> list[int]:
        """Those that exist and are not leaving."""
        return [p for p in pods if self._state.node(p) != GONE and p not in self._leaving]

    def leaving(self, pods: Iterable[int]) -> int:
        """How many of them are told to go and not gone yet."""
        return sum(pod in self._leaving for pod in pods)

    def ready(self, pod: int) -> bool:
        """Whether the pod has a node and is ready."""
        return pod in self._ready

    @property
    def preempted(self) -> Sequence[int]:
        """Pods that others of higher priority drove off, in that order."""
        return [victim for _, victim in self._settling.driven]

    def started(self, pod: int) -> bool:
        """Whether it became ready in the course of this run, and not before."""
        return pod in self._started

    # What controllers do

    def make(self, pod: int) -> None:
        """A pod that is not there is created; it waits for a node."""
        self.touched.append(pod)
        self._settling.arrives(pod)

    def delete(self, pod: int) -> None:
        """A pod without a node is gone at once; one that has a node may be terminating first."""
        node = self._state.node(pod)
        self.touched.append(pod)
        self._ready.discard(pod)
        self._started.discard(pod)
        self._starting.pop(pod, None)
        self._settling.withdraw(pod)
        if node >= 0 and (self._manner.terminating or node in self._stage.silent):
            twin = self._stage.twins[pod]
            self._leaving[pod] = twin
            self._state.place(twin, node)

    def until_quiet(self, *controllers: Controller) -> None:
        """All act in turn, with time for kube-scheduler and kubelets in between."""
        while True:
            acted = [each.act(self) for each in controllers]
            self._settle()
            if any(acted) and self._manner.one_by_one:
                continue
            if not (self._some_become_ready() or any(acted) or self._some_are_gone()):
                return

    def _settle(self) -> None:
        """kube-scheduler acts; watched pods that landed start, those that were driven off wait."""
        self._settling.settle()
        landed, driven = self._seen
        self._seen = len(self._settling.landings), len(self._settling.driven)
        for _, pod in self._settling.driven[driven:]:
            self.touched.append(pod)
            self._ready.discard(pod)
            self._started.discard(pod)
            self._starting.pop(pod, None)
        for landing in self._settling.landings[landed:]:
            if landing.pod in self._watched and self._state.node(landing.pod) >= 0:
                self.touched.append(landing.pod)
                self._starting[landing.pod] = None

    def _some_become_ready(self) -> bool:
        """Pods that were placed start: one of them, or all."""
        pods = list(self._starting)
        if self._stage.silent:
            pods = [pod for pod in pods if self._answers(pod)]
        if pods and self._manner.one_by_one:
            at = 0 if self.random is None else self.random.randrange(len(pods))
            pods = [pods[at]]
        for pod in pods:
            del self._starting[pod]
        self.touched += pods
        self._ready.update(pods)
        self._started.update(pods)
        return bool(pods)

    def _some_are_gone(self) -> bool:
        """Pods that were told to go have ended, and kube-scheduler tries again."""
        gone = [pod for pod, twin in self._leaving.items() if self._answers(twin)]
        self.touched += gone
        for pod in gone:
            self._state.forget(self._leaving.pop(pod))
        if gone:
            self._settle()
        return bool(gone)

    def _answers(self, pod: int) -> bool:
        return self._state.node(pod) not in self._stage.silent

    # How it ends

    def message(self, pod: int) -> str:
        """kube-scheduler's word on a pod that waits."""
        return self._state.message(pod)

    def placed(self) -> Cluster:
        """Who is where now; whoever is told to go counts as gone. Less to make than `ended`."""
        cluster = self._stage.cluster
        node_of = self._state.node_of[: len(cluster.pods)]
        node_of[list(self._leaving)] = GONE
        moved = (node_of != cluster.node_of).nonzero()[0]
        return cluster.with_placement(
            dict(zip(moved.tolist(), node_of[moved].tolist(), strict=True))
        )

    def ended(self) -> Cluster:
        """The snapshot as it is now: who started is ready, who can't end is terminating."""
        cluster, change = self._stage.cluster, msgspec.structs.replace
        node_of: IntArray = self._state.node_of
        for pod, twin in self._leaving.items():
            node_of[pod] = node_of[twin]
        node_of = node_of[: len(cluster.pods)]
        moved = (node_of != cluster.node_of).nonzero()[0].tolist()
        pods = cluster.pods
        started = {p: change(pods[p], phase="Running", ready=True) for p in self._started}
        ending = {p: change(pods[p], terminating=True) for p in self._leaving}
        after = cluster.with_placement({pod: int(node_of[pod]) for pod in moved})
        return after.with_pods(started | ending)
