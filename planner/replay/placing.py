"""kube-scheduler places one pod: on any of its best nodes, or where others give way to it.

Whoever decides which pod comes next builds on this: ties are drawn by a seed, and a pod of lower
priority that is driven off is made anew if its controller does so.
"""

from __future__ import annotations

import random
from abc import abstractmethod

from planner.cluster.topology import IntArray
from planner.disruption.pod_making import PodMaking
from planner.replay.trial_state import TrialState
from planner_models.pod import DEFAULT_SCHEDULER


class Placing:
    """Seed 0 takes the first of tied nodes by name."""

    def __init__(
        self, state: TrialState, making: PodMaking, seed: int, *, preempt: bool = True
    ) -> None:
        self.state = state
        self.random = random.Random(seed) if seed else None
        self.making = making
        self._preempt = preempt

    def schedulable(self, index: int) -> bool:
        """Whether kube-scheduler would place the pod at all."""
        pod = self.state.cluster.pods[index]
        gated = pod.terminating or pod.spec.scheduling_gates
        return not gated and pod.spec.scheduler_name == DEFAULT_SCHEDULER

    def place(self, pod: int) -> bool:
        """Whether the pod found a node, by itself or because others gave way."""
        best = self.state.best(pod)
        if not len(best):
            return self._preempt and self._preempts(pod)
        node = int(best[0] if self.random is None else self.random.choice(best))
        self.state.place(pod, node)
        self.landed(pod, node, best)
        return True

    def _preempts(self, pod: int) -> bool:
        """Pods of lower priority go, and this one takes the node that was promised to it."""
        found = self.state.preemption(pod, self.random)
        if found is None or found.nominated is None:
            return False
        for victim in found.victims:
            if self.state.cluster.terminating[victim]:
                self.state.forget(victim)
            else:
                self.state.evict(victim, None)
                self.driven_off(victim, pod, again=self.making.again(victim))
        self.state.place(pod, found.nominated)
        self.landed(pod, found.nominated, None)
        return True

    @abstractmethod
    def landed(self, pod: int, node: int, best: IntArray | None) -> None:
        """The pod has found a node, one of the `best`, or one that others left for it."""

    @abstractmethod
    def driven_off(self, victim: int, preemptor: int, *, again: bool) -> None:
        """A pod has lost its node to another; `again`: its controller makes it anew."""
