"""States of their own to try steps on: pods leave and land, the subject's state stays as it is."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.disruption.movability import Movability, MovePolicy
from planner.explain.situation.subject import Subject, subject_over
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.volumes.state import VolumeState


def trial_state(subject: Subject, pods: Iterable[int] = ()) -> tuple[SchedulingState, Scheduler]:
    """A copy of what steps change; everything else is shared.

    `pods` are those that will be placed beside the subject: only pods with claims change anything
    about volumes, and counting those anew takes long in a large cluster.
    """
    state = copy.copy(subject.state)
    state.node_of = state.node_of.copy()
    state.used = state.used.copy()
    state.non_zero_used = state.non_zero_used.copy()
    state.terminating = state.terminating.copy()
    state.begin_log()
    state.placed_at = {}
    if any(state.volumes.of(state.group(pod)) is not None for pod in (subject.pod, *pods)):
        state.volumes = VolumeState(subject.state.snapshot())
    return state, Scheduler(state, subject.profile)


def feasible_nodes(scheduler: Scheduler, pod: int) -> list[int]:
    """The nodes that take the pod now."""
    found: list[int] = np.asarray(scheduler.evaluate(pod).feasible).tolist()
    return found


@dataclass(frozen=True, eq=False)
class Turn:
    """What kube-scheduler places one after the other, and who found no node.

    `state` is how things are then.
    """

    placed: Mapping[int, int]
    left: tuple[int, ...]
    state: SchedulingState

    def subject(self, before: Subject) -> Subject:
        """The first pod that is left over, before the cluster as it is then."""
        self.state.cluster = before.cluster.with_placement(self.placed)
        self.state.begin_log()
        movable = {policy: self._with_placed(p, policy) for policy, p in before.movable.items()}
        return subject_over(self.state, before.profile, self.left[0], movable)

    def _with_placed(self, before: BoolArray, policy: MovePolicy) -> BoolArray:
        """Who may be evicted, those that were just placed included."""
        movable, movability = before.copy(), Movability(self.state.cluster, policy)
        for pod in self.placed:
            movable[pod] = movability.why(pod) is None
        return movable


def place_in_turn(subject: Subject, pods: Sequence[int]) -> Turn:
    """By priority, then in the order given; ties go to the first node by name."""
    state, scheduler = trial_state(subject, pods)
    placed: dict[int, int] = {}
    left: list[int] = []
    for pod in sorted(pods, key=lambda pod: -subject.cluster.pods[pod].priority):
        best = scheduler.evaluate(pod).best
        if len(best):
            placed[pod] = int(best[0])
            state.place(pod, placed[pod])
        else:
            left.append(pod)
    return Turn(placed, tuple(left), state)
