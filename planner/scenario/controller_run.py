"""Controllers make and delete pods, kube-scheduler places them, until nothing changes any more.

What is assumed: a pod that has a node becomes ready. Pods that run and are not ready in the
snapshot stay so. `minReadySeconds`, probes and progress deadlines take no part. The manner says
the rest: ties by its seed; `terminating` pods hold their room until kube-scheduler has tried to
place the new ones without it; `one_by_one` pods become ready only when controllers have nothing
more to do, one after the other, otherwise all at once after each of their looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.pod_making import PodMaking
from planner.replay.settling import Settling
from planner.replay.trial import Manner
from planner.replay.trial_state import TrialState
from planner.replay.verify import with_old_pods
from planner.scheduler.profile import Profile


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


class ControllerRun:
    """One run from the snapshot of a stage."""

    def __init__(self, stage: Stage, manner: Manner, cordoned: Iterable[int] = ()) -> None:
        self._stage = stage
        self._manner = manner
        self._state = stage.state
        self._state.restore()
        self._state.cordon(cordoned)
        self._settling = Settling(self._state, stage.making, manner.seed)
        self._settling.wave = 0
        self.random = self._settling.random
        self._watched = frozenset(stage.pods)
        pods, node_of = stage.cluster.pods, stage.cluster.node_of
        self._ready = {p for p in stage.pods if node_of[p] >= 0 and pods[p].ready}
        self._started: set[int] = set()
        """Pods that became ready in this run."""
        self._starting: list[int] = []
        self._leaving: dict[int, int] = {}
        """Terminating pods, with the twins that hold their room."""
        self._seen = (0, 0)
        self._settle()

    # What controllers see

    def node(self, pod: int) -> int:
        """Where the pod is now, or PENDING, GONE."""
        return self._state.now(pod)

    def there(self, pods: Iterable[int]) -> list[int]:
        """Those that exist and are not leaving."""
        return [pod for pod in pods if self._state.now(pod) != GONE]

    def leaving(self, pods: Iterable[int]) -> int:
        """How many of them are told to go and not gone yet."""
        return sum(pod in self._leaving for pod in pods)

    def ready(self, pod: int) -> bool:
        """Whether the pod has a node and is ready."""
        return pod in self._ready

    def started(self, pod: int) -> bool:
        """Whether it became ready in the course of this run, and not before."""
        return pod in self._started

    # What controllers do

    def make(self, pod: int) -> None:
        """A pod that is not there is created; it waits for a node."""
        self._settling.arrives(pod)

    def delete(self, pod: int) -> None:
        """A pod without a node is gone at once; one that has a node may be terminating first."""
        node = self._state.now(pod)
        self._ready.discard(pod)
        self._started.discard(pod)
        if pod in self._starting:
            self._starting.remove(pod)
        self._settling.withdraw(pod)
        if node >= 0 and self._manner.terminating:
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
            if not self._time_passes() and not any(acted):
                return

    def _settle(self) -> None:
        """kube-scheduler acts; watched pods that landed start, those that were driven off wait."""
        self._settling.settle()
        landed, driven = self._seen
        self._seen = len(self._settling.landings), len(self._settling.preempted)
        for pod in self._settling.preempted[driven:]:
            self._ready.discard(pod)
            self._started.discard(pod)
        for landing in self._settling.landings[landed:]:
            if landing.pod in self._watched:
                self._starting.append(landing.pod)
        self._starting = [p for p in self._starting if self._state.now(p) >= 0]

    def _time_passes(self) -> bool:
        """What is leaving is gone, what was placed becomes ready; whether there was any of it."""
        changed = bool(self._leaving or self._starting)
        for twin in self._leaving.values():
            self._state.forget(twin)
        if self._leaving:
            self._leaving.clear()
            self._settle()
        if self._starting and self._manner.one_by_one:
            at = 0 if self.random is None else self.random.randrange(len(self._starting))
            self._become_ready([self._starting.pop(at)])
        else:
            self._become_ready(self._starting)
            self._starting = []
        return changed

    def _become_ready(self, pods: Iterable[int]) -> None:
        pods = set(pods)
        self._ready |= pods
        self._started |= pods

    # How it ends

    def message(self, pod: int) -> str:
        """kube-scheduler's word on a pod that waits."""
        return self._state.message(pod)

    def ended(self) -> Cluster:
        """The snapshot as it is now; watched pods that started are ready in it."""
        cluster = self._stage.cluster
        node_of: IntArray = self._state.node_of[: len(cluster.pods)]
        changed = (node_of != cluster.node_of).nonzero()[0].tolist()
        after = cluster.with_placement({pod: int(node_of[pod]) for pod in changed})
        return after.with_pods(
            {
                pod: msgspec.structs.replace(cluster.pods[pod], phase="Running", ready=True)
                for pod in self._started
                if node_of[pod] > PENDING
            }
        )
